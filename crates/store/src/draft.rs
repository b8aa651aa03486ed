//! Objects that are not stored, above those that are.

use crate::error::StoreError;
use crate::memory::MemoryBackend;
use crate::object::{Hash, ListedObject, ObjectBackend, ObjectKind, Put};

/// Reads what another backend holds and keeps everything new to itself, in memory: to look at what may never be stored.
#[derive(Debug)]
pub struct DraftBackend<B> {
    above: MemoryBackend,
    below: B,
}

impl<B: ObjectBackend> DraftBackend<B> {
    /// Starts with nothing of its own.
    pub fn new(below: B) -> Self {
        Self { above: MemoryBackend::default(), below }
    }
}

impl<B: ObjectBackend> ObjectBackend for DraftBackend<B> {
    fn get(&self, kind: ObjectKind, id: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        match self.above.get(kind, id)? {
            None => self.below.get(kind, id),
            found => Ok(found),
        }
    }

    fn contains(&self, kind: ObjectKind, id: &Hash) -> Result<bool, StoreError> {
        Ok(self.above.contains(kind, id)? || self.below.contains(kind, id)?)
    }

    fn put(&self, batch: &[Put]) -> Result<(), StoreError> {
        self.above.put(batch)
    }

    fn replace(&self, batch: &[Put]) -> Result<(), StoreError> {
        self.above.replace(batch)
    }

    /// Only what is its own can be removed.
    fn remove(&self, kind: ObjectKind, ids: &[Hash]) -> Result<(), StoreError> {
        self.above.remove(kind, ids)
    }

    fn list(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<Hash>, StoreError> {
        let mut ids = self.above.list(kind, after, limit)?;
        ids.extend(self.below.list(kind, after, limit)?);
        ids.sort_unstable();
        ids.dedup();
        ids.truncate(limit);
        Ok(ids)
    }

    fn list_values(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
        start: usize,
    ) -> Result<Vec<ListedObject>, StoreError> {
        let mut listed = self.above.list_values(kind, after, limit, start)?;
        listed.extend(self.below.list_values(kind, after, limit, start)?);
        // Stable, so that what is above comes first and stays.
        listed.sort_by_key(|object| object.id);
        listed.dedup_by_key(|object| object.id);
        listed.truncate(limit);
        Ok(listed)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_what_lies_below() {
        let put = |id: u8, value: &[u8]| Put {
            kind: ObjectKind::Node,
            id: [id; 32],
            value: value.to_vec(),
        };
        let below = MemoryBackend::default();
        below.put(&[put(1, b"stored")]).unwrap();
        let draft = DraftBackend::new(below);
        draft.put(&[put(2, b"new")]).unwrap();
        let get = |id: u8| draft.get(ObjectKind::Node, &[id; 32]).unwrap();
        assert_eq!(get(1).as_deref(), Some(&b"stored"[..]));
        assert_eq!(get(2).as_deref(), Some(&b"new"[..]));
        let ids = draft.list(ObjectKind::Node, None, 10).unwrap();
        assert_eq!(ids, [[1; 32], [2; 32]]);
        assert!(!draft.below.contains(ObjectKind::Node, &[2; 32]).unwrap());
    }
}
