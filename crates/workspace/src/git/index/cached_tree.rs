//! The trees that an index remembers of its directories: `git commit` takes them for what is staged, without looking.

use super::{Index, IndexEntry};
use crate::git::object_hash::ObjectHash;

/// No deeper directory is kept of a workspace.
const DEEPEST: usize = 512;
const TREE: u32 = 0o40_000;

/// Whether every tree that is remembered has exactly the files of the index.
pub(super) fn is_true(remembered: &[u8], index: &Index, width: usize) -> bool {
    let files: Vec<File<'_>> =
        index.iter().map(|((path, stage), entry)| File { path, stage: *stage, entry }).collect();
    let mut rest = remembered;
    let Some(top) = Node::read(&mut rest, width, 0) else { return false };
    rest.is_empty() && top.is_true(&files, 0)
}

struct File<'a> {
    path: &'a [u8],
    stage: u8,
    entry: &'a IndexEntry,
}

/// What is remembered of a directory.
struct Node<'a> {
    name: &'a [u8],
    /// The id of its tree and how many files of the index that has; nothing where git has to find out.
    tree: Option<(usize, &'a [u8])>,
    below: Vec<Self>,
}

impl<'a> Node<'a> {
    fn read(rest: &mut &'a [u8], width: usize, depth: usize) -> Option<Self> {
        let name = until(rest, 0).filter(|_| depth < DEEPEST)?;
        let count: i64 = number(until(rest, b' ')?)?;
        let directories = number(until(rest, b'\n')?)?;
        let tree = match usize::try_from(count) {
            Ok(count) => {
                let (id, after) = rest.split_at_checked(width)?;
                *rest = after;
                Some((count, id))
            }
            Err(_) => None,
        };
        let mut below = Vec::new();
        for _ in 0..directories {
            below.push(Self::read(rest, width, depth + 1)?);
        }
        Some(Self { name, tree, below })
    }

    /// Whether that holds for these files, which are all below the directory. Its path has this many bytes, with a slash at the end.
    fn is_true(&self, files: &[File<'_>], length: usize) -> bool {
        let is_below = |node: &Self| {
            let files = files_below(files, length, node.name);
            node.is_true(files, length + node.name.len() + 1)
        };
        if !self.below.iter().all(is_below) {
            return false;
        }
        let Some((count, id)) = self.tree else { return true };
        count == files.len() && self.tree_of(files, length).is_some_and(|tree| tree == id)
    }

    /// The id of the tree that has these files; nothing where a directory in it is not remembered, or a file cannot be in a tree.
    fn tree_of(&self, files: &[File<'_>], length: usize) -> Option<Vec<u8>> {
        if let [File { path, entry, .. }] = files
            && path.len() == length
            && entry.mode == TREE
        {
            // A directory of which nothing is checked out.
            return Some(entry.object.clone());
        }
        let mut content = Vec::new();
        let mut rest = files;
        while let Some(File { path, stage, entry }) = rest.first() {
            if *stage != 0 || entry.announced {
                return None;
            }
            let name = path.get(length..)?;
            let (name, mode, id, number) = match name.iter().position(|byte| *byte == b'/') {
                Some(end) => {
                    let node = self.below.iter().find(|node| node.name == &name[..end])?;
                    let (count, id) = node.tree?;
                    (&name[..end], TREE, id, count)
                }
                None => (name, entry.mode, entry.object.as_slice(), 1),
            };
            content.extend(format!("{mode:o} ").into_bytes());
            content.extend([name, b"\0", id].concat());
            rest = rest.get(number.max(1)..)?;
        }
        let mut hash = ObjectHash::of_width(self.tree?.1.len())?;
        hash.update(format!("tree {}\0", content.len()).as_bytes());
        hash.update(&content);
        Some(hash.finish())
    }
}

/// Those of the files below a directory that are below one in it.
fn files_below<'f, 'a>(files: &'f [File<'a>], length: usize, name: &[u8]) -> &'f [File<'a>] {
    let wanted = [name, b"/"].concat();
    let part = |file: &File<'_>| {
        let below = file.path.get(length..).unwrap_or_default();
        below[..below.len().min(wanted.len())].to_vec()
    };
    let start = files.partition_point(|file| part(file) < wanted);
    let end = files.partition_point(|file| part(file) <= wanted);
    &files[start..end]
}

/// The bytes before the next one of this value, which goes too.
fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let found = &rest[..at];
    *rest = &rest[at + 1..];
    Some(found)
}

fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
