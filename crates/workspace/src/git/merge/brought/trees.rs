//! Reading trees.

use std::collections::HashMap;

use super::super::ancestry::headers;
use super::super::store::{Kind, hex};
use crate::error::Result;

/// Longer chains of tags are none.
const MOST_TAGS: usize = 8;

/// The entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) mode: u32,
    pub(super) name: Vec<u8>,
    pub(super) id: Vec<u8>,
}

/// Reads an object.
pub(super) type Read<'r> = &'r dyn Fn(&[u8]) -> Result<Option<(Kind, Vec<u8>)>>;

pub(super) fn looks_like_repository(items: &[Item]) -> bool {
    let has = |name: &[u8]| items.iter().any(|item| item.name.eq_ignore_ascii_case(name));
    has(b"HEAD") && has(b"config") && (has(b"objects") || has(b"refs"))
}

/// The tree of a commit, or of what a tag names.
pub(super) fn tree_of(read: Read<'_>, id: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut id = id.to_vec();
    for _ in 0..MOST_TAGS {
        let next = match read(&id)? {
            Some((Kind::Tree, _)) => return Ok(Some(id)),
            Some((Kind::Commit, bytes)) => {
                return Ok(headers(&bytes, b"tree ").into_iter().next());
            }
            Some((Kind::Tag, bytes)) => headers(&bytes, b"object ").into_iter().next(),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        id = next;
    }
    Ok(None)
}

/// What is in a tree; nothing where it cannot be read. No tree at all is an empty one.
pub(super) fn items(read: Read<'_>, id: Option<&[u8]>) -> Result<Option<Vec<Item>>> {
    let Some(id) = id else { return Ok(Some(Vec::new())) };
    Ok(match read(id)? {
        Some((Kind::Tree, bytes)) => parsed(&bytes, id.len() / 2),
        _ => None,
    })
}

/// The entries of a tree by their names.
pub(super) fn by_name(items: &[Item]) -> HashMap<&[u8], &Item> {
    items.iter().map(|item| (item.name.as_slice(), item)).collect()
}

fn parsed(mut bytes: &[u8], width: usize) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let space = bytes[..end].iter().position(|byte| *byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&bytes[..space]).ok()?, 8).ok()?;
        let (name, id) = (bytes[space + 1..end].to_vec(), bytes.get(end + 1..end + 1 + width)?);
        items.push(Item { mode, name, id: hex(id) });
        bytes = &bytes[end + 1 + width..];
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::super::TREE;
    use super::*;

    #[test]
    fn trees_are_read_whole_or_not_at_all() {
        let id = [7; 20];
        let tree = [b"100644 a\0".as_slice(), &id, b"40000 d\0", &id].concat();
        let items = parsed(&tree, 20).unwrap();
        let seen: Vec<_> = items.iter().map(|item| (item.mode, item.name.as_slice())).collect();
        assert_eq!(seen, [(0o100_644, b"a".as_slice()), (TREE, b"d")]);
        assert_eq!(parsed(&tree[..tree.len() - 1], 20), None);
        assert_eq!(parsed(b"rubbish", 20), None);
    }
}
