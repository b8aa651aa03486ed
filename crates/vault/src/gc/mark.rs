//! Which objects are reached.

use std::collections::{HashMap, HashSet};

use offshoot_store::Hash;
use offshoot_tree::{BlobId, Body, DirRef, Entry, Node, NodeId, Objects, RootId};

use crate::error::Result;

/// The objects that were reached so far. It only grows, so what once was needed counts as needed until the collection ends.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(crate) roots: HashSet<RootId>,
    pub(crate) nodes: HashSet<NodeId>,
    /// With their lengths.
    pub(crate) blobs: HashMap<BlobId, u64>,
    pub(super) chunks: HashSet<Hash>,
    /// The bytes of all blobs.
    pub(super) bytes: u64,
    /// What was added since this was last emptied.
    pub(super) fresh: Fresh,
}

/// Marks that may be taken back.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    roots: Vec<RootId>,
    nodes: Vec<NodeId>,
    pub(super) blobs: Vec<BlobId>,
}

impl Marks {
    /// Marks a root and everything beneath.
    pub(super) fn root(&mut self, objects: &Objects, root: &RootId) -> Result<()> {
        if self.roots.contains(root) {
            return Ok(());
        }
        let top = objects.root(root)?;
        self.roots.insert(*root);
        self.fresh.roots.push(*root);
        let mut pending: Vec<DirRef> = top.directories().copied().collect();
        self.entry(&top);
        while let Some(dir) = pending.pop() {
            if !self.nodes.insert(dir.node) {
                continue;
            }
            self.fresh.nodes.push(dir.node);
            match objects.node(&dir.node)? {
                Node::Index(children) => pending.extend(children.iter().map(|child| child.dir)),
                Node::Leaf(entries) => {
                    pending.extend(entries.iter().flat_map(Entry::directories));
                    entries.iter().for_each(|entry| self.entry(entry));
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) {
        for body in entry.bodies() {
            if let Body::File { size, blob } = body {
                self.content(*blob, *size);
            }
        }
    }

    /// Marks a content.
    pub(crate) fn content(&mut self, blob: BlobId, size: u64) {
        if self.blobs.insert(blob, size).is_none() {
            self.bytes += size;
            self.fresh.blobs.push(blob);
        }
    }

    /// Takes back what was marked since `fresh` was last emptied.
    pub(super) fn take_back(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        for root in &fresh.roots {
            self.roots.remove(root);
        }
        for node in &fresh.nodes {
            self.nodes.remove(node);
        }
        for blob in &fresh.blobs {
            self.bytes -= self.blobs.remove(blob).unwrap_or(0);
        }
    }

    /// Keeps what was marked since; gives the contents that are new.
    pub(super) fn settle(&mut self) -> Vec<BlobId> {
        std::mem::take(&mut self.fresh).blobs
    }
}
