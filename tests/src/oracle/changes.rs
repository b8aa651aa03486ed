//! What changed between two scans, by the meaning that the product gives to its lists of changed files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::scan::{Kind, Node, Scan, printable};

/// A path that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, from `/` on.
    pub path: Vec<u8>,
    /// What happened, in one word.
    pub kind: String,
    /// What was there.
    pub before: Option<Side>,
    /// What is there.
    pub after: Option<Side>,
    /// Names that it was linked to and no longer is, or is now and was not, if they are there before and after. Only known
    /// where nothing but its links changed, which has the kind `links`.
    pub partners: Vec<Vec<u8>>,
}

/// The kind of a change of nothing but links. The product keeps a number for each group of names, so that a name which comes
/// or goes need not be a change of the others: such a change may be listed, as `metadata`, or be left out. But where a name
/// that was linked to another is no longer, or is now and was not, one of the two is listed.
pub const LINKS: &str = "links";

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The kind of the entry, in one word.
    pub entry: String,
    /// The permission bits, in octal.
    pub mode: String,
    /// The size; of a directory, that of all files beneath.
    pub size: u64,
    /// BLAKE3 of the bytes or of the target, in hexadecimal.
    pub checksum: Option<String>,
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{} {}", printable(&self.path), self.kind)?;
        for (word, side) in [("was", &self.before), ("is", &self.after)] {
            if let Some(Side { entry, mode, size, checksum }) = side {
                let checksum = checksum.as_deref().map_or("", |hash| &hash[..hash.len().min(8)]);
                write!(formatter, ", {word} {entry} {mode} {size} {checksum}")?;
            }
        }
        Ok(())
    }
}

/// Every path that changed, by path. A directory of which only the time changed did not.
pub fn changes(before: &Scan, after: &Scan) -> Vec<Change> {
    let (sizes_before, sizes_after) = (sizes(before), sizes(after));
    let paths: BTreeSet<&Vec<u8>> = before.0.keys().chain(after.0.keys()).collect();
    let mut changes = Vec::new();
    for path in paths {
        let old = before.0.get(path).filter(|node| is_kept(node));
        let new = after.0.get(path).filter(|node| is_kept(node));
        let kind = match (old, new) {
            (None, None) => continue,
            (None, Some(_)) => "added",
            (Some(_), None) => "deleted",
            (Some(old), Some(new)) => match difference(old, new) {
                Some(kind) => kind,
                None => continue,
            },
        };
        changes.push(Change {
            path: [b"/", path.as_slice()].concat(),
            kind: kind.to_owned(),
            before: old.map(|node| side(node, sizes_before.get(path))),
            after: new.map(|node| side(node, sizes_after.get(path))),
            partners: match (old, new) {
                (Some(old), Some(new)) if kind == LINKS => {
                    partners(path, [old, new], [before, after])
                }
                _ => Vec::new(),
            },
        });
    }
    changes
}

/// Whether the product keeps what is there; it has no use for sockets and devices.
pub fn is_kept(node: &Node) -> bool {
    !matches!(node.kind, Kind::Socket | Kind::CharacterDevice | Kind::BlockDevice)
}

fn difference(old: &Node, new: &Node) -> Option<&'static str> {
    if (old.kind, old.hash, &old.target) != (new.kind, new.hash, &new.target) {
        return Some("modified");
    }
    if old.mode != new.mode {
        return Some("mode");
    }
    let owner = (old.uid, old.gid) != (new.uid, new.gid);
    let time = old.kind != Kind::Directory && old.mtime != new.mtime;
    if owner || time || old.xattrs != new.xattrs {
        return Some("metadata");
    }
    (old.links != new.links).then_some(LINKS)
}

fn partners(path: &Vec<u8>, [old, new]: [&Node; 2], scans: [&Scan; 2]) -> Vec<Vec<u8>> {
    let stays =
        |other: &&Vec<u8>| *other != path && scans.iter().all(|scan| scan.0.contains_key(*other));
    let all: BTreeSet<&Vec<u8>> = old.links.iter().chain(&new.links).filter(stays).collect();
    let changed = |other: &&Vec<u8>| old.links.contains(other) != new.links.contains(other);
    all.into_iter().filter(changed).map(|other| [b"/", other.as_slice()].concat()).collect()
}

fn side(node: &Node, beneath: Option<&u64>) -> Side {
    let entry = match node.kind {
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::Fifo => "fifo",
        _ => "file",
    };
    let of_target = node.target.as_ref().map(|target| *blake3::hash(target).as_bytes());
    let checksum = node.hash.or(of_target).map(|hash| blake3::Hash::from_bytes(hash).to_hex());
    Side {
        entry: entry.to_owned(),
        mode: format!("{:04o}", node.mode),
        size: beneath.copied().unwrap_or(node.size),
        checksum: checksum.map(|hex| hex.to_string()),
    }
}

/// For each directory, the bytes of all files beneath; each name of a file counts.
fn sizes(scan: &Scan) -> BTreeMap<Vec<u8>, u64> {
    let mut sizes = BTreeMap::new();
    for (path, node) in &scan.0 {
        if node.kind == Kind::Directory {
            sizes.entry(path.clone()).or_insert(0);
        } else if node.kind == Kind::File {
            for directory in parents(path) {
                *sizes.entry(directory.to_vec()).or_insert(0) += node.size;
            }
        }
    }
    sizes
}

/// All directories above a path, the top included.
fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.map(|at| &path[..at]).chain((!path.is_empty()).then_some(&b""[..]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::scan::scan;

    #[test]
    fn each_kind_of_change_has_its_word() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["deleted", "bytes", "mode", "time", "same", "first", "kind"] {
            fs::write(at(name), name).unwrap();
        }
        for name in ["kept", "gone", "shut"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("gone/inner"), "12345").unwrap();
        let before = scan(dir.path()).unwrap();
        fs::remove_file(at("deleted")).unwrap();
        fs::write(at("bytes"), "other").unwrap();
        fs::set_permissions(at("mode"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::File::open(at("time")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        fs::hard_link(at("first"), at("second")).unwrap();
        fs::remove_file(at("kind")).unwrap();
        fs::create_dir(at("kind")).unwrap();
        fs::write(at("kept/new"), "").unwrap();
        fs::remove_dir_all(at("gone")).unwrap();
        fs::set_permissions(at("shut"), fs::Permissions::from_mode(0o700)).unwrap();
        drop(UnixListener::bind(at("socket")).unwrap());
        let found = changes(&before, &scan(dir.path()).unwrap());
        let words: Vec<(String, &str)> = found
            .iter()
            .map(|change| (String::from_utf8_lossy(&change.path).into_owned(), &*change.kind))
            .collect();
        let words: Vec<(&str, &str)> = words.iter().map(|(path, kind)| (&**path, *kind)).collect();
        let expected = [
            ("/bytes", "modified"),
            ("/deleted", "deleted"),
            ("/first", "links"),
            ("/gone", "deleted"),
            ("/gone/inner", "deleted"),
            ("/kept/new", "added"),
            ("/kind", "modified"),
            ("/mode", "mode"),
            ("/second", "added"),
            ("/shut", "mode"),
            ("/time", "metadata"),
        ];
        assert_eq!(words, expected);
        let gone = &found[3].before.clone().unwrap();
        assert_eq!((gone.size, gone.checksum.as_deref()), (5, None));
    }

    #[test]
    fn names_that_are_parted_know_of_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("one"), "same").unwrap();
        for name in ["two", "three"] {
            fs::hard_link(at("one"), at(name)).unwrap();
        }
        let before = scan(dir.path()).unwrap();
        let time = fs::metadata(at("one")).unwrap().modified().unwrap();
        for name in ["two", "three"] {
            fs::remove_file(at(name)).unwrap();
        }
        fs::write(at("two"), "same").unwrap();
        fs::File::options().write(true).open(at("two")).unwrap().set_modified(time).unwrap();
        let found = changes(&before, &scan(dir.path()).unwrap());
        let facts: Vec<_> = found
            .iter()
            .map(|change| (change.path.as_slice(), change.kind.as_str(), change.partners.clone()))
            .collect();
        let expected = [
            (&b"/one"[..], LINKS, vec![b"/two".to_vec()]),
            (b"/three", "deleted", Vec::new()),
            (b"/two", LINKS, vec![b"/one".to_vec()]),
        ];
        assert_eq!(facts, expected);
    }
}
