//! Directory nodes and roots: how entries become hashes.

pub(crate) mod edit;
pub(crate) mod raw;

use crate::codec::{Decoder, FormatError, put_bytes, put_varint};
use crate::entry::{Body, DirRef, Entry};
use crate::hash::{ContentId, NodeId, RootId};
use crate::node::raw::RawEntry;
use crate::path::is_name;

/// The most items that one node of an uncut directory holds.
const UNCUT: usize = 256;
/// A run ends where the hash of a name is below this, out of 256: runs of 128 on average.
const CUT_BELOW: u8 = 2;
const NODE_MAGIC: &[u8; 3] = b"OTN";
const ROOT_MAGIC: &[u8; 3] = b"OTR";
/// The version of what holds no conflict.
const PLAIN: u8 = 1;
/// The version of what holds a conflict, at any depth.
const CONFLICTED: u8 = 2;

/// A decoded node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Entries, sorted by name.
    Leaf(Vec<Entry>),
    /// Nodes of the level below, sorted by their first names.
    Index(Vec<Child>),
}

impl Node {
    /// What the node above a node of that level has to say of it: its first name, hashes and sums, all computed anew.
    pub fn describe(&self, level: u8) -> Child {
        let mut ignored = |_: EncodedNode| {};
        match self {
            Self::Leaf(entries) => {
                let items: Vec<Item<'_>> = entries.iter().map(Item::New).collect();
                leaf(&items, &mut ignored)
            }
            Self::Index(children) => index(level, children, &mut ignored),
        }
    }
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
    let items: Vec<Item<'_>> = entries.iter().map(Item::New).collect();
    pack(&items, emit)
}

/// An entry on its way into a node.
enum Item<'a> {
    /// As another node has it.
    Old(RawEntry<'a>),
    New(&'a Entry),
}

impl Item<'_> {
    fn name(&self) -> &[u8] {
        match self {
            Self::Old(entry) => entry.name,
            Self::New(entry) => &entry.name,
        }
    }

    fn encode(&self, full: &mut Vec<u8>, content: &mut Vec<u8>) {
        match self {
            Self::Old(entry) => {
                full.extend_from_slice(entry.bytes);
                entry.encode_content(content);
            }
            Self::New(entry) => {
                entry.encode(full);
                entry.encode_content(content);
            }
        }
    }

    fn add_to(&self, sums: &mut Sums) {
        let (bytes, entries, conflicts) = match self {
            Self::Old(entry) => (entry.size, entry.beneath, entry.conflicts()),
            Self::New(entry) => match &entry.body {
                Body::File { size, .. } => (*size, 0, entry.conflicts()),
                Body::Directory(dir) => (dir.bytes, dir.entries, entry.conflicts()),
                Body::Symlink { .. } | Body::Fifo => (0, 0, entry.conflicts()),
            },
        };
        // Sums that come from a disk are not trusted to stay in range.
        sums.bytes = sums.bytes.saturating_add(bytes);
        sums.entries = sums.entries.saturating_add(entries);
        sums.conflicts = sums.conflicts.saturating_add(conflicts);
    }
}

/// Makes the nodes of all entries of a directory.
fn pack(items: &[Item<'_>], emit: &mut impl FnMut(EncodedNode)) -> DirRef {
    if items.len() <= UNCUT {
        return leaf(items, emit).dir;
    }
    let runs = items.split_inclusive(|item| ends_run(item.name(), 0));
    let children = runs.map(|run| leaf(run, emit)).collect();
    stack(children, emit)
}

/// Makes the indices over the leaves of a directory that has more than one.
fn stack(mut children: Vec<Child>, emit: &mut impl FnMut(EncodedNode)) -> DirRef {
    for level in 1.. {
        if children.len() <= UNCUT {
            return index(level, &children, emit).dir;
        }
        let runs = children.split_inclusive(|child| ends_run(&child.first, usize::from(level)));
        children = runs.map(|run| index(level, run, emit)).collect();
    }
    unreachable!("every level has fewer runs than the one below")
}

/// Whether a run ends with a name: its hash alone decides, so that equal sets are cut equally.
fn ends_run(name: &[u8], byte: usize) -> bool {
    // Past the last byte of the hash every item ends its run; no directory is that large.
    blake3::hash(name).as_bytes().get(byte).is_none_or(|&value| value < CUT_BELOW)
}

fn leaf(items: &[Item<'_>], emit: &mut impl FnMut(EncodedNode)) -> Child {
    let mut sums = Sums { entries: items.len() as u64, ..Sums::default() };
    items.iter().for_each(|item| item.add_to(&mut sums));
    let mut full = header(sums.version(), 0, items.len());
    let mut content = content_header(0, items.len());
    items.iter().for_each(|item| item.encode(&mut full, &mut content));
    let first = items.first().map_or_else(Vec::new, |item| item.name().to_vec());
    finish(first, full, &content, &sums, items.len() as u64, emit)
}

fn index(level: u8, children: &[Child], emit: &mut impl FnMut(EncodedNode)) -> Child {
    let sum = |part: fn(&Child) -> u64| children.iter().map(part).fold(0, u64::saturating_add);
    let sums = Sums {
        bytes: sum(|child| child.dir.bytes),
        entries: sum(|child| child.dir.entries),
        conflicts: sum(|child| child.dir.conflicts),
    };
    let mut full = header(sums.version(), level, children.len());
    let mut content = content_header(level, children.len());
    for child in children {
        put_bytes(&mut full, &child.first);
        full.extend_from_slice(&child.dir.node.0);
        full.extend_from_slice(&child.dir.content.0);
        put_varint(&mut full, child.dir.bytes);
        put_varint(&mut full, child.dir.entries);
        put_varint(&mut full, child.direct);
        if sums.version() == CONFLICTED {
            put_varint(&mut full, child.dir.conflicts);
        }
        put_bytes(&mut content, &child.first);
        content.extend_from_slice(&child.dir.content.0);
    }
    let first = children.first().map_or_else(Vec::new, |child| child.first.clone());
    finish(first, full, &content, &sums, sum(|child| child.direct), emit)
}

/// What is beneath a node.
#[derive(Default)]
struct Sums {
    bytes: u64,
    entries: u64,
    conflicts: u64,
}

impl Sums {
    fn version(&self) -> u8 {
        if self.conflicts > 0 { CONFLICTED } else { PLAIN }
    }
}

fn finish(
    first: Vec<u8>,
    full: Vec<u8>,
    content: &[u8],
    sums: &Sums,
    direct: u64,
    emit: &mut impl FnMut(EncodedNode),
) -> Child {
    let (node, content) = (NodeId::of(&full), ContentId::of(content));
    let Sums { bytes, entries, conflicts } = *sums;
    emit((node, full));
    Child { first, dir: DirRef { node, content, bytes, entries, conflicts }, direct }
}

fn header(version: u8, level: u8, count: usize) -> Vec<u8> {
    let mut out = NODE_MAGIC.to_vec();
    out.extend_from_slice(&[version, level]);
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
    let mut input = Decoder::new(bytes);
    let foreign = FormatError("it is not a directory node of this format");
    let version = decode_version(&mut input, NODE_MAGIC, foreign)?;
    let level = input.byte()?;
    let count = input.varint()?;
    let (node, conflicts) = if level == 0 {
        let entries = decode_sorted(&mut input, count, Entry::decode, |entry| &entry.name)?;
        let conflicts = entries.iter().any(|entry| entry.conflicts() > 0);
        (Node::Leaf(entries), conflicts)
    } else {
        let child = |input: &mut Decoder<'_>| decode_child(input, version);
        let children = decode_sorted(&mut input, count, child, |child| &child.first)?;
        let conflicts = children.iter().any(|child| child.dir.conflicts > 0);
        (Node::Index(children), conflicts)
    };
    input.end()?;
    check_version(version, conflicts)?;
    Ok(node)
}

fn decode_version(
    input: &mut Decoder<'_>,
    magic: &[u8; 3],
    foreign: FormatError,
) -> Result<u8, FormatError> {
    let found = input.take(magic.len())? == magic;
    match input.byte()? {
        version @ (PLAIN | CONFLICTED) if found => Ok(version),
        _ => Err(foreign),
    }
}

/// Each value has one encoding, so the version must be the one that an encoder would have chosen.
fn check_version(version: u8, conflicts: bool) -> Result<(), FormatError> {
    match (version == CONFLICTED) == conflicts {
        true => Ok(()),
        false => Err(FormatError("its version does not say whether it has conflicts")),
    }
}

fn decode_sorted<T>(
    input: &mut Decoder<'_>,
    count: u64,
    item: impl Fn(&mut Decoder<'_>) -> Result<T, FormatError>,
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

fn decode_child(input: &mut Decoder<'_>, version: u8) -> Result<Child, FormatError> {
    let first = input.bytes()?.to_vec();
    let (node, content) = (NodeId(input.array()?), ContentId(input.array()?));
    let (bytes, entries, direct) = (input.varint()?, input.varint()?, input.varint()?);
    let conflicts = if version == CONFLICTED { input.varint()? } else { 0 };
    Ok(Child { first, dir: DirRef { node, content, bytes, entries, conflicts }, direct })
}

/// Encodes the top directory's own entry.
pub(crate) fn encode_root(top: &Entry) -> (RootId, Vec<u8>) {
    let mut out = ROOT_MAGIC.to_vec();
    out.push(if top.conflicts() > 0 { CONFLICTED } else { PLAIN });
    top.encode(&mut out);
    (RootId::of(&out), out)
}

/// Decodes a root whose hash was verified.
pub(crate) fn decode_root(bytes: &[u8]) -> Result<Entry, FormatError> {
    let mut input = Decoder::new(bytes);
    let foreign = FormatError("it is not a root of this format");
    let version = decode_version(&mut input, ROOT_MAGIC, foreign)?;
    let top = Entry::decode(&mut input)?;
    input.end()?;
    check_version(version, top.conflicts() > 0)?;
    match (&top.body, top.name.is_empty()) {
        (Body::Directory(_), true) => Ok(top),
        _ => Err(FormatError("a root is not a nameless directory")),
    }
}

#[cfg(test)]
mod tests;
