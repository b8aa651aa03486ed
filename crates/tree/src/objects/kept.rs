//! Directory nodes and differences in memory, for whoever looks at the same trees again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_store::{ObjectKind, Put};

use crate::diff::change::Change;
use crate::hash::{NodeId, RootId};

/// How many bytes of nodes are kept.
const MOST: usize = 64 << 20;
/// How many changes are kept. Whoever gets a copy of them shares the entries, so one large difference is kept once.
const MOST_CHANGES: usize = 500_000;

/// Nodes whose hashes were verified, or that were just made. None are kept unless somebody asked for it.
#[derive(Default)]
pub(crate) struct Kept {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// How many want nodes to be kept.
    wanted: usize,
    nodes: HashMap<NodeId, Arc<Vec<u8>>>,
    bytes: usize,
    /// What is different between two roots.
    differences: HashMap<(RootId, RootId), Arc<Vec<Change>>>,
    changes: usize,
}

/// Nodes are kept in memory until this is dropped.
#[must_use]
pub struct KeptNodes<'a> {
    kept: &'a Kept,
}

impl std::fmt::Debug for KeptNodes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptNodes").finish_non_exhaustive()
    }
}

impl Drop for KeptNodes<'_> {
    fn drop(&mut self) {
        let mut inner = self.kept.lock();
        inner.wanted -= 1;
        if inner.wanted == 0 {
            *inner = Inner::default();
        }
    }
}

impl Kept {
    pub(crate) fn begin(&self) -> KeptNodes<'_> {
        self.lock().wanted += 1;
        KeptNodes { kept: self }
    }

    pub(crate) fn get(&self, id: &NodeId) -> Option<Arc<Vec<u8>>> {
        self.lock().nodes.get(id).map(Arc::clone)
    }

    /// Keeps a node whose hash is known to be its id, while there is room.
    pub(crate) fn add(&self, id: NodeId, bytes: &Arc<Vec<u8>>) {
        self.lock().add(id, || Arc::clone(bytes), bytes.len());
    }

    /// Keeps the nodes among what was just made, and is stored already. Those of a large tree would leave no room for what is
    /// read.
    pub(crate) fn add_made(&self, puts: Vec<Put>) {
        let mut inner = self.lock();
        if puts.iter().map(|put| put.value.len()).sum::<usize>() > MOST / 2 {
            return;
        }
        for put in puts.into_iter().filter(|put| put.kind == ObjectKind::Node) {
            let length = put.value.len();
            inner.add(NodeId(put.id), || Arc::new(put.value), length);
        }
    }

    /// Keeps the nodes among what was just made and stored: most are looked at next.
    pub(crate) fn add_stored(&self, puts: &[Put]) {
        let mut inner = self.lock();
        for put in puts.iter().filter(|put| put.kind == ObjectKind::Node) {
            inner.add(NodeId(put.id), || Arc::new(put.value.clone()), put.value.len());
        }
    }

    /// What is different between two roots, where somebody found out already.
    pub(crate) fn difference(&self, roots: (RootId, RootId)) -> Option<Arc<Vec<Change>>> {
        self.lock().differences.get(&roots).map(Arc::clone)
    }

    /// Keeps what is different between two roots, while there is room.
    pub(crate) fn add_difference(&self, roots: (RootId, RootId), changes: &[Change]) {
        let mut inner = self.lock();
        let has_room = inner.changes + changes.len() <= MOST_CHANGES;
        if inner.wanted > 0 && has_room && !inner.differences.contains_key(&roots) {
            inner.differences.insert(roots, Arc::new(changes.to_vec()));
            inner.changes += changes.len();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn add(&mut self, id: NodeId, bytes: impl FnOnce() -> Arc<Vec<u8>>, length: usize) {
        let has_room = self.bytes + length <= MOST;
        if self.wanted > 0 && has_room && !self.nodes.contains_key(&id) {
            self.nodes.insert(id, bytes());
            self.bytes += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_kept_while_somebody_wants_them() {
        let kept = Kept::default();
        let (id, bytes) = (NodeId([1; 32]), Arc::new(vec![1, 2, 3]));
        kept.add(id, &bytes);
        assert_eq!(kept.get(&id), None);
        let (first, second) = (kept.begin(), kept.begin());
        kept.add(id, &bytes);
        drop(first);
        assert_eq!(kept.get(&id), Some(bytes));
        drop(second);
        assert_eq!(kept.get(&id), None);
        assert_eq!(kept.lock().bytes, 0);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let kept = Kept::default();
        let _wanted = kept.begin();
        let large = Arc::new(vec![0; MOST]);
        kept.add(NodeId([1; 32]), &large);
        kept.add(NodeId([2; 32]), &Arc::new(vec![0]));
        assert!(kept.get(&NodeId([1; 32])).is_some());
        assert_eq!(kept.get(&NodeId([2; 32])), None);
    }
}
