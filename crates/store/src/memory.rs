//! A backend in memory: the plainest thing that keeps the contract, for tests and as an example.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;
use crate::object::{Hash, ListedObject, ObjectBackend, ObjectKind, Put};

type Objects = BTreeMap<(ObjectKind, Hash), Vec<u8>>;

/// Keeps objects in a map; they are gone with it.
#[derive(Debug, Default)]
pub struct MemoryBackend {
    objects: Mutex<Objects>,
}

impl MemoryBackend {
    fn objects(&self) -> MutexGuard<'_, Objects> {
        // Every change of the map is a single call, so a panicking holder cannot leave it half changed.
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectBackend for MemoryBackend {
    fn get(&self, kind: ObjectKind, id: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.objects().get(&(kind, *id)).cloned())
    }

    fn contains(&self, kind: ObjectKind, id: &Hash) -> Result<bool, StoreError> {
        Ok(self.objects().contains_key(&(kind, *id)))
    }

    fn put(&self, batch: &[Put]) -> Result<(), StoreError> {
        let mut objects = self.objects();
        for put in batch {
            objects.entry((put.kind, put.id)).or_insert_with(|| put.value.clone());
        }
        Ok(())
    }

    fn replace(&self, batch: &[Put]) -> Result<(), StoreError> {
        let mut objects = self.objects();
        objects.extend(batch.iter().map(|put| ((put.kind, put.id), put.value.clone())));
        Ok(())
    }

    fn remove(&self, kind: ObjectKind, ids: &[Hash]) -> Result<(), StoreError> {
        let mut objects = self.objects();
        for id in ids {
            objects.remove(&(kind, *id));
        }
        Ok(())
    }

    fn list(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<Hash>, StoreError> {
        let objects = self.objects();
        let of_kind = objects.keys().filter(|(k, _)| *k == kind).map(|(_, id)| *id);
        Ok(of_kind.filter(|id| after.is_none_or(|after| id > after)).take(limit).collect())
    }

    fn list_values(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
        start: usize,
    ) -> Result<Vec<ListedObject>, StoreError> {
        let objects = self.objects();
        let of_kind = objects.iter().filter(|((k, _), _)| *k == kind);
        let later = of_kind.filter(|((_, id), _)| after.is_none_or(|after| id > after));
        let listed = later.take(limit).map(|((_, id), value)| {
            let start = value[..value.len().min(start)].to_vec();
            ListedObject { id: *id, length: value.len() as u64, start }
        });
        Ok(listed.collect())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
