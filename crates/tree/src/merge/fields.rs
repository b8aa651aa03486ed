//! Merging what is recorded beside the content: modes, owners, times, attributes, link groups.

use std::collections::BTreeSet;

use offshoot_host::{Mtime, Xattr};

use crate::entry::conflict_kind::ConflictKind;
use crate::entry::{Entry, Meta};

/// The bits that let a file be executed, which are merged apart from the others.
const EXECUTE: u16 = 0o111;
const READ: u16 = 0o444;

/// A value out of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice<T> {
    /// All who changed it agree, or nobody did.
    One(T),
    /// The different values, in the order of the sides.
    Many(Vec<T>),
}

/// Takes the value that changed. Without a base every value is a change.
pub(super) fn choose<T: PartialEq>(
    base: Option<T>,
    sides: impl IntoIterator<Item = T>,
) -> Option<Choice<T>> {
    let mut changed: Vec<T> = Vec::new();
    for value in sides {
        if base.as_ref() != Some(&value) && !changed.contains(&value) {
            changed.push(value);
        }
    }
    match changed.len() {
        0 => base.map(Choice::One),
        1 => changed.pop().map(Choice::One),
        _ => Some(Choice::Many(changed)),
    }
}

/// Merged metadata and what did not fit.
pub(super) struct MergedMeta {
    pub(super) meta: Meta,
    pub(super) group: Option<u64>,
    pub(super) problems: Vec<ConflictKind>,
}

/// Merges metadata field by field; `first` is what to start from where there is nothing else.
pub(super) fn merge_meta(base: Option<&Entry>, sides: &[&Entry], first: &Entry) -> MergedMeta {
    let mut problems = Vec::new();
    let mut note = |kind| {
        if !problems.contains(&kind) {
            problems.push(kind);
        }
    };
    let mode = merge_mode(base, sides, &mut note).unwrap_or(first.meta.mode);
    let mut owner = |part: fn(&Entry) -> u32| match choose_part(base, sides, part) {
        Some(Choice::One(id)) => id,
        Some(Choice::Many(ids)) => {
            note(ConflictKind::Owner);
            ids.first().copied().unwrap_or(part(first))
        }
        None => part(first),
    };
    let (uid, gid) = (owner(|entry| entry.meta.uid), owner(|entry| entry.meta.gid));
    let mtime = merge_mtime(base, sides).unwrap_or(first.meta.mtime);
    let xattrs = merge_xattrs(base, sides, &mut note);
    // Sides that disagree about links leave a file of its own.
    let group = match choose_part(base, sides, |entry| entry.group) {
        Some(Choice::One(group)) => group,
        _ => None,
    };
    MergedMeta { meta: Meta { mode, uid, gid, mtime, xattrs }, group, problems }
}

fn choose_part<T: PartialEq>(
    base: Option<&Entry>,
    sides: &[&Entry],
    part: impl Fn(&Entry) -> T,
) -> Option<Choice<T>> {
    choose(base.map(&part), sides.iter().map(|entry| part(entry)))
}

/// The bits for execution and the others are merged apart. Where sides want different bits, those stay that all of them want:
/// nobody gets more than every side grants.
fn merge_mode(
    base: Option<&Entry>,
    sides: &[&Entry],
    note: &mut impl FnMut(ConflictKind),
) -> Option<u16> {
    if let Choice::One(mode) = choose_part(base, sides, |entry| entry.meta.mode)? {
        return Some(mode);
    }
    let mut part = |mask: u16| {
        Some(match choose_part(base, sides, |entry| entry.meta.mode & mask)? {
            Choice::One(bits) => bits,
            Choice::Many(all) => {
                note(ConflictKind::Mode);
                all.into_iter().fold(mask, |bits, other| bits & other)
            }
        })
    };
    let (execute, others) = (part(EXECUTE)?, part(!EXECUTE)?);
    // Execution that one side grants does not reach those from whom another side took the right to read.
    let had = base.map_or(0, |entry| entry.meta.mode & EXECUTE);
    let readable = (others & READ) >> 2;
    Some(others | (execute & (readable | had)))
}

/// The newest of the times that changed.
fn merge_mtime(base: Option<&Entry>, sides: &[&Entry]) -> Option<Mtime> {
    match choose_part(base, sides, |entry| entry.meta.mtime)? {
        Choice::One(time) => Some(time),
        Choice::Many(times) => times.into_iter().max(),
    }
}

fn merge_xattrs(
    base: Option<&Entry>,
    sides: &[&Entry],
    note: &mut impl FnMut(ConflictKind),
) -> Vec<Xattr> {
    let all = base.iter().chain(sides).flat_map(|entry| &entry.meta.xattrs);
    let names: BTreeSet<&Vec<u8>> = all.map(|(name, _)| name).collect();
    let mut merged = Vec::new();
    for name in names {
        // An attribute that is missing in something new is no decision against it.
        let value = |entry: &Entry| {
            let xattrs = &entry.meta.xattrs;
            let at = xattrs.binary_search_by(|(other, _)| other.cmp(name)).ok()?;
            Some(xattrs[at].1.clone())
        };
        let base = Some(base.and_then(value));
        let value = match choose(base, sides.iter().map(|entry| value(entry))) {
            Some(Choice::One(value)) => value,
            Some(Choice::Many(values)) => {
                note(ConflictKind::Xattr);
                values.into_iter().flatten().next()
            }
            None => None,
        };
        merged.extend(value.map(|value| (name.clone(), value)));
    }
    merged
}

/// Whether two entries differ in more than their name, their time and their links: in something that is lost if one is
/// deleted.
pub(super) fn differ_in_substance(a: &Entry, b: &Entry) -> bool {
    fn substance(entry: &Entry) -> impl PartialEq + '_ {
        let meta = &entry.meta;
        (&entry.body, &entry.conflict, meta.mode, meta.uid, meta.gid, &meta.xattrs)
    }
    substance(a) != substance(b)
}

#[cfg(test)]
mod tests;
