//! Changing a directory: the runs that a change lies in are read and written, all others are shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::raw::{RawEntry, RawNode};
use super::{Child, EncodedNode, Item, UNCUT, ends_run, leaf, pack, stack};
use crate::entry::{DirRef, Entry};
use crate::error::Result;
use crate::objects::Batch;
use crate::objects::nodes::Nodes;

/// What names become: another entry, or nothing.
pub(crate) type Changes = BTreeMap<Vec<u8>, Option<Entry>>;

impl Batch {
    /// Adds a directory with changes to it, without reading more of it than they need.
    pub(crate) fn edited_directory(
        &mut self,
        nodes: &Nodes<'_>,
        dir: Option<&DirRef>,
        changes: &Changes,
    ) -> Result<DirRef> {
        edit(nodes, dir, changes, &mut |encoded| self.node(encoded))
    }
}

/// Applies changes to a directory, or to an empty one; gives what [`super::build`] gives for all its entries. `emit` gets every
/// node that may be new.
fn edit(
    nodes: &Nodes<'_>,
    dir: Option<&DirRef>,
    changes: &Changes,
    emit: &mut impl FnMut(EncodedNode),
) -> Result<DirRef> {
    let leaves = match dir {
        Some(dir) => nodes.leaves(dir)?,
        None => Vec::new(),
    };
    if leaves.len() > 1 {
        let mut kept: Vec<EncodedNode> = Vec::new();
        let children = edit_runs(nodes, &leaves, changes, &mut |node| kept.push(node))?;
        if children.iter().map(|child| child.direct).sum::<u64>() > UNCUT as u64 {
            kept.into_iter().for_each(&mut *emit);
            return Ok(stack(children, emit));
        }
    }
    // Few enough entries for one node, or grown out of it.
    let read: Vec<Arc<Vec<u8>>> =
        leaves.iter().map(|child| nodes.bytes(&child.dir.node)).collect::<Result<_>>()?;
    let mut entries = Vec::new();
    for (child, bytes) in leaves.iter().zip(&read) {
        entries.append(&mut leaf_entries(nodes, child, bytes)?);
    }
    Ok(pack(&apply(entries, changes.iter()), emit))
}

/// The leaves of a directory after the changes.
fn edit_runs(
    nodes: &Nodes<'_>,
    leaves: &[Child],
    changes: &Changes,
    emit: &mut impl FnMut(EncodedNode),
) -> Result<Vec<Child>> {
    let (ranges, read) = read_touched(nodes, leaves, changes)?;
    let mut children = Vec::with_capacity(leaves.len());
    let mut open: Vec<Item<'_>> = Vec::new();
    for ((child, bytes), range) in leaves.iter().zip(&read).zip(ranges) {
        let Some(bytes) = bytes else {
            children.push(child.clone());
            continue;
        };
        open.append(&mut apply(leaf_entries(nodes, child, bytes)?, range.into_iter()));
        let mut rest = open.as_slice();
        while let Some(end) = rest.iter().position(|item| ends_run(item.name(), 0)) {
            let (run, after) = rest.split_at(end + 1);
            children.push(leaf(run, emit));
            rest = after;
        }
        open.drain(..open.len() - rest.len());
    }
    if !open.is_empty() {
        children.push(leaf(&open, emit));
    }
    Ok(children)
}

/// The changes to one leaf.
type Range<'a> = Vec<(&'a Vec<u8>, &'a Option<Entry>)>;
/// The bytes of each leaf that is read.
type Read = Vec<Option<Arc<Vec<u8>>>>;

/// The changes that belong to each leaf, and the bytes of those to read: leaves with changes, and the next one where a run goes on
/// in it.
fn read_touched<'a>(
    nodes: &Nodes<'_>,
    leaves: &[Child],
    changes: &'a Changes,
) -> Result<(Vec<Range<'a>>, Read)> {
    let mut ranges: Vec<Range<'a>> = vec![Vec::new(); leaves.len()];
    for change in changes {
        let after = leaves.partition_point(|child| child.first <= *change.0);
        ranges[after.saturating_sub(1)].push(change);
    }
    let mut read = Vec::with_capacity(leaves.len());
    let mut goes_on = false;
    for (child, range) in leaves.iter().zip(&ranges) {
        if !goes_on && range.is_empty() {
            read.push(None);
            continue;
        }
        let bytes = nodes.bytes(&child.dir.node)?;
        let last = leaf_entries(nodes, child, &bytes)?.last().map(|entry| entry.name.to_vec());
        goes_on = loses_its_end(last.as_ref(), range);
        read.push(Some(bytes));
    }
    Ok((ranges, read))
}

/// Whether the last name of a leaf, which ends its run, is gone, or another comes behind it.
fn loses_its_end(last: Option<&Vec<u8>>, range: &Range<'_>) -> bool {
    range.last().is_some_and(|(name, entry)| match last {
        Some(last) => *name > last || (*name == last && entry.is_none()),
        None => true,
    })
}

fn leaf_entries<'a>(
    nodes: &Nodes<'_>,
    child: &Child,
    bytes: &'a [u8],
) -> Result<Vec<RawEntry<'a>>> {
    match RawNode::of(bytes) {
        Ok(RawNode::Leaf(entries)) => Ok(entries),
        Ok(RawNode::Index(..)) => Err(nodes.damaged(&child.dir.node, "an index lies among leaves")),
        Err(error) => Err(nodes.damaged(&child.dir.node, error)),
    }
}

/// Entries with changes to them, in order.
fn apply<'a>(
    entries: Vec<RawEntry<'a>>,
    changes: impl Iterator<Item = (&'a Vec<u8>, &'a Option<Entry>)>,
) -> Vec<Item<'a>> {
    let mut items = Vec::with_capacity(entries.len() + 8);
    let mut changes = changes.peekable();
    for entry in entries {
        while let Some((_, new)) = changes.next_if(|(name, _)| name.as_slice() < entry.name) {
            items.extend(new.as_ref().map(Item::New));
        }
        match changes.next_if(|(name, _)| name.as_slice() == entry.name) {
            Some((_, new)) => items.extend(new.as_ref().map(Item::New)),
            None => items.push(Item::Old(entry)),
        }
    }
    items.extend(changes.filter_map(|(_, new)| new.as_ref().map(Item::New)));
    items
}

#[cfg(test)]
mod tests;
