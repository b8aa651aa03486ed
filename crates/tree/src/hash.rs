//! The hashes that name things.

use std::fmt;

use offshoot_store::Hash;

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Hash);

        impl $name {
            /// The hash as 64 hex digits.
            pub fn to_hex(&self) -> String {
                blake3::Hash::from_bytes(self.0).to_hex().to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.to_hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), &self.to_hex()[..12])
            }
        }
    };
}

hash_type! {
    /// The bytes of a file: plain BLAKE3.
    BlobId
}
hash_type! {
    /// A directory node with all its metadata.
    NodeId
}
hash_type! {
    /// Names, kinds, executable bits and bytes of a directory, and nothing else.
    ContentId
}
hash_type! {
    /// A whole tree with all its metadata: a state of files.
    RootId
}

impl BlobId {
    /// The id of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl NodeId {
    /// The id of an encoded node.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(blake3::derive_key("offshoot v1 tree node", encoded))
    }
}

impl ContentId {
    /// The id of a node's content encoding.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(blake3::derive_key("offshoot v1 tree content", encoded))
    }
}

impl RootId {
    /// The id of an encoded root.
    pub(crate) fn of(encoded: &[u8]) -> Self {
        Self(blake3::derive_key("offshoot v1 tree root", encoded))
    }
}
