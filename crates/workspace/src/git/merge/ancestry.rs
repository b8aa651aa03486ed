//! Whether a commit has another one in its history, as far as the repository's own files tell.

use std::collections::BTreeSet;

use super::store::{Kind, Store};
use crate::error::Result;

/// A longer history is not followed to its end.
const MOST: usize = 10_000;

/// Whether a commit has another one in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ancestry {
    /// It has, or is the same.
    Yes,
    /// It has not.
    No,
    /// Not all of its history could be read.
    Unknown,
}

/// Whether `commit` is `wanted` or came from it. Where it cannot be told, the answer is no.
pub(super) fn includes(store: &Store<'_>, commit: &[u8], wanted: &[u8]) -> Result<bool> {
    Ok(ancestry(store, commit, wanted)? == Ancestry::Yes)
}

/// The same, and whether it can be told.
pub(super) fn ancestry(store: &Store<'_>, commit: &[u8], wanted: &[u8]) -> Result<Ancestry> {
    let (_, answer) = walk(store, vec![commit.to_vec()], Some(wanted))?;
    Ok(answer)
}

/// Whether two commits have none in common. Where it cannot be told, the answer is no.
pub(super) fn are_unrelated(
    (store, commit): (&Store<'_>, &[u8]),
    (others, other): (&Store<'_>, &[u8]),
) -> Result<bool> {
    let (own, known) = walk(store, vec![commit.to_vec()], None)?;
    if known == Ancestry::Unknown {
        return Ok(false);
    }
    let (theirs, known) = walk(others, vec![other.to_vec()], None)?;
    Ok(known != Ancestry::Unknown && own.is_disjoint(&theirs))
}

/// How many commits the first has in its history, itself included, that the second has not; nothing where that cannot be told.
pub(super) fn ahead(store: &Store<'_>, commit: &[u8], other: &[u8]) -> Result<Option<u64>> {
    let (own, known) = walk(store, vec![commit.to_vec()], None)?;
    let (others, also_known) = walk(store, vec![other.to_vec()], None)?;
    if known == Ancestry::Unknown || also_known == Ancestry::Unknown {
        return Ok(None);
    }
    Ok(Some(own.difference(&others).count() as u64))
}

/// The commits that some came from, with themselves, as far as that can be read.
pub(super) fn history(store: &Store<'_>, commits: Vec<Vec<u8>>) -> Result<BTreeSet<Vec<u8>>> {
    Ok(walk(store, commits, None)?.0)
}

/// The commits from some on, until another is found.
fn walk(
    store: &Store<'_>,
    mut pending: Vec<Vec<u8>>,
    wanted: Option<&[u8]>,
) -> Result<(BTreeSet<Vec<u8>>, Ancestry)> {
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut answer = Ancestry::No;
    while let Some(id) = pending.pop() {
        if Some(id.as_slice()) == wanted {
            return Ok((seen, Ancestry::Yes));
        }
        if seen.contains(&id) {
            continue;
        }
        match parents(store, &id)?.filter(|_| seen.len() < MOST) {
            Some(parents) => pending.extend(parents),
            None => answer = Ancestry::Unknown,
        }
        seen.insert(id);
    }
    Ok((seen, answer))
}

/// What a commit came from, or what a tag names; nothing where it cannot be read.
fn parents(store: &Store<'_>, id: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    Ok(store.read(id)?.map(|(kind, bytes)| match kind {
        Kind::Commit => headers(&bytes, b"parent "),
        Kind::Tag => headers(&bytes, b"object "),
        Kind::Tree | Kind::Blob => Vec::new(),
    }))
}

/// The ids in the header of a commit or a tag that stand after a word.
pub(super) fn headers(object: &[u8], word: &[u8]) -> Vec<Vec<u8>> {
    let lines = object.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.strip_prefix(word)).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_those_of_the_header() {
        let object = b"tree 1\nparent 2\nparent 3\nauthor a\n\nparent 4\n";
        assert_eq!(headers(object, b"parent "), [b"2".to_vec(), b"3".to_vec()]);
        assert!(headers(b"", b"parent ").is_empty());
    }
}
