//! Finding things in a tree.

use std::sync::{Mutex, PoisonError};

use crate::entry::{Body, DirRef, Entry, EntryKind};
use crate::error::{Result, TreeError};
use crate::hash::RootId;
use crate::objects::Objects;
use crate::path::{VaultPath, display_bytes};

/// As many symbolic links as the kernel follows.
const MOST_LINKS: usize = 40;

/// One state of files, to look at.
#[derive(Debug)]
pub struct Tree<'a> {
    objects: &'a Objects,
    top: Entry,
    /// The directories on the way to what was asked for last, by name: what is asked for next is often beside it.
    way: Mutex<Vec<(Vec<u8>, DirRef)>>,
}

impl<'a> Tree<'a> {
    /// Opens the tree of a root.
    pub fn open(objects: &'a Objects, root: &RootId) -> Result<Self> {
        Ok(Self { objects, top: objects.root(root)?, way: Mutex::default() })
    }

    /// Where it is kept.
    pub fn objects(&self) -> &'a Objects {
        self.objects
    }

    /// The top directory.
    pub fn top(&self) -> &Entry {
        &self.top
    }

    /// The entry at a path as it is written: no symbolic link is followed.
    pub fn get(&self, path: &VaultPath) -> Result<Option<Entry>> {
        let Some((name, parents)) = path.names().split_last() else {
            return Ok(Some(self.top.clone()));
        };
        match self.directory(parents)? {
            Some(dir) => self.objects.entry(&dir, name),
            None => Ok(None),
        }
    }

    /// The directory that names lead to, from the last one that is on the way to what was asked for before.
    fn directory(&self, names: &[Vec<u8>]) -> Result<Option<DirRef>> {
        let mut way = self.way.lock().unwrap_or_else(PoisonError::into_inner);
        let same = way.iter().zip(names).take_while(|((known, _), name)| known == *name).count();
        way.truncate(same);
        let Some(mut dir) = way.last().map(|(_, dir)| dir).or(self.top.directory()).copied() else {
            return Ok(None);
        };
        for name in &names[same..] {
            let entry = self.objects.entry(&dir, name)?;
            match entry.as_ref().and_then(Entry::directory) {
                Some(next) => dir = *next,
                None => return Ok(None),
            }
            way.push((name.clone(), dir));
        }
        Ok(Some(dir))
    }

    /// The entry at a path, or an error that names it.
    pub fn find(&self, path: &VaultPath) -> Result<Entry> {
        self.get(path)?.ok_or_else(|| TreeError::NoEntry { path: path.to_string() })
    }

    /// Follows symbolic links, relative ones, inside the tree; gives where they lead and what is there.
    pub fn resolve(&self, path: &VaultPath) -> Result<(VaultPath, Entry)> {
        let mut pending: Vec<Vec<u8>> = path.names().iter().rev().cloned().collect();
        // Where the way is so far, free of links, and the directories on it.
        let mut at = VaultPath::top();
        let mut parents: Vec<Entry> = Vec::new();
        let mut entry = self.top.clone();
        // The link that was followed last, and how many there were.
        let mut link = (String::new(), Vec::new());
        let mut links = 0;
        while let Some(name) = pending.pop() {
            let here = at.join(&name);
            let missing = || TreeError::NoEntry { path: here.to_string() };
            let dir = entry.directory().ok_or_else(missing)?;
            if name == b".." {
                // Only a link's target has these.
                entry = parents.pop().ok_or_else(|| outside(&link))?;
                at = at.parent().unwrap_or_default();
                continue;
            }
            let next = self.objects.entry(dir, &name)?.ok_or_else(missing)?;
            let Body::Symlink { target } = &next.body else {
                at = here;
                parents.push(std::mem::replace(&mut entry, next));
                continue;
            };
            links += 1;
            link = (here.to_string(), target.clone());
            if links > MOST_LINKS {
                return Err(TreeError::LinkLoop { path: path.to_string() });
            }
            if target.starts_with(b"/") {
                return Err(outside(&link));
            }
            pending.extend(parts(target).rev().map(<[u8]>::to_vec));
        }
        Ok((at, entry))
    }

    /// The entries of a directory that was found in this tree.
    pub fn list(&self, dir: &DirRef) -> Result<Vec<Entry>> {
        self.objects.entries(dir)
    }

    /// Calls `visit` for everything below `path`, parents first, in byte order of names.
    pub fn walk(
        &self,
        path: &VaultPath,
        dir: &DirRef,
        visit: &mut dyn FnMut(&VaultPath, &Entry) -> Result<()>,
    ) -> Result<()> {
        // A list instead of recursion: the depth of a tree is whatever somebody made it.
        let mut pending: Vec<(VaultPath, Entry)> = Vec::new();
        let push = |pending: &mut Vec<(VaultPath, Entry)>, path: &VaultPath, dir: &DirRef| {
            let entries = self.objects.entries(dir)?;
            let below = entries.into_iter().rev();
            pending.extend(below.map(|entry| (path.join(&entry.name), entry)));
            Ok::<(), TreeError>(())
        };
        push(&mut pending, path, dir)?;
        while let Some((path, entry)) = pending.pop() {
            visit(&path, &entry)?;
            if let Some(dir) = entry.directory() {
                push(&mut pending, &path, dir)?;
            }
        }
        Ok(())
    }
}

/// The names of a link's target, from its own directory on.
fn parts(target: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    target.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

fn outside((path, target): &(String, Vec<u8>)) -> TreeError {
    TreeError::LinkOutside { path: path.clone(), target: display_bytes(target) }
}

impl EntryKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Fifo => "fifo",
        }
    }
}
