//! Directory nodes and roots: how entries become hashes.

use crate::codec::{FormatError, Input, put_bytes, put_varint};
use crate::entry::{Body, DirRef, Entry, is_name};
use crate::hash::{ContentId, NodeId, RootId};

/// The most items that one node of an uncut directory holds.
const UNCUT: usize = 256;
/// A run ends where the hash of a name is below this, out of 256: runs of 128 on average.
const CUT_BELOW: u8 = 2;
const NODE_MAGIC: &[u8; 4] = b"OTN\x01";
const ROOT_MAGIC: &[u8; 4] = b"OTR\x01";

/// A decoded node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Entries, sorted by name.
    Leaf(Vec<Entry>),
    /// Nodes of the level below, sorted by their first names.
    Index(Vec<Child>),
}

/// A node as an index holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The first name in it.
    pub first: Vec<u8>,
    /// Its hashes and sums.
    pub dir: DirRef,
    /// How many entries it holds directly.
    pub direct: u64,
}

/// An encoded node, ready to be stored.
pub(crate) type EncodedNode = (NodeId, Vec<u8>);

/// Encodes the entries of one directory, which must be sorted by name; `emit` gets every node of it.
pub(crate) fn build(entries: &[Entry], emit: &mut impl FnMut(EncodedNode)) -> DirRef {
    if entries.len() <= UNCUT {
        return leaf(entries, emit).dir;
    }
    let runs = cut(entries, |entry| &entry.name, 0);
    let mut children: Vec<Child> = runs.map(|run| leaf(run, emit)).collect();
    for level in 1.. {
        if children.len() <= UNCUT {
            return index(level, &children, emit).dir;
        }
        let runs = cut(&children, |child| &child.first, usize::from(level));
        children = runs.map(|run| index(level, run, emit)).collect();
    }
    unreachable!("every level has fewer runs than the one below")
}

/// Cuts items into runs by the hash of their names alone, so that equal sets are cut equally.
fn cut<'a, T>(
    items: &'a [T],
    name: impl Fn(&T) -> &Vec<u8> + 'a,
    byte: usize,
) -> impl Iterator<Item = &'a [T]> {
    items.split_inclusive(move |item| {
        let hash = blake3::hash(name(item));
        // Past the last byte of the hash every item ends its run; no directory is that large.
        hash.as_bytes().get(byte).is_none_or(|&value| value < CUT_BELOW)
    })
}

fn leaf(entries: &[Entry], emit: &mut impl FnMut(EncodedNode)) -> Child {
    let mut full = header(0, entries.len());
    let mut content = content_header(0, entries.len());
    let (mut bytes, mut count) = (0u64, entries.len() as u64);
    for entry in entries {
        entry.encode(&mut full);
        entry.encode_content(&mut content);
        match &entry.body {
            Body::File { size, .. } => bytes = bytes.saturating_add(*size),
            Body::Directory(dir) => {
                // Sums that come from a disk are not trusted to stay in range.
                bytes = bytes.saturating_add(dir.bytes);
                count = count.saturating_add(dir.entries);
            }
            Body::Symlink { .. } | Body::Fifo => {}
        }
    }
    let first = entries.first().map_or_else(Vec::new, |entry| entry.name.clone());
    finish(first, full, &content, bytes, count, entries.len() as u64, emit)
}

fn index(level: u8, children: &[Child], emit: &mut impl FnMut(EncodedNode)) -> Child {
    let mut full = header(level, children.len());
    let mut content = content_header(level, children.len());
    for child in children {
        put_bytes(&mut full, &child.first);
        full.extend_from_slice(&child.dir.node.0);
        full.extend_from_slice(&child.dir.content.0);
        put_varint(&mut full, child.dir.bytes);
        put_varint(&mut full, child.dir.entries);
        put_varint(&mut full, child.direct);
        put_bytes(&mut content, &child.first);
        content.extend_from_slice(&child.dir.content.0);
    }
    let sum = |part: fn(&Child) -> u64| children.iter().map(part).fold(0, u64::saturating_add);
    let first = children.first().map_or_else(Vec::new, |child| child.first.clone());
    let (bytes, entries) = (sum(|child| child.dir.bytes), sum(|child| child.dir.entries));
    finish(first, full, &content, bytes, entries, sum(|child| child.direct), emit)
}

fn finish(
    first: Vec<u8>,
    full: Vec<u8>,
    content: &[u8],
    bytes: u64,
    entries: u64,
    direct: u64,
    emit: &mut impl FnMut(EncodedNode),
) -> Child {
    let node = NodeId::of(&full);
    let dir = DirRef { node, content: ContentId::of(content), bytes, entries };
    emit((node, full));
    Child { first, dir, direct }
}

fn header(level: u8, count: usize) -> Vec<u8> {
    let mut out = NODE_MAGIC.to_vec();
    out.push(level);
    put_varint(&mut out, count as u64);
    out
}

fn content_header(level: u8, count: usize) -> Vec<u8> {
    let mut out = vec![level];
    put_varint(&mut out, count as u64);
    out
}

/// Decodes a node whose hash was verified.
pub(crate) fn decode(bytes: &[u8]) -> Result<Node, FormatError> {
    let mut input = Input::new(bytes);
    if input.take(4)? != NODE_MAGIC {
        return Err(FormatError("it is not a directory node of this format"));
    }
    let level = input.byte()?;
    let count = input.varint()?;
    let node = if level == 0 {
        Node::Leaf(decode_sorted(&mut input, count, Entry::decode, |entry| &entry.name)?)
    } else {
        Node::Index(decode_sorted(&mut input, count, decode_child, |child| &child.first)?)
    };
    input.end()?;
    Ok(node)
}

fn decode_sorted<T>(
    input: &mut Input<'_>,
    count: u64,
    item: impl Fn(&mut Input<'_>) -> Result<T, FormatError>,
    name: impl Fn(&T) -> &Vec<u8>,
) -> Result<Vec<T>, FormatError> {
    // The count is not trusted with memory: it comes from a disk.
    let mut items: Vec<T> = Vec::with_capacity(usize::try_from(count).unwrap_or(0).min(1024));
    for _ in 0..count {
        let next = item(input)?;
        if !is_name(name(&next)) {
            return Err(FormatError("an entry has an impossible name"));
        }
        if items.last().is_some_and(|last| name(last) >= name(&next)) {
            return Err(FormatError("entries are out of order"));
        }
        items.push(next);
    }
    Ok(items)
}

fn decode_child(input: &mut Input<'_>) -> Result<Child, FormatError> {
    let first = input.bytes()?.to_vec();
    let (node, content) = (NodeId(input.array()?), ContentId(input.array()?));
    let (bytes, entries, direct) = (input.varint()?, input.varint()?, input.varint()?);
    Ok(Child { first, dir: DirRef { node, content, bytes, entries }, direct })
}

/// Encodes the top directory's own entry.
pub(crate) fn encode_root(top: &Entry) -> (RootId, Vec<u8>) {
    let mut out = ROOT_MAGIC.to_vec();
    top.encode(&mut out);
    (RootId::of(&out), out)
}

/// Decodes a root whose hash was verified.
pub(crate) fn decode_root(bytes: &[u8]) -> Result<Entry, FormatError> {
    let mut input = Input::new(bytes);
    if input.take(4)? != ROOT_MAGIC {
        return Err(FormatError("it is not a root of this format"));
    }
    let top = Entry::decode(&mut input)?;
    input.end()?;
    match (&top.body, top.name.is_empty()) {
        (Body::Directory(_), true) => Ok(top),
        _ => Err(FormatError("a root is not a nameless directory")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::entry::{Meta, Mtime};
    use crate::hash::BlobId;

    fn file(name: &[u8], text: &str) -> Entry {
        let meta = Meta {
            mode: 0o644,
            uid: 1000,
            gid: 70_000,
            mtime: Mtime { seconds: -5, nanoseconds: 999_999_999 },
            xattrs: vec![(b"user.a".to_vec(), vec![0, 255])],
        };
        let body = Body::File { size: text.len() as u64, blob: BlobId::of(text.as_bytes()) };
        Entry { name: name.to_vec(), meta, group: Some(7), body }
    }

    fn files(count: u32) -> Vec<Entry> {
        (0..count).map(|i| file(format!("{i:08}").as_bytes(), "x")).collect()
    }

    fn build_all(entries: &[Entry]) -> (DirRef, HashMap<NodeId, Vec<u8>>) {
        let mut nodes = HashMap::new();
        let dir = build(entries, &mut |(id, bytes)| drop(nodes.insert(id, bytes)));
        (dir, nodes)
    }

    fn flatten(node: &NodeId, nodes: &HashMap<NodeId, Vec<u8>>) -> Vec<Entry> {
        match decode(&nodes[node]).unwrap() {
            Node::Leaf(entries) => entries,
            Node::Index(children) => {
                children.iter().flat_map(|child| flatten(&child.dir.node, nodes)).collect()
            }
        }
    }

    #[test]
    fn directories_of_any_size_come_back() {
        for count in [0, 1, 256, 257, 5_000, 60_000] {
            let entries = files(count);
            let (dir, nodes) = build_all(&entries);
            assert_eq!(flatten(&dir.node, &nodes), entries);
            assert_eq!((dir.bytes, dir.entries), (u64::from(count), u64::from(count)));
        }
    }

    #[test]
    fn one_change_in_a_large_directory_makes_few_new_nodes() {
        let mut entries = files(20_000);
        let (before, old) = build_all(&entries);
        entries[9_000] = file(b"00009000", "changed");
        let (after, new) = build_all(&entries);
        assert_ne!(before.content, after.content);
        assert_eq!(new.keys().filter(|id| !old.contains_key(id)).count(), 2);
    }

    #[test]
    fn metadata_changes_the_full_hash_only() {
        let before = build_all(&[file(b"a", "x")]).0;
        let mut entry = file(b"a", "x");
        entry.meta.mtime.nanoseconds = 1;
        entry.meta.mode = 0o600;
        entry.group = None;
        let after = build_all(&[entry.clone()]).0;
        assert_ne!(before.node, after.node);
        assert_eq!(before.content, after.content);
        entry.meta.mode = 0o700;
        assert_ne!(build_all(&[entry]).0.content, after.content);
    }

    #[test]
    fn damaged_nodes_are_refused_not_guessed() {
        let (dir, nodes) = build_all(&[file(b"a", "x"), file(b"b", "y")]);
        let good = &nodes[&dir.node];
        for cut in 0..good.len() {
            assert!(decode(&good[..cut]).is_err(), "cut at {cut}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(decode(&longer).is_err());
        let (reversed, nodes) = build_all(&[file(b"b", "y"), file(b"a", "x")]);
        assert!(decode(&nodes[&reversed.node]).is_err());
        for name in [&b""[..], b".", b"..", b"a/b", b"a\0b", &[b'x'; 256]] {
            let (bad, nodes) = build_all(&[file(name, "x")]);
            assert!(decode(&nodes[&bad.node]).is_err(), "{name:?}");
        }
    }

    #[test]
    fn roots_keep_the_top_directorys_own_metadata() {
        let body = Body::Directory(build_all(&[]).0);
        let top = Entry { name: Vec::new(), body, ..file(b"", "") };
        let (id, bytes) = encode_root(&top);
        assert_eq!(RootId::of(&bytes), id);
        assert_eq!(decode_root(&bytes).unwrap(), top);
        assert!(decode_root(&encode_root(&file(b"x", "")).1).is_err());
    }
}
