//! Looking at every tree of a file before it becomes a vault's.
//!
//! Hashes say only that a tree is what somebody made. That its sums, orders and names are what they have to be is computed anew, each
//! node once, from the leaves up. No directory is expanded for that, so one that holds itself many times over costs no more than another.

use std::collections::HashMap;

use offshoot_host::disk::{LONGEST_XATTR_VALUE, is_kept_xattr};
use offshoot_tree::{
    Batch, BlobId, Body, Child, DirRef, Entry, Node, NodeId, Objects, display_bytes,
};

use super::declared::Declared;
use super::refused::{Refused, Vetted};
use crate::vault::Vault;

/// An entry of a tree counts as this many bytes: that is what it takes on a disk at least, empty or not.
const ENTRY: u64 = 256;
/// The longest target of a link: no kernel makes a longer one.
const LONGEST_TARGET: usize = 4095;
/// How many directories may be in one another. Paths of that length cannot be written down.
const DEEPEST: u32 = 10_000;
/// Seconds since 1970 of the years 1 to 9999, which is what calendars know.
const YEARS: std::ops::Range<i64> = -62_135_596_800..253_402_300_800;

/// Looks at everything that any snapshot reaches.
pub(super) fn vet(vault: &Vault, declared: &Declared, limit: u64) -> Vetted {
    let objects = vault.objects()?;
    let mut trees = Trees { objects, declared, nodes: HashMap::new() };
    let roots = vault.read(|reader| Ok(reader.snapshot_roots()?))?;
    for root in roots.into_values().map(offshoot_tree::RootId) {
        // What was collected before the export is missed by nobody but who goes there.
        if !objects.has_root(&root)? {
            continue;
        }
        let top = objects.root(&root)?;
        trees.entry(&top)?;
        for dir in top.directories() {
            trees.directory(dir)?;
            let size = dir.entries.saturating_mul(ENTRY).saturating_add(dir.bytes);
            if size > limit {
                return Err(Refused::TooLarge(size));
            }
        }
    }
    Ok(())
}

struct Trees<'a> {
    objects: &'a Objects,
    declared: &'a Declared,
    nodes: HashMap<NodeId, Known>,
}

/// A node that is in order.
struct Known {
    /// As the node above it has to have it.
    child: Child,
    /// The last name in it.
    last: Vec<u8>,
    level: u8,
    /// How many directories are in one another beneath it.
    depth: u32,
    /// It is known to be a directory as an encoder would have made it.
    whole: bool,
}

/// What is to be looked at next: a node, and whether those beneath it were already.
struct Step {
    dir: DirRef,
    /// It is a directory's own, not one of the nodes that a large directory is cut into.
    top: bool,
    beneath: Option<Node>,
}

impl Trees<'_> {
    /// Looks at a directory and all beneath it that was not looked at yet.
    fn directory(&mut self, dir: &DirRef) -> Vetted {
        let mut steps = vec![Step { dir: *dir, top: true, beneath: None }];
        while let Some(Step { dir, top, beneath }) = steps.pop() {
            if let Some(known) = self.nodes.get(&dir.node) {
                require(known.child.dir == dir, || wrong(&dir, "is not what is said of it"))?;
                if top && !known.whole {
                    self.whole(&dir)?;
                }
                continue;
            }
            match beneath {
                None => {
                    let node = self.objects.node(&dir.node)?;
                    let next = self.beneath(&node)?;
                    steps.push(Step { dir, top, beneath: Some(node) });
                    steps.extend(next);
                }
                Some(node) => {
                    let known = self.known(&dir, &node)?;
                    require(known.depth <= DEEPEST, || {
                        wrong(&dir, "holds too many in one another")
                    })?;
                    self.nodes.insert(dir.node, known);
                    // Compared with what is said of it, now that it is known.
                    steps.push(Step { dir, top, beneath: None });
                }
            }
        }
        Ok(())
    }

    /// The nodes that have to be known before this one is.
    fn beneath(&self, node: &Node) -> Vetted<Vec<Step>> {
        let step = |dir: &DirRef, top| Step { dir: *dir, top, beneath: None };
        match node {
            Node::Index(children) => {
                Ok(children.iter().map(|child| step(&child.dir, false)).collect())
            }
            Node::Leaf(entries) => {
                entries.iter().try_for_each(|entry| self.entry(entry))?;
                let dirs = entries.iter().flat_map(Entry::directories);
                Ok(dirs.map(|dir| step(dir, true)).collect())
            }
        }
    }

    /// Computes what a node is from what is beneath it.
    fn known(&self, dir: &DirRef, node: &Node) -> Vetted<Known> {
        let find = |dir: &DirRef| {
            self.nodes.get(&dir.node).ok_or_else(|| wrong(dir, "is not what is said of it"))
        };
        match node {
            Node::Leaf(entries) => {
                let mut depth = 0;
                for dir in entries.iter().flat_map(Entry::directories) {
                    depth = depth.max(find(dir)?.depth);
                }
                let last = entries.last().map_or_else(Vec::new, |entry| entry.name.clone());
                let (child, whole) = (node.describe(0), entries.is_empty());
                Ok(Known { child, last, level: 0, depth: depth + 1, whole })
            }
            Node::Index(children) => {
                let (mut last, mut level, mut depth) = (Vec::new(), None, 0);
                for child in children {
                    let known = find(&child.dir)?;
                    let fits = known.child == *child
                        && *level.get_or_insert(known.level) == known.level
                        && (last.is_empty() || last < child.first);
                    require(fits, || wrong(dir, "does not fit what is beneath it"))?;
                    last.clone_from(&known.last);
                    depth = depth.max(known.depth);
                }
                let level = level.and_then(|level| level.checked_add(1));
                let level = level.ok_or_else(|| wrong(dir, "has nothing beneath it"))?;
                Ok(Known { child: node.describe(level), last, level, depth, whole: false })
            }
        }
    }

    /// Whether a directory is cut as an encoder would have cut it. Its nodes are in order, so it has no more entries than are there.
    fn whole(&mut self, dir: &DirRef) -> Vetted {
        let entries = self.objects.entries(dir)?;
        let built = Batch::default().directory(&entries);
        require(built == *dir, || wrong(dir, "is not cut as it should be"))?;
        self.nodes.entry(dir.node).and_modify(|known| known.whole = true);
        Ok(())
    }

    /// Looks at an entry, and at every version that its conflict keeps.
    fn entry(&self, entry: &Entry) -> Vetted {
        let versions = entry.conflict.iter().flat_map(|record| record.versions());
        for entry in std::iter::once(entry).chain(versions.map(|version| &version.entry)) {
            if let Err(why) = self.sane(entry) {
                return Err(format!("\"{}\" {why}", display_bytes(&entry.name)).into());
            }
        }
        Ok(())
    }

    fn sane(&self, entry: &Entry) -> Result<(), String> {
        let meta = &entry.meta;
        let says = |is_right: bool, why: &str| if is_right { Ok(()) } else { Err(why.to_owned()) };
        says(YEARS.contains(&meta.mtime.seconds), "has a time that is in no calendar")?;
        // This number means "no owner" to every system call.
        says(meta.uid != u32::MAX && meta.gid != u32::MAX, "has an owner that nobody can be")?;
        for (name, value) in &meta.xattrs {
            let kept = is_kept_xattr(name) && value.len() <= LONGEST_XATTR_VALUE;
            says(kept, &format!("has the attribute \"{}\"", display_bytes(name)))?;
        }
        match &entry.body {
            Body::File { size, blob } => {
                let length = self.declared.lengths.get(blob);
                says(length == Some(size), &missing(blob, *size, length))
            }
            Body::Symlink { target } => {
                let right = (1..=LONGEST_TARGET).contains(&target.len()) && !target.contains(&0);
                says(right, "is a link to nothing that can be named")
            }
            Body::Directory(_) => says(entry.group.is_none(), "is a directory with other names"),
            Body::Fifo => Ok(()),
        }
    }
}

fn require(is_right: bool, why: impl FnOnce() -> Refused) -> Vetted {
    if is_right { Ok(()) } else { Err(why()) }
}

fn wrong(dir: &DirRef, why: &str) -> Refused {
    Refused::Bad(format!("directory {} {why}", dir.node))
}

fn missing(blob: &BlobId, size: u64, length: Option<&u64>) -> String {
    match length {
        Some(length) => format!("has {size} bytes, but its content {blob} has {length}"),
        None => format!("has the content {blob}, which is missing"),
    }
}
