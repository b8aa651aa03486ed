//! The names that git would give the directories of an index.

use std::collections::{BTreeMap, BTreeSet};

use super::Index;
use crate::git::object_hash::ObjectHash;

/// The mode of a directory, as a number and as a tree has it.
const DIRECTORY: u32 = 0o40_000;

/// The id of each directory by its path, as bytes, that git would store for an index. Nothing for those that have unmerged files, or ones that are
/// only announced. Ids have so many bytes.
pub(in crate::git) fn index_trees(index: &Index, width: usize) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut holders: BTreeMap<Vec<u8>, BTreeSet<Named>> =
        BTreeMap::from([(Vec::new(), BTreeSet::new())]);
    let (mut trees, mut unknown) = (BTreeMap::new(), BTreeSet::new());
    for ((path, stage), entry) in index {
        // A directory that a sparse checkout leaves out ends with a slash.
        let path = path.strip_suffix(b"/").unwrap_or(path);
        if *stage != 0 || entry.announced {
            unknown.insert(above(path).to_vec());
        }
        if entry.mode == DIRECTORY {
            trees.insert(path.to_vec(), entry.object.clone());
        }
        holders.entry(above(path).to_vec()).or_default().insert(Named::new(
            path,
            entry.mode,
            &entry.object,
        ));
        for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            holders.entry(path[..at].to_vec()).or_default();
        }
    }
    // Those in others first, and the top last.
    let mut order: Vec<Vec<u8>> = holders.keys().cloned().collect();
    let depth = |path: &Vec<u8>| path.iter().filter(|byte| **byte == b'/').count();
    order.sort_by_key(|path| std::cmp::Reverse((!path.is_empty(), depth(path))));
    for path in order {
        match id_of(&holders[&path], width).filter(|_| !unknown.contains(&path)) {
            Some(id) => {
                if !path.is_empty() {
                    let named = Named::new(&path, DIRECTORY, &id);
                    holders.entry(above(&path).to_vec()).or_default().insert(named);
                }
                trees.insert(path, id);
            }
            None => drop(unknown.insert(above(&path).to_vec())),
        }
    }
    trees
}

/// An entry of a tree. Git sorts directories as if a slash were behind their names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    key: Vec<u8>,
    text: Vec<u8>,
}

impl Named {
    fn new(path: &[u8], mode: u32, id: &[u8]) -> Self {
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let name = &path[start..];
        let text = [format!("{mode:o} ").as_bytes(), name, b"\0", id].concat();
        let slash: &[u8] = if mode == DIRECTORY { b"/" } else { b"" };
        Self { key: [name, slash].concat(), text }
    }
}

fn above(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |at| &path[..at])
}

fn id_of(entries: &BTreeSet<Named>, width: usize) -> Option<Vec<u8>> {
    let content: Vec<u8> = entries.iter().flat_map(|entry| entry.text.iter().copied()).collect();
    let mut hash = ObjectHash::of_width(width)?;
    hash.update(format!("tree {}\0", content.len()).as_bytes());
    hash.update(&content);
    Some(hash.finish())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::git::index::parse;
    use crate::git::merge::hex;

    /// Names whose order depends on what is a directory.
    #[test]
    fn directories_have_the_names_that_git_gives_them() {
        let dir = tempfile::tempdir().unwrap();
        let script = "git init -q .; mkdir -p a/b 'a.d' a-/x; echo 1 > a/b/c; echo 2 > a.c; echo 3 > a.d/e; echo 4 > a-/x/y; echo 5 > a0; ln -s a0 l
            git add -A; git write-tree; for d in a a/b a.d a- a-/x; do git rev-parse $(git write-tree):$d; done";
        let mut command = Command::new("sh");
        command.args(["-euc", script]).current_dir(dir.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", dir.path());
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let index = parse(&std::fs::read(dir.path().join(".git/index")).unwrap()).unwrap();
        let trees = index_trees(&index, 20);
        let names = ["", "a", "a/b", "a.d", "a-", "a-/x"];
        let found = names.map(|name| String::from_utf8(hex(&trees[name.as_bytes()])).unwrap());
        assert_eq!(found.join("\n"), said.trim());
        assert_eq!(trees.len(), names.len());
    }
}
