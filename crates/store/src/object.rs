//! The contract between a vault and whatever keeps its objects.

use crate::error::StoreError;

/// A BLAKE3 hash.
pub type Hash = [u8; 32];

/// What an object is. The numbers are part of the storage format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ObjectKind {
    /// Where the bytes of a file are, or the bytes themselves.
    Blob = 1,
    /// A directory node.
    Node = 2,
    /// A root.
    Root = 3,
    /// Where a part of a long file is.
    Chunk = 4,
}

impl ObjectKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Blob, Self::Node, Self::Root, Self::Chunk];
}

/// One value to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The kind of object.
    pub kind: ObjectKind,
    /// Its id.
    pub id: Hash,
    /// Its value.
    pub value: Vec<u8>,
}

/// An object of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// Its id.
    pub id: Hash,
    /// How long its value is.
    pub length: u64,
    /// The start of its value, as far as it was asked for.
    pub start: Vec<u8>,
}

/// Keeps objects: values under (kind, id).
///
/// A backend does not verify hashes and does not know what a value means; the vault does. The suite in
/// [`crate::conformance`] says in code what is promised here in words.
pub trait ObjectBackend: Send + Sync {
    /// The value, or `None` where there is none.
    fn get(&self, kind: ObjectKind, id: &Hash) -> Result<Option<Vec<u8>>, StoreError>;

    /// Whether there is a value.
    fn contains(&self, kind: ObjectKind, id: &Hash) -> Result<bool, StoreError>;

    /// Stores all of the batch or, on error, none of it. A value that is already there is kept as it is.
    /// Readers of this and other processes see the batch when this returns.
    fn put(&self, batch: &[Put]) -> Result<(), StoreError>;

    /// Stores values in place of those that are there, all of them or, on error, none; for values that say where bytes are.
    fn replace(&self, batch: &[Put]) -> Result<(), StoreError>;

    /// Removes all of the batch or, on error, none of it. Ids that are not there are passed over.
    fn remove(&self, kind: ObjectKind, ids: &[Hash]) -> Result<(), StoreError>;

    /// Up to `limit` ids of a kind, in ascending order, that come after `after`.
    fn list(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<Hash>, StoreError>;

    /// Up to `limit` objects of a kind, in ascending order of ids, that come after `after`, with up to `start` bytes of each.
    fn list_values(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
        start: usize,
    ) -> Result<Vec<ListedObject>, StoreError>;

    /// After this, no later commit of the catalog can be durable before the values put until now are.
    fn flush(&self) -> Result<(), StoreError>;
}
