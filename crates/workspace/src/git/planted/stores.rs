//! What git believes without looking at it again: objects, which are to be what their names say, and tables of them.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, VaultPath};

use super::by_name::{Planted, matters};
use super::look::is_module_part;
use crate::error::Result;
use crate::git::merge::{hex, is_cache, is_id, is_object_of};
use crate::git::names::{is_name, within_repository};
use crate::git::object_hash::ObjectHash;
use crate::git::pack_check::{PackCheck, PackChecker};
use crate::git::repository::{State, is_repository, path_of};

/// What a set of changes does to the stores of repositories.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores {
    /// Objects that are not what their names say, and packs that are not, or that nobody could look at.
    held: BTreeMap<VaultPath, Planted>,
    /// Tables that git makes anew.
    caches: BTreeSet<VaultPath>,
    /// Repositories that are taken whole, and would lack what is held.
    broken: BTreeSet<VaultPath>,
}

/// What a file of a store is.
enum Part {
    /// An object with a file of its own, by its id.
    Loose(Vec<u8>),
    /// A file of git-lfs, by its hash.
    Large(Vec<u8>),
    /// A part of a pack, by what the names of all of them start with.
    Pack(Vec<u8>),
    Cache,
}

impl Stores {
    /// Looks at everything that is new or changed. Git is started for packs alone; without it nobody can look at them.
    pub(super) fn of(
        changes: &[Change],
        after: State<'_>,
        main: State<'_>,
        packs_by: Option<&PackChecker<'_>>,
    ) -> Result<Self> {
        let mut found = Self::default();
        let mut packs: BTreeMap<(VaultPath, Vec<u8>), VaultPath> = BTreeMap::new();
        for change in changes {
            let (before, entry) = (change.before.as_deref(), change.after.as_deref());
            let Some(entry) = entry.filter(|_| matters(before, entry)) else { continue };
            let Some((repository, part)) = part_at(&change.path, [after, main])? else { continue };
            let is_sound = match part {
                Part::Loose(id) => is_object(after, entry, &id)?,
                Part::Large(id) => has_hash(after, entry, &id)?,
                Part::Pack(stem) => {
                    let directory = change.path.parent().unwrap_or_default();
                    packs.insert((directory, stem), repository);
                    continue;
                }
                Part::Cache => {
                    found.caches.insert(change.path.clone());
                    continue;
                }
            };
            if !is_sound {
                found.held.insert(change.path.clone(), Planted::FalseObject);
                found.lacks(repository, main)?;
            }
        }
        for ((directory, stem), repository) in packs {
            let format = match is_repository(main.tree, &repository)? {
                true => main.format(&repository)?,
                false => after.format(&repository)?,
            };
            let pair = Pair { directory: &directory, stem: &stem, format: format.objects() };
            let Some(why) = pair.planted([after, main], packs_by)? else { continue };
            let start = [&stem, b".".as_slice()].concat();
            let is_part = |change: &&Change| {
                let name = change.path.name().unwrap_or_default();
                let is_cache = found.caches.contains(&change.path);
                !is_cache
                    && name.starts_with(&start)
                    && change.path.parent().as_ref() == Some(&directory)
            };
            let parts = changes.iter().filter(|change| change.after.is_some()).filter(is_part);
            let parts: Vec<_> = parts.map(|change| (change.path.clone(), why)).collect();
            found.held.extend(parts);
            found.lacks(repository, main)?;
        }
        Ok(found)
    }

    /// Why a file of a store stays.
    pub(super) fn why(&self, path: &VaultPath) -> Option<Planted> {
        self.held.get(path).copied()
    }

    /// Whether it is a table that git makes anew.
    pub(super) fn is_cache(&self, path: &VaultPath) -> bool {
        self.caches.contains(path)
    }

    /// Repositories that are of no use without what stays of them.
    pub(super) fn broken(&self) -> &BTreeSet<VaultPath> {
        &self.broken
    }

    /// Refs that need what is held stay by themselves where a repository is merged part by part. All others stay whole.
    fn lacks(&mut self, repository: VaultPath, main: State<'_>) -> Result<()> {
        let is_merged =
            within_repository(&repository).is_some() && is_repository(main.tree, &repository)?;
        if !is_merged {
            self.broken.insert(repository);
        }
        Ok(())
    }
}

/// A pack and its index, which are of no use to git without each other.
struct Pair<'p> {
    directory: &'p VaultPath,
    stem: &'p [u8],
    format: &'p str,
}

impl Pair<'_> {
    /// Why it stays; nothing where it need not.
    fn planted(
        &self,
        [after, main]: [State<'_>; 2],
        packs_by: Option<&PackChecker<'_>>,
    ) -> Result<Option<Planted>> {
        let mut blobs = Vec::new();
        let mut is_known = true;
        for end in [b".pack".as_slice(), b".idx"] {
            let path = self.directory.join(&[self.stem, end].concat());
            let (new, known) = (after.tree.get(&path)?, main.tree.get(&path)?);
            let same = |entry: &Entry| known.as_ref().is_none_or(|known| known.same_content(entry));
            // Half of one, or one of which the folder has another half, is not what was looked at once it is there.
            let Some(Body::File { blob, .. }) = new.filter(same).map(|entry| entry.body) else {
                return Ok(Some(Planted::Unchecked));
            };
            is_known &= known.is_some();
            blobs.push(blob);
        }
        let ([pack, index], false) = (blobs.as_slice(), is_known) else { return Ok(None) };
        let Some(packs_by) = packs_by else { return Ok(Some(Planted::Unchecked)) };
        Ok(match packs_by.check(after.objects, [pack, index], self.format) {
            PackCheck::Sound => None,
            PackCheck::False => Some(Planted::FalseObject),
            PackCheck::Unknown => Some(Planted::Unchecked),
        })
    }
}

/// The repository whose store has a path, and what it is there.
fn part_at(path: &VaultPath, states: [State<'_>; 2]) -> Result<Option<(VaultPath, Part)>> {
    let names = path.names();
    let is_store =
        |at: &usize| ["objects", "lfs", "info"].iter().any(|it| is_name(&names[*at], it));
    for at in (0..names.len()).rev().filter(is_store) {
        let repository = path_of(&names[..at]);
        let is_one = match within_repository(&repository) {
            // The name of a module may be any path, and refs may have any name.
            Some(inside) => {
                let is_ref = |name: &Vec<u8>| is_name(name, "refs") || is_name(name, "logs");
                inside.is_empty() || is_module_part(inside) && !inside.iter().any(is_ref)
            }
            None => {
                let mut is_one = false;
                for state in states {
                    is_one = is_one || is_repository(state.tree, &repository)?;
                }
                is_one
            }
        };
        if let Some(part) = part(&names[at..]).filter(|_| is_one) {
            return Ok(Some((repository, part)));
        }
    }
    Ok(None)
}

/// What names below a repository are, in whatever case a file system may find them by.
fn part(inside: &[Vec<u8>]) -> Option<Part> {
    let lower: Vec<Vec<u8>> = inside.iter().map(|name| name.to_ascii_lowercase()).collect();
    if is_cache(&lower) {
        return Some(Part::Cache);
    }
    let lower: Vec<&[u8]> = lower.iter().map(Vec::as_slice).collect();
    match lower[..] {
        [b"objects", b"pack", _] => {
            let name = inside.last()?;
            let end = name.iter().rposition(|byte| *byte == b'.')?;
            Some(Part::Pack(name[..end].to_vec()))
        }
        [b"objects", first, rest] if first.len() == 2 => {
            Some([first, rest].concat()).filter(|id| is_id(id)).map(Part::Loose)
        }
        [b"lfs", b"objects", _, _, id] if id.len() == 64 => Some(Part::Large(id.to_vec())),
        _ => None,
    }
}

/// Whether a file is the object with this id. What is no file at all git does not take for one.
fn is_object(state: State<'_>, entry: &Entry, id: &[u8]) -> Result<bool> {
    let Body::File { blob, .. } = &entry.body else { return Ok(true) };
    is_object_of(&mut state.objects.reader(blob)?, id)
}

/// Whether a file of git-lfs has the hash that it is named by.
fn has_hash(state: State<'_>, entry: &Entry, id: &[u8]) -> Result<bool> {
    let Body::File { blob, .. } = &entry.body else { return Ok(true) };
    let (mut reader, mut buffer) = (state.objects.reader(blob)?, vec![0; 64 << 10]);
    let Some(mut hash) = ObjectHash::of_width(id.len() / 2) else { return Ok(false) };
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finish()) == id),
            read => hash.update(&buffer[..read]),
        }
    }
}
