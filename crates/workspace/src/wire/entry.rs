//! Files, directories, symlinks and fifos as documents.

use offshoot_protocol::{EntryDoc, Text};
use offshoot_tree::{BlobId, Body, Entry, EntryKind, VaultPath};

use super::time::mtime;
use crate::words;

/// A path inside a vault.
pub fn path(path: &VaultPath) -> Text {
    Text::new(&path.to_bytes())
}

/// A file, directory, symlink or fifo at a path.
pub fn entry(at: &VaultPath, entry: &Entry) -> EntryDoc {
    let xattrs: Vec<(Text, Text)> =
        entry.meta.xattrs.iter().map(|(name, value)| (Text::new(name), Text::new(value))).collect();
    EntryDoc {
        path: path(at),
        name: Text::new(at.name().unwrap_or(b"/")),
        kind: words::entry_kind(entry.kind()),
        mode: mode(entry),
        uid: entry.meta.uid,
        gid: entry.meta.gid,
        size: entry.size(),
        mtime: mtime(entry.meta.mtime),
        checksum: checksum(entry).filter(|_| entry.kind() == EntryKind::File),
        target: match &entry.body {
            Body::Symlink { target } => Some(Text::new(target)),
            _ => None,
        },
        entries: entry.directory().map(|dir| dir.entries),
        xattrs: (!xattrs.is_empty()).then_some(xattrs),
        link_group: entry.group.map(|group| format!("{group:016x}")),
    }
}

/// The checksum of content that has one of its own.
pub(crate) fn checksum(entry: &Entry) -> Option<String> {
    match entry.kind() {
        EntryKind::File | EntryKind::Symlink => Some(BlobId(entry.content_hash()).to_string()),
        EntryKind::Directory | EntryKind::Fifo => None,
    }
}

pub(super) fn mode(entry: &Entry) -> String {
    format!("{:04o}", entry.meta.mode)
}
