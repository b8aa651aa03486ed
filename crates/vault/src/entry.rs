//! What a tree records of one file system entry.

use crate::codec::{FormatError, Input, put_bytes, put_varint, put_zigzag};
use crate::hash::{BlobId, ContentId, NodeId};

/// A time to the nanosecond, before or after 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mtime {
    /// Whole seconds since 1970, rounded down.
    pub seconds: i64,
    /// Nanoseconds on top, below a thousand million.
    pub nanoseconds: u32,
}

impl Mtime {
    /// The current time.
    pub fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        Self { seconds: now.tv_sec, nanoseconds: now.tv_nsec as u32 }
    }
}

/// An extended attribute: name and value.
pub type Xattr = (Vec<u8>, Vec<u8>);

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
    Directory(DirRef),
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

const HAS_XATTRS: u8 = 1;
const HAS_GROUP: u8 = 2;

impl Entry {
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

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.name);
        out.push(self.kind() as u8);
        let xattrs = if self.meta.xattrs.is_empty() { 0 } else { HAS_XATTRS };
        out.push(xattrs | if self.group.is_some() { HAS_GROUP } else { 0 });
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
        out.push(u8::from(self.is_executable()));
        out.extend_from_slice(&self.content_hash());
    }

    pub(crate) fn decode(input: &mut Input<'_>) -> Result<Self, FormatError> {
        let name = input.bytes()?.to_vec();
        let kind = input.byte()?;
        let flags = input.byte()?;
        if flags & !(HAS_XATTRS | HAS_GROUP) != 0 {
            return Err(FormatError("an entry has unknown flags"));
        }
        let mut meta = decode_meta(input)?;
        let body = decode_body(kind, input)?;
        if flags & HAS_XATTRS != 0 {
            meta.xattrs = decode_xattrs(input)?;
        }
        let group = match flags & HAS_GROUP {
            0 => None,
            _ => Some(u64::from_le_bytes(input.array()?)),
        };
        Ok(Self { name, meta, group, body })
    }
}

fn decode_meta(input: &mut Input<'_>) -> Result<Meta, FormatError> {
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

fn decode_body(kind: u8, input: &mut Input<'_>) -> Result<Body, FormatError> {
    Ok(match kind {
        1 => Body::File { size: input.varint()?, blob: BlobId(input.array()?) },
        2 => {
            let (bytes, entries) = (input.varint()?, input.varint()?);
            let (node, content) = (NodeId(input.array()?), ContentId(input.array()?));
            Body::Directory(DirRef { node, content, bytes, entries })
        }
        3 => Body::Symlink { target: input.bytes()?.to_vec() },
        4 => Body::Fifo,
        _ => return Err(FormatError("an entry has an unknown kind")),
    })
}

fn decode_xattrs(input: &mut Input<'_>) -> Result<Vec<Xattr>, FormatError> {
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

/// Whether bytes can be the name of an entry.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name != b"."
        && name != b".."
        && !name.iter().any(|&byte| byte == b'/' || byte == 0)
}
