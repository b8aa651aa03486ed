//! Walking two trees at once, entering only what has different hashes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::diff::change::Change;
use crate::entry::{DirRef, Entry};
use crate::error::Result;
use crate::hash::{NodeId, RootId};
use crate::node::raw::{RawEntry, RawNode};
use crate::objects::Objects;
use crate::objects::nodes::Nodes;
use crate::path::VaultPath;

/// Every path that differs between two roots, in order. Metadata counts; moved files show as deleted and added.
pub fn compare(objects: &Objects, before: &RootId, after: &RootId) -> Result<Vec<Change>> {
    objects.difference(before, after, || compare_nodes(&Nodes::of(objects), before, after))
}

/// The same, where the nodes of `before` are kept for later.
pub(crate) fn compare_nodes(
    nodes: &Nodes<'_>,
    before: &RootId,
    after: &RootId,
) -> Result<Vec<Change>> {
    if before == after {
        return Ok(Vec::new());
    }
    let (before, after) = (nodes.objects().root(before)?, nodes.objects().root(after)?);
    let mut walk = Walk { nodes, pending: Vec::new(), changes: Vec::new() };
    walk.pair(VaultPath::top(), Some(before), Some(after));
    while let Some((path, before, after)) = walk.pending.pop() {
        walk.directories(&path, before.as_ref(), after.as_ref())?;
    }
    walk.changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.changes)
}

struct Walk<'a> {
    nodes: &'a Nodes<'a>,
    /// Directories that differ beneath, on one side or both.
    pending: Vec<(VaultPath, Option<DirRef>, Option<DirRef>)>,
    changes: Vec<Change>,
}

impl Walk<'_> {
    fn directories(
        &mut self,
        path: &VaultPath,
        before: Option<&DirRef>,
        after: Option<&DirRef>,
    ) -> Result<()> {
        let (old, new) = self.differing(before, after)?;
        let (before, after) = (self.entries(&old)?, self.entries(&new)?);
        let mut before = before.into_iter().peekable();
        let mut after = after.into_iter().peekable();
        loop {
            let order = match (before.peek(), after.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => a.name.cmp(b.name),
            };
            let old = if order.is_le() { before.next() } else { None };
            let new = if order.is_ge() { after.next() } else { None };
            if old.as_ref().map(|entry| entry.bytes) == new.as_ref().map(|entry| entry.bytes) {
                // Each entry has one encoding.
                continue;
            }
            let decode = |entry: Option<RawEntry<'_>>| {
                let entry = entry.map(|entry| entry.decode());
                entry.transpose().map_err(|error| {
                    self.nodes.objects().damaged(format!("directory {path}"), error)
                })
            };
            let (old, new) = (decode(old)?, decode(new)?);
            if let Some(entry) = old.as_ref().or(new.as_ref()) {
                let path = path.join(&entry.name);
                self.pair(path, old, new);
            }
        }
    }

    /// Two entries of one name: notes the change and enters directories that differ.
    fn pair(&mut self, path: VaultPath, before: Option<Entry>, after: Option<Entry>) {
        if before == after {
            return;
        }
        let dir = |entry: &Option<Entry>| entry.as_ref().and_then(Entry::directory).copied();
        let (old, new) = (dir(&before), dir(&after));
        if old.map(|dir| dir.node) != new.map(|dir| dir.node) {
            self.pending.push((path.clone(), old, new));
        }
        let own_change = match (&before, &after, old, new) {
            (Some(before), Some(after), Some(_), Some(_)) => {
                before.meta != after.meta || before.conflict != after.conflict
            }
            _ => true,
        };
        if own_change {
            let (before, after) = (before.map(Arc::new), after.map(Arc::new));
            self.changes.push(Change { path, before, after, moved: None });
        }
    }

    /// The leaves of two directories, without those that both share.
    fn differing(
        &self,
        before: Option<&DirRef>,
        after: Option<&DirRef>,
    ) -> Result<(Leaves, Leaves)> {
        let mut old: Vec<NodeId> = before.iter().map(|dir| dir.node).collect();
        let mut new: Vec<NodeId> = after.iter().map(|dir| dir.node).collect();
        let (mut old_leaves, mut new_leaves) = (Leaves::new(), Leaves::new());
        while !old.is_empty() || !new.is_empty() {
            let (in_old, in_new): (HashSet<_>, HashSet<_>) =
                (old.iter().copied().collect(), new.iter().copied().collect());
            old.retain(|node| !in_new.contains(node));
            new.retain(|node| !in_old.contains(node));
            self.expand(&mut old, &mut old_leaves, |id| self.nodes.remember(id))?;
            self.expand(&mut new, &mut new_leaves, |id| self.nodes.bytes(id))?;
        }
        Ok((old_leaves, new_leaves))
    }

    /// Replaces index nodes by their children and takes leaves out.
    fn expand(
        &self,
        nodes: &mut Vec<NodeId>,
        leaves: &mut Leaves,
        read: impl Fn(&NodeId) -> Result<Arc<Vec<u8>>>,
    ) -> Result<()> {
        let mut children = Vec::new();
        for node in nodes.drain(..) {
            let bytes = read(&node)?;
            let damaged = |error| self.nodes.damaged(&node, error);
            if RawNode::is_leaf(&bytes) {
                leaves.push((node, bytes));
            } else if let RawNode::Index(below, _) = RawNode::of(&bytes).map_err(damaged)? {
                children.extend(below.iter().map(|child| child.dir.node));
            }
        }
        *nodes = children;
        Ok(())
    }

    /// The entries of leaves, by name.
    fn entries<'b>(&self, leaves: &'b Leaves) -> Result<Vec<RawEntry<'b>>> {
        let mut entries = Vec::new();
        for (id, bytes) in leaves {
            match RawNode::of(bytes).map_err(|error| self.nodes.damaged(id, error))? {
                RawNode::Leaf(mut leaf) => entries.append(&mut leaf),
                RawNode::Index(..) => {}
            }
        }
        if leaves.len() > 1 {
            // Leaves of one level of the index come before those of the next, so order has to be made again.
            entries.sort_by(|a, b| a.name.cmp(b.name));
        }
        Ok(entries)
    }
}

/// Leaves with their bytes.
type Leaves = Vec<(NodeId, Arc<Vec<u8>>)>;
