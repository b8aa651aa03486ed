//! Walking two trees at once, entering only what has different hashes.

use std::collections::HashSet;

use super::Change;
use crate::entry::{DirRef, Entry};
use crate::error::Result;
use crate::hash::{NodeId, RootId};
use crate::node::Node;
use crate::objects::Objects;
use crate::path::VaultPath;

/// Every path that differs between two roots, in order. Metadata counts; moved files show as deleted and added.
pub fn compare(objects: &Objects, before: &RootId, after: &RootId) -> Result<Vec<Change>> {
    if before == after {
        return Ok(Vec::new());
    }
    let (before, after) = (objects.root(before)?, objects.root(after)?);
    let mut walk = Walk { objects, pending: Vec::new(), changes: Vec::new() };
    walk.pair(VaultPath::top(), Some(before), Some(after));
    while let Some((path, before, after)) = walk.pending.pop() {
        walk.directories(&path, before.as_ref(), after.as_ref())?;
    }
    walk.changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.changes)
}

struct Walk<'a> {
    objects: &'a Objects,
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
        let (before, after) = self.differing(before, after)?;
        let mut before = before.into_iter().peekable();
        let mut after = after.into_iter().peekable();
        loop {
            let order = match (before.peek(), after.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => a.name.cmp(&b.name),
            };
            let old = if order.is_le() { before.next() } else { None };
            let new = if order.is_ge() { after.next() } else { None };
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
            self.changes.push(Change { path, before, after, moved: None });
        }
    }

    /// The entries of two directories, without those in nodes that both share.
    fn differing(
        &self,
        before: Option<&DirRef>,
        after: Option<&DirRef>,
    ) -> Result<(Vec<Entry>, Vec<Entry>)> {
        let mut old: Vec<NodeId> = before.iter().map(|dir| dir.node).collect();
        let mut new: Vec<NodeId> = after.iter().map(|dir| dir.node).collect();
        let (mut old_entries, mut new_entries) = (Vec::new(), Vec::new());
        while !old.is_empty() || !new.is_empty() {
            let (in_old, in_new): (HashSet<_>, HashSet<_>) =
                (old.iter().copied().collect(), new.iter().copied().collect());
            old.retain(|node| !in_new.contains(node));
            new.retain(|node| !in_old.contains(node));
            self.expand(&mut old, &mut old_entries)?;
            self.expand(&mut new, &mut new_entries)?;
        }
        // Leaves of one level of the index come before those of the next, so order has to be made again.
        old_entries.sort_by(|a, b| a.name.cmp(&b.name));
        new_entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((old_entries, new_entries))
    }

    /// Replaces index nodes by their children and takes the entries out of leaves.
    fn expand(&self, nodes: &mut Vec<NodeId>, entries: &mut Vec<Entry>) -> Result<()> {
        let mut children = Vec::new();
        for node in nodes.drain(..) {
            match self.objects.node(&node)? {
                Node::Leaf(mut leaf) => entries.append(&mut leaf),
                Node::Index(below) => children.extend(below.iter().map(|child| child.dir.node)),
            }
        }
        *nodes = children;
        Ok(())
    }
}
