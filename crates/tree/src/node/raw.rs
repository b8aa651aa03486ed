//! Entries in their encoding: skipped, compared and copied without being decoded.
//!
//! Of a large directory a change touches a few entries. Decoding the others, to encode them again as they were, would cost more
//! than everything else.

use super::{Child, NODE_MAGIC, Node, PLAIN, decode};
use crate::codec::{Decoder, FormatError, put_bytes};
use crate::entry::{Body, Entry};
use crate::path::is_name;

/// Where the level of a node is, behind its magic and version.
const LEVEL: usize = 4;

/// The entries of a leaf, or the nodes below an index.
pub(crate) enum RawNode<'a> {
    Leaf(Vec<RawEntry<'a>>),
    /// The nodes, and whether these are leaves.
    Index(Vec<Child>, bool),
}

/// An entry in its encoding, with what the node above it has to know.
#[derive(Clone)]
pub(crate) struct RawEntry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) bytes: &'a [u8],
    content: Content<'a>,
    /// The bytes of files, its own or beneath it.
    pub(super) size: u64,
    /// The entries beneath it.
    pub(super) beneath: u64,
}

/// What the content encoding of an entry is made of.
#[derive(Clone)]
enum Content<'a> {
    Hash {
        kind: u8,
        executable: bool,
        hash: &'a [u8],
    },
    Link(&'a [u8]),
    Nothing,
    /// One that is too rare to be taken apart here.
    Decoded(Box<Entry>),
}

impl<'a> RawNode<'a> {
    /// Whether a node holds entries.
    pub(crate) fn is_leaf(bytes: &[u8]) -> bool {
        bytes.get(LEVEL).is_none_or(|level| *level == 0)
    }

    /// Takes a node apart whose hash was verified.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, FormatError> {
        if !Self::is_leaf(bytes) {
            return match decode(bytes)? {
                Node::Index(children) => Ok(Self::Index(children, bytes[LEVEL] == 1)),
                Node::Leaf(_) => Err(FormatError("an index is no index")),
            };
        }
        let (mut input, count) = Self::begin_leaf(bytes)?;
        let mut entries: Vec<RawEntry<'a>> =
            Vec::with_capacity(usize::try_from(count).unwrap_or(0).min(1024));
        for _ in 0..count {
            let entry = RawEntry::read(&mut input)?;
            if !is_name(entry.name) {
                return Err(FormatError("an entry has an impossible name"));
            }
            if entries.last().is_some_and(|last| last.name >= entry.name) {
                return Err(FormatError("entries are out of order"));
            }
            entries.push(entry);
        }
        input.end()?;
        Ok(Self::Leaf(entries))
    }

    /// The entry of a name in a leaf whose hash was verified. What comes behind it is not looked at.
    pub(crate) fn find(leaf: &'a [u8], name: &[u8]) -> Result<Option<RawEntry<'a>>, FormatError> {
        let (mut input, count) = Self::begin_leaf(leaf)?;
        for _ in 0..count {
            let entry = RawEntry::read(&mut input)?;
            if entry.name >= name {
                return Ok(Some(entry).filter(|entry| entry.name == name));
            }
        }
        Ok(None)
    }

    /// What follows the head of a leaf, and how many entries that is.
    fn begin_leaf(bytes: &'a [u8]) -> Result<(Decoder<'a>, u64), FormatError> {
        let mut input = Decoder::new(bytes);
        let head = input.take(LEVEL + 1)?;
        if !head.starts_with(NODE_MAGIC) || head[NODE_MAGIC.len()] != PLAIN {
            // One with conflicts, or of a kind that is refused: looked at with all care.
            decode(bytes)?;
        }
        let count = input.varint()?;
        Ok((input, count))
    }
}

impl<'a> RawEntry<'a> {
    fn read(input: &mut Decoder<'a>) -> Result<Self, FormatError> {
        let start = input.rest();
        let skipped = Entry::skip(input)?;
        let bytes = &start[..start.len() - input.left()];
        let Some(skipped) = skipped else {
            let mut again = Decoder::new(start);
            let entry = Entry::decode(&mut again)?;
            *input = again;
            let bytes = &start[..start.len() - input.left()];
            let name = Decoder::new(start).bytes()?;
            let (size, beneath) = match &entry.body {
                Body::File { size, .. } => (*size, 0),
                Body::Directory(dir) => (dir.bytes, dir.entries),
                Body::Symlink { .. } | Body::Fifo => (0, 0),
            };
            return Ok(Self {
                name,
                bytes,
                content: Content::Decoded(Box::new(entry)),
                size,
                beneath,
            });
        };
        Ok(Self {
            name: skipped.name,
            bytes,
            content: match skipped.kind {
                3 => Content::Link(skipped.content),
                4 => Content::Nothing,
                kind => {
                    Content::Hash { kind, executable: skipped.executable, hash: skipped.content }
                }
            },
            size: skipped.size,
            beneath: skipped.beneath,
        })
    }

    /// The entry itself.
    pub(crate) fn decode(&self) -> Result<Entry, FormatError> {
        match &self.content {
            Content::Decoded(entry) => Ok((**entry).clone()),
            _ => Entry::decode(&mut Decoder::new(self.bytes)),
        }
    }

    pub(super) fn conflicts(&self) -> u64 {
        match &self.content {
            Content::Decoded(entry) => entry.conflicts(),
            _ => 0,
        }
    }

    pub(super) fn encode_content(&self, out: &mut Vec<u8>) {
        let mut put = |kind: u8, executable: bool, hash: &[u8]| {
            put_bytes(out, self.name);
            out.extend_from_slice(&[kind, u8::from(executable)]);
            out.extend_from_slice(hash);
        };
        match &self.content {
            Content::Hash { kind, executable, hash } => put(*kind, *executable, hash),
            Content::Link(target) => put(3, false, blake3::hash(target).as_bytes()),
            Content::Nothing => put(4, false, &[0; 32]),
            Content::Decoded(entry) => entry.encode_content(out),
        }
    }
}
