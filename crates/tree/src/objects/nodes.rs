//! Directory nodes by their bytes, for whoever looks at the same ones several times.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use crate::entry::{DirRef, Entry};
use crate::error::{Result, TreeError};
use crate::hash::NodeId;
use crate::node::Child;
use crate::node::raw::RawNode;
use crate::objects::Objects;

/// How many bytes of nodes are kept.
const MOST_KEPT: usize = 64 << 20;

/// Reads nodes, and may keep what it has read and verified.
pub(crate) struct Nodes<'a> {
    objects: &'a Objects,
    kept: RefCell<HashMap<NodeId, Arc<Vec<u8>>>>,
    /// How many bytes more may be kept.
    room: Cell<usize>,
}

impl<'a> Nodes<'a> {
    /// Reads every node each time.
    pub(crate) fn of(objects: &'a Objects) -> Self {
        Self { objects, kept: RefCell::default(), room: Cell::new(0) }
    }

    /// Keeps nodes that it was asked to [remember](Self::remember).
    pub(crate) fn keeping(objects: &'a Objects) -> Self {
        Self { room: Cell::new(MOST_KEPT), ..Self::of(objects) }
    }

    /// Where they come from.
    pub(crate) fn objects(&self) -> &'a Objects {
        self.objects
    }

    /// The verified bytes of a node.
    pub(crate) fn bytes(&self, id: &NodeId) -> Result<Arc<Vec<u8>>> {
        match self.kept.borrow().get(id) {
            Some(bytes) => Ok(Arc::clone(bytes)),
            None => self.objects.node_bytes(id),
        }
    }

    /// The verified bytes of a node that will be asked for again.
    pub(crate) fn remember(&self, id: &NodeId) -> Result<Arc<Vec<u8>>> {
        let bytes = self.bytes(id)?;
        if let Some(room) = self.room.get().checked_sub(bytes.len()) {
            let before = self.kept.borrow_mut().insert(*id, Arc::clone(&bytes));
            if before.is_none() {
                self.room.set(room);
            }
        }
        Ok(bytes)
    }

    /// The leaves of a directory in order, read only where it is not known without.
    pub(crate) fn leaves(&self, dir: &DirRef) -> Result<Vec<Child>> {
        let alone = Child { first: Vec::new(), dir: *dir, direct: 0 };
        let mut children = vec![alone];
        loop {
            let mut below = Vec::new();
            let mut are_leaves = true;
            for child in &children {
                let id = &child.dir.node;
                let bytes = self.bytes(id)?;
                if RawNode::is_leaf(&bytes) {
                    below.push(child.clone());
                    continue;
                }
                let node = RawNode::of(&bytes).map_err(|error| self.damaged(id, error))?;
                if let RawNode::Index(mut next, leaves) = node {
                    are_leaves &= leaves;
                    below.append(&mut next);
                }
            }
            children = below;
            if are_leaves {
                return Ok(children);
            }
        }
    }

    /// One entry of a directory.
    pub(crate) fn entry(&self, dir: &DirRef, name: &[u8]) -> Result<Option<Entry>> {
        let mut id = dir.node;
        loop {
            let bytes = self.bytes(&id)?;
            let damaged = |error| self.damaged(&id, error);
            if RawNode::is_leaf(&bytes) {
                let found = RawNode::find(&bytes, name).map_err(damaged)?;
                return found.map(|entry| entry.decode().map_err(damaged)).transpose();
            }
            let RawNode::Index(children, _) = RawNode::of(&bytes).map_err(damaged)? else {
                return Ok(None);
            };
            let after = children.partition_point(|child| child.first.as_slice() <= name);
            let Some(child) = after.checked_sub(1).and_then(|at| children.get(at)) else {
                return Ok(None);
            };
            id = child.dir.node;
        }
    }

    pub(crate) fn damaged(&self, id: &NodeId, detail: impl ToString) -> TreeError {
        self.objects.damaged(format!("directory {id}"), detail)
    }
}
