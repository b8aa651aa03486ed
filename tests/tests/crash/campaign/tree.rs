//! What a directory holds, as far as commands decide it: names, kinds, modes, bytes. Times are the machine's.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// One name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Directory(u32),
    File(u32, Vec<u8>),
    Link(String),
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory(mode) => write!(f, "directory {mode:o}"),
            Self::File(mode, bytes) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned();
                write!(f, "file {mode:o}, {} bytes, {start:?}", bytes.len())
            }
            Self::Link(target) => write!(f, "link to {target}"),
        }
    }
}

/// All names below a directory.
pub(crate) type Tree = BTreeMap<String, Item>;

/// Reads a directory.
pub(crate) fn read(top: &Path) -> Tree {
    let mut tree = Tree::new();
    read_into(top, "", &mut tree);
    tree
}

fn read_into(dir: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
        let metadata = entry.metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let path = entry.path();
        let item = if metadata.is_symlink() {
            Item::Link(fs::read_link(path).unwrap().display().to_string())
        } else if metadata.is_dir() {
            read_into(&path, &name, tree);
            Item::Directory(mode)
        } else {
            Item::File(mode, fs::read(path).unwrap())
        };
        tree.insert(name, item);
    }
}

/// The names that differ.
pub(crate) fn differences(one: &Tree, other: &Tree) -> Vec<String> {
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

/// The differences in words, a few of them.
pub(crate) fn explain(found: &Tree, wanted: &Tree) -> String {
    let shown = |item: Option<&Item>| item.map_or("nothing".to_owned(), ToString::to_string);
    let all = differences(found, wanted);
    let lines: Vec<String> = all
        .iter()
        .take(5)
        .map(|name| format!("{name}: {} for {}", shown(found.get(name)), shown(wanted.get(name))))
        .collect();
    format!("{} differ; {}", all.len(), lines.join("; "))
}
