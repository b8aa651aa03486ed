//! What a tree records of one file system entry.

pub(crate) mod conflict_kind;
pub(crate) mod record;

use offshoot_host::{Mtime, Xattr};

use crate::codec::{Decoder, FormatError, put_bytes, put_varint, put_zigzag};
use crate::entry::record::ConflictRecord;
use crate::hash::{BlobId, ContentId, NodeId};

/// Metadata that every kind of entry has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The twelve permission bits.
    pub mode: u16,
    /// The owner, as recorded.
    pub uid: u32,
    /// The group, as recorded.
    pub gid: u32,
    /// When the content was last changed.
    pub mtime: Mtime,
    /// Extended attributes of the `user.` namespace, sorted by name.
    pub xattrs: Vec<Xattr>,
}

impl Meta {
    /// Metadata of something new that this process makes.
    pub fn of_new(mode: u16) -> Self {
        Self {
            mode,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            mtime: Mtime::now(),
            xattrs: Vec::new(),
        }
    }
}

/// A directory by its hashes, with the sums of what is beneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirRef {
    /// The node, with all metadata beneath.
    pub node: NodeId,
    /// The content beneath.
    pub content: ContentId,
    /// The bytes of all files beneath; each name of a hard link counts.
    pub bytes: u64,
    /// How many entries are beneath, at any depth.
    pub entries: u64,
    /// How many of them somebody has to decide about.
    pub conflicts: u64,
}

/// What an entry is, and what belongs to that kind alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A regular file.
    File {
        /// Its length.
        size: u64,
        /// Its bytes.
        blob: BlobId,
    },
    /// A directory.
    Directory(Box<DirRef>),
    /// A symbolic link.
    Symlink {
        /// What it points at, as it is written.
        target: Vec<u8>,
    },
    /// A named pipe.
    Fifo,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name; empty only for the top directory.
    pub name: Vec<u8>,
    /// Its metadata.
    pub meta: Meta,
    /// Shared by the names of one inode.
    pub group: Option<u64>,
    /// The rest.
    pub body: Body,
    /// What somebody has to decide about it, if a merge left that open.
    pub conflict: Option<Box<ConflictRecord>>,
}

/// Where the parts of an entry are in its encoding.
pub(crate) struct Skipped<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: u8,
    pub(crate) executable: bool,
    /// The length of a file; of a directory, of all files beneath.
    pub(crate) size: u64,
    /// The entries beneath.
    pub(crate) beneath: u64,
    /// The content's hash; of a link, its target.
    pub(crate) content: &'a [u8],
}

/// The kind of an entry. The numbers are part of the storage format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntryKind {
    /// A regular file.
    File = 1,
    /// A directory.
    Directory = 2,
    /// A symbolic link.
    Symlink = 3,
    /// A named pipe.
    Fifo = 4,
}

/// The length of a hash.
const HASH: usize = 32;
const HAS_XATTRS: u8 = 1;
const HAS_GROUP: u8 = 2;
const HAS_CONFLICT: u8 = 4;
const HAS_CONFLICTS_BENEATH: u8 = 8;
const ALL_FLAGS: u8 = HAS_XATTRS | HAS_GROUP | HAS_CONFLICT | HAS_CONFLICTS_BENEATH;
/// In the content encoding, beside the bit for execution.
const CONTENT_CONFLICT: u8 = 2;

impl Entry {
    /// An entry without a name, a link group or a conflict.
    pub fn new(meta: Meta, body: Body) -> Self {
        Self { name: Vec::new(), meta, group: None, body, conflict: None }
    }

    /// The kind of the entry.
    pub fn kind(&self) -> EntryKind {
        match self.body {
            Body::File { .. } => EntryKind::File,
            Body::Directory(_) => EntryKind::Directory,
            Body::Symlink { .. } => EntryKind::Symlink,
            Body::Fifo => EntryKind::Fifo,
        }
    }

    /// Whether it is a file that may be executed by anybody.
    pub fn is_executable(&self) -> bool {
        self.kind() == EntryKind::File && self.meta.mode & 0o111 != 0
    }

    /// The size as `stat` shows it; for a directory the sum of what is beneath.
    pub fn size(&self) -> u64 {
        match &self.body {
            Body::File { size, .. } => *size,
            Body::Directory(dir) => dir.bytes,
            Body::Symlink { target } => target.len() as u64,
            Body::Fifo => 0,
        }
    }

    /// The directory, if it is one.
    pub fn directory(&self) -> Option<&DirRef> {
        match &self.body {
            Body::Directory(dir) => Some(dir),
            _ => None,
        }
    }

    /// How many entries somebody has to decide about, this one and those beneath it.
    pub fn conflicts(&self) -> u64 {
        let beneath = self.directory().map_or(0, |dir| dir.conflicts);
        beneath.saturating_add(u64::from(self.conflict.is_some()))
    }

    /// What it is, and what every version in its conflict is: all that must be there while it is.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let versions = self.conflict.iter().flat_map(|record| record.versions());
        std::iter::once(&self.body).chain(versions.map(|version| &version.entry.body))
    }

    /// The directories among its [`bodies`](Self::bodies).
    pub fn directories(&self) -> impl Iterator<Item = &DirRef> {
        self.bodies().filter_map(|body| match body {
            Body::Directory(dir) => Some(&**dir),
            _ => None,
        })
    }

    /// The hash that stands for its content: equal hashes of one kind mean equal content.
    pub fn content_hash(&self) -> [u8; 32] {
        match &self.body {
            Body::File { blob, .. } => blob.0,
            Body::Directory(dir) => dir.content.0,
            Body::Symlink { target } => *blake3::hash(target).as_bytes(),
            Body::Fifo => [0; 32],
        }
    }

    /// Whether two entries have the same content: kind, executable bit and bytes.
    pub fn same_content(&self, other: &Self) -> bool {
        self.kind() == other.kind()
            && self.is_executable() == other.is_executable()
            && self.content_hash() == other.content_hash()
    }

    /// Appends it as a node has it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.name);
        self.encode_nameless(out);
    }

    /// Everything but the name.
    fn encode_nameless(&self, out: &mut Vec<u8>) {
        out.push(self.kind() as u8);
        out.push(self.flags());
        out.extend_from_slice(&self.meta.mode.to_le_bytes());
        put_varint(out, u64::from(self.meta.uid));
        put_varint(out, u64::from(self.meta.gid));
        put_zigzag(out, self.meta.mtime.seconds);
        put_varint(out, u64::from(self.meta.mtime.nanoseconds));
        self.encode_body(out);
        if !self.meta.xattrs.is_empty() {
            put_varint(out, self.meta.xattrs.len() as u64);
            for (name, value) in &self.meta.xattrs {
                put_bytes(out, name);
                put_bytes(out, value);
            }
        }
        if let Some(group) = self.group {
            out.extend_from_slice(&group.to_le_bytes());
        }
        if let Some(dir) = self.directory().filter(|dir| dir.conflicts > 0) {
            put_varint(out, dir.conflicts);
        }
        if let Some(record) = &self.conflict {
            record.encode(out);
        }
    }

    fn flags(&self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        flag(!self.meta.xattrs.is_empty(), HAS_XATTRS)
            | flag(self.group.is_some(), HAS_GROUP)
            | flag(self.conflict.is_some(), HAS_CONFLICT)
            | flag(self.directory().is_some_and(|dir| dir.conflicts > 0), HAS_CONFLICTS_BENEATH)
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        match &self.body {
            Body::File { size, blob } => {
                put_varint(out, *size);
                out.extend_from_slice(&blob.0);
            }
            Body::Directory(dir) => {
                put_varint(out, dir.bytes);
                put_varint(out, dir.entries);
                out.extend_from_slice(&dir.node.0);
                out.extend_from_slice(&dir.content.0);
            }
            Body::Symlink { target } => put_bytes(out, target),
            Body::Fifo => {}
        }
    }

    pub(crate) fn encode_content(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.name);
        out.push(self.kind() as u8);
        let conflict = if self.conflict.is_some() { CONTENT_CONFLICT } else { 0 };
        out.push(u8::from(self.is_executable()) | conflict);
        out.extend_from_slice(&self.content_hash());
        if let Some(record) = &self.conflict {
            out.extend_from_slice(&record.hash());
        }
    }

    pub(crate) fn decode(input: &mut Decoder<'_>) -> Result<Self, FormatError> {
        let name = input.bytes()?.to_vec();
        Self::decode_nameless(name, input, ALL_FLAGS)
    }

    /// Goes past an entry whose hash was verified and says where its parts are; nothing for one with conflicts, which has to be
    /// decoded.
    pub(crate) fn skip<'a>(input: &mut Decoder<'a>) -> Result<Option<Skipped<'a>>, FormatError> {
        let name = input.bytes()?;
        let (kind, flags) = (input.byte()?, input.byte()?);
        if flags & !(HAS_XATTRS | HAS_GROUP) != 0 {
            return Ok(None);
        }
        let mode = u16::from_le_bytes(input.array()?);
        // The owner, the group, and both parts of the time.
        for _ in 0..4 {
            input.varint()?;
        }
        let (size, beneath, content) = match kind {
            1 => (input.varint()?, 0, input.take(HASH)?),
            2 => {
                let (bytes, entries) = (input.varint()?, input.varint()?);
                input.take(HASH)?;
                (bytes, entries, input.take(HASH)?)
            }
            3 => (0, 0, input.bytes()?),
            4 => (0, 0, input.take(0)?),
            _ => return Err(FormatError("an entry has an unknown kind")),
        };
        if flags & HAS_XATTRS != 0 {
            for _ in 0..input.varint()?.saturating_mul(2) {
                input.bytes()?;
            }
        }
        if flags & HAS_GROUP != 0 {
            input.take(8)?;
        }
        let executable = kind == EntryKind::File as u8 && mode & 0o111 != 0;
        Ok(Some(Skipped { name, kind, executable, size, beneath, content }))
    }

    /// Everything but the name; flags that are not `known` are refused.
    fn decode_nameless(
        name: Vec<u8>,
        input: &mut Decoder<'_>,
        known: u8,
    ) -> Result<Self, FormatError> {
        let kind = input.byte()?;
        let flags = input.byte()?;
        if flags & !known != 0 {
            return Err(FormatError("an entry has unknown flags"));
        }
        let mut meta = decode_meta(input)?;
        let mut body = decode_body(kind, input)?;
        if flags & HAS_XATTRS != 0 {
            meta.xattrs = decode_xattrs(input)?;
        }
        let group = match flags & HAS_GROUP {
            0 => None,
            _ => Some(u64::from_le_bytes(input.array()?)),
        };
        if flags & HAS_CONFLICTS_BENEATH != 0 {
            decode_conflicts_beneath(&mut body, input)?;
        }
        let conflict = match flags & HAS_CONFLICT {
            0 => None,
            _ => Some(Box::new(ConflictRecord::decode(input)?)),
        };
        Ok(Self { name, meta, group, body, conflict })
    }
}

fn decode_conflicts_beneath(body: &mut Body, input: &mut Decoder<'_>) -> Result<(), FormatError> {
    match (body, input.varint()?) {
        (Body::Directory(dir), count) if count > 0 => {
            dir.conflicts = count;
            Ok(())
        }
        _ => Err(FormatError("an entry that cannot have any says it has conflicts beneath")),
    }
}

fn decode_meta(input: &mut Decoder<'_>) -> Result<Meta, FormatError> {
    let mode = u16::from_le_bytes(input.array()?);
    if mode > 0o7777 {
        return Err(FormatError("a mode has more than twelve bits"));
    }
    let (uid, gid) = (input.varint_u32()?, input.varint_u32()?);
    let mtime = Mtime { seconds: input.zigzag()?, nanoseconds: input.varint_u32()? };
    if mtime.nanoseconds >= 1_000_000_000 {
        return Err(FormatError("a time has too many nanoseconds"));
    }
    Ok(Meta { mode, uid, gid, mtime, xattrs: Vec::new() })
}

fn decode_body(kind: u8, input: &mut Decoder<'_>) -> Result<Body, FormatError> {
    Ok(match kind {
        1 => Body::File { size: input.varint()?, blob: BlobId(input.array()?) },
        2 => {
            let (bytes, entries) = (input.varint()?, input.varint()?);
            let (node, content) = (NodeId(input.array()?), ContentId(input.array()?));
            Body::Directory(DirRef { node, content, bytes, entries, conflicts: 0 }.into())
        }
        3 => Body::Symlink { target: input.bytes()?.to_vec() },
        4 => Body::Fifo,
        _ => return Err(FormatError("an entry has an unknown kind")),
    })
}

fn decode_xattrs(input: &mut Decoder<'_>) -> Result<Vec<Xattr>, FormatError> {
    let count = input.varint()?;
    let mut xattrs: Vec<Xattr> = Vec::new();
    for _ in 0..count {
        let (name, value) = (input.bytes()?.to_vec(), input.bytes()?.to_vec());
        if xattrs.last().is_some_and(|(before, _)| *before >= name) {
            return Err(FormatError("attributes are out of order"));
        }
        xattrs.push((name, value));
    }
    if xattrs.is_empty() { Err(FormatError("an attribute list is empty")) } else { Ok(xattrs) }
}
