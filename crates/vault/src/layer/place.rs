//! Placing hard links where they can be written to.
//!
//! Overlayfs splits the names of a file in a lower layer when one of them is first written to. Names that lie in the upper
//! directory already stay together, so the groups of the base are put there before anybody writes, and those that nobody
//! touched are left out again when it is adopted.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;

use offshoot_host::disk;
use offshoot_host::disk::{join, split_last};
use offshoot_tree::codec::{Decoder, FormatError, put_bytes, put_varint, put_zigzag};
use offshoot_tree::links::Lookup;
use offshoot_tree::{Body, Entry};
use rustix::fs::{AtFlags, Mode, Stat};
use rustix::time::{ClockId, clock_gettime};

use super::note::PLACED;
use super::upper::Upper;
use super::written::{Kind, UpperDir};
use crate::error::{Result, io_error};
use crate::materialize::{Materializer, Purpose};
use crate::vault::Vault;

/// What the file that remembers placed links starts with.
const MAGIC: [u8; 4] = *b"OPL\x01";

/// How much may be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLimit {
    /// Names, all told.
    pub names: u64,
    /// Bytes of the files that they are names of.
    pub bytes: u64,
}

/// What was placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Names that were placed.
    pub names: u64,
    /// Bytes of the files that they are names of.
    pub bytes: u64,
    /// Names of groups that did not fit the limit: writing to one of them splits it off.
    pub left_names: u64,
}

/// What was placed in a directory, as it was then.
#[derive(Debug, Default)]
pub(super) struct PlacedLinks {
    inodes: Vec<PlacedInode>,
    /// When everything was in place, by the clock that the kernel stamps changes with. A change that came later may bear the
    /// same time as one that came just before, but never an earlier one.
    settled: (i64, i64),
}

#[derive(Debug)]
struct PlacedInode {
    names: Vec<Vec<u8>>,
    /// Nothing where it lies in a directory that its owner may not search: then it is read when it is adopted.
    noted: Option<Noted>,
}

/// What shows that somebody changed a file.
#[derive(Debug, PartialEq, Eq)]
struct Noted {
    inode: (u64, u64),
    /// The kind is part of it.
    mode: u32,
    links: u64,
    owner: (u32, u32),
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Noted {
    fn of(stat: &Stat) -> Self {
        Self {
            inode: (stat.st_dev, stat.st_ino),
            mode: stat.st_mode,
            links: stat.st_nlink,
            owner: (stat.st_uid, stat.st_gid),
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
        }
    }
}

impl Noted {
    fn encode(&self, out: &mut Vec<u8>) {
        let numbers = [
            self.inode.0,
            self.inode.1,
            self.mode.into(),
            self.links,
            self.owner.0.into(),
            self.owner.1.into(),
            self.size as u64,
        ];
        numbers.into_iter().for_each(|number| put_varint(out, number));
        put_time(out, self.modified);
        put_time(out, self.changed);
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, FormatError> {
        let mut number = || input.varint();
        let inode = (number()?, number()?);
        let (mode, links) = (number()? as u32, number()?);
        let owner = (number()? as u32, number()? as u32);
        let size = number()? as i64;
        let (modified, changed) = (take_time(input)?, take_time(input)?);
        Ok(Self { inode, mode, links, owner, size, modified, changed })
    }
}

fn put_time(out: &mut Vec<u8>, (seconds, nanoseconds): (i64, i64)) {
    put_zigzag(out, seconds);
    put_zigzag(out, nanoseconds);
}

fn take_time(input: &mut Decoder<'_>) -> Result<(i64, i64), FormatError> {
    Ok((input.zigzag()?, input.zigzag()?))
}

/// Names of one inode.
struct Group {
    entry: Entry,
    names: Vec<Vec<u8>>,
}

impl Group {
    fn bytes(&self) -> u64 {
        match self.entry.body {
            Body::File { size, .. } => size,
            _ => 0,
        }
    }
}

impl Upper {
    /// Puts the hard links of the base into the directory, whole groups, the smallest first, as far as the limit allows. Belongs
    /// before everything else that is written there.
    pub fn place_links(&mut self, vault: &Vault, limit: LinkLimit) -> Result<Placed> {
        let links = vault.links(&self.base, &[])?;
        if links.is_empty() {
            return Ok(Placed::default());
        }
        let objects = vault.objects()?;
        let mut lookup = Lookup::new(objects, &self.base)?;
        let (groups, placed) = choose(find_groups(&mut lookup, links)?, limit);
        if groups.is_empty() {
            return Ok(placed);
        }
        let dir = self.dir();
        // The top has its mode already, which may forbid to write to it.
        rustix::fs::chmod(&dir, Mode::RWXU).map_err(io_error("open", &dir))?;
        let writer = Materializer::new(objects, &dir, Purpose::Upper)?;
        writer.place(&folders(&mut lookup, &groups)?, &names(&groups))?;
        self.placed = self.note_placed(groups)?;
        self.placed.write(&self.stage.place)?;
        Ok(placed)
    }

    fn note_placed(&self, groups: Vec<Group>) -> Result<PlacedLinks> {
        let dir = self.dir();
        let top = disk::open_dir_path(&dir).map_err(io_error("open", &dir))?;
        let mut inodes = Vec::with_capacity(groups.len());
        for group in groups {
            let (folder, name) = split_last(&group.names[0]);
            let note = || -> std::io::Result<Option<Noted>> {
                let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY;
                let at = disk::open_below(top.as_fd(), folder, flags)?;
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                Ok(Some(Noted::of(&rustix::fs::statat(at, disk::bytes_path(name), flags)?)))
            };
            let noted = note().or_else(|error| match error.kind() {
                std::io::ErrorKind::PermissionDenied => Ok(None),
                _ => Err(io_error("stat", &dir)(error)),
            })?;
            inodes.push(PlacedInode { names: group.names, noted });
        }
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Ok(PlacedLinks { inodes, settled: (now.tv_sec, now.tv_nsec) })
    }
}

impl PlacedLinks {
    /// Remembers what was placed beside the files, for the case that whoever placed it comes to grief.
    fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(PLACED);
        fs::write(&path, self.encode()).map_err(io_error("write", &path))
    }

    /// What is remembered in a directory; nothing where nothing was placed, or where a power cut took the bytes: what was placed
    /// counts as written then.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(PLACED);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            other => other.map_err(io_error("read", &path))?,
        };
        Ok(Self::decode(&bytes).unwrap_or_default())
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put_time(&mut out, self.settled);
        put_varint(&mut out, self.inodes.len() as u64);
        for inode in &self.inodes {
            put_varint(&mut out, inode.names.len() as u64);
            inode.names.iter().for_each(|name| put_bytes(&mut out, name));
            out.push(inode.noted.is_some().into());
            if let Some(noted) = &inode.noted {
                noted.encode(&mut out);
            }
        }
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut input = Decoder::new(bytes);
        if input.array()? != MAGIC {
            return Err(FormatError("it does not say which links were placed"));
        }
        let settled = take_time(&mut input)?;
        let mut inodes = Vec::new();
        for _ in 0..input.varint()? {
            let mut names = Vec::new();
            for _ in 0..input.varint()? {
                names.push(input.bytes()?.to_vec());
            }
            let noted = match input.byte()? {
                0 => None,
                _ => Some(Noted::decode(&mut input)?),
            };
            inodes.push(PlacedInode { names, noted });
        }
        Ok(Self { inodes, settled })
    }

    /// Whether what is at a name is what was placed there, untouched.
    pub(super) fn is_untouched(&self, name: &[u8], stat: &Stat) -> bool {
        let inode = self.inodes.iter().find(|inode| inode.names.iter().any(|own| own == name));
        let noted = inode.and_then(|inode| inode.noted.as_ref());
        noted.is_some_and(|noted| noted.changed < self.settled && *noted == Noted::of(stat))
    }

    /// Every name that was placed.
    pub(super) fn names(&self) -> HashSet<&[u8]> {
        self.inodes.iter().flat_map(|inode| inode.names.iter().map(Vec::as_slice)).collect()
    }

    /// Marks the names of files that nobody touched.
    pub(super) fn mark_untouched(&self, dirs: &mut [UpperDir]) {
        if self.inodes.is_empty() {
            return;
        }
        let mut found: HashMap<&[u8], (usize, usize)> = HashMap::new();
        let placed = self.names();
        let hidden = hidden(dirs);
        for (at, dir) in dirs.iter().enumerate().filter(|(at, _)| !hidden[*at]) {
            for (place, entry) in dir.entries.iter().enumerate() {
                if let Some(name) = placed.get(join(&dir.path, &entry.name).as_slice()) {
                    found.insert(name, (at, place));
                }
            }
        }
        for inode in &self.inodes {
            let Some(noted) = &inode.noted else { continue };
            let places: Option<Vec<(usize, usize)>> =
                inode.names.iter().map(|name| found.get(name.as_slice()).copied()).collect();
            let same = |(at, place): &(usize, usize)| {
                dirs[*at].entries[*place].stat().is_some_and(|stat| Noted::of(stat) == *noted)
            };
            // A change in the same tick of the clock would not show; such files are read.
            let settled = noted.changed < self.settled;
            if let Some(places) = places.filter(|places| settled && places.iter().all(same)) {
                for (at, place) in places {
                    dirs[at].entries[place].kind = Kind::Untouched;
                }
            }
        }
    }
}

/// Which directories show nothing of what is below them. Without what was placed in one of those it would be gone.
fn hidden(dirs: &[UpperDir]) -> Vec<bool> {
    let mut hidden: Vec<bool> = dirs.iter().map(|dir| dir.opaque).collect();
    for (at, dir) in dirs.iter().enumerate() {
        for entry in &dir.entries {
            if let Kind::Directory(child) = entry.kind {
                hidden[child] |= hidden[at];
            }
        }
    }
    hidden
}

/// The groups with more than one name.
fn find_groups(lookup: &mut Lookup<'_>, links: Vec<Vec<u8>>) -> Result<Vec<Group>> {
    let mut groups: HashMap<u64, Vec<Group>> = HashMap::new();
    for path in links {
        let Some(entry) = lookup.get(&path)? else { continue };
        let Some(number) = entry.group else { continue };
        let known = groups.entry(number).or_default();
        let same =
            |group: &&mut Group| group.entry.meta == entry.meta && group.entry.body == entry.body;
        match known.iter_mut().find(same) {
            Some(group) => group.names.push(path),
            None => known.push(Group { entry, names: vec![path] }),
        }
    }
    Ok(groups.into_values().flatten().filter(|group| group.names.len() > 1).collect())
}

/// Those that fit the limit.
fn choose(mut groups: Vec<Group>, limit: LinkLimit) -> (Vec<Group>, Placed) {
    groups.sort_by(|a, b| {
        (a.bytes(), a.names.len(), &a.names).cmp(&(b.bytes(), b.names.len(), &b.names))
    });
    let mut placed = Placed::default();
    groups.retain(|group| {
        let (names, bytes) = (group.names.len() as u64, group.bytes());
        let fits = placed.names + names <= limit.names && bytes <= limit.bytes - placed.bytes;
        if fits {
            placed.names += names;
            placed.bytes += bytes;
        } else {
            placed.left_names += names;
        }
        fits
    });
    (groups, placed)
}

/// The directories that lead to the names, every one after its parent; the top is the first.
fn folders(lookup: &mut Lookup<'_>, groups: &[Group]) -> Result<Vec<(Vec<u8>, Entry)>> {
    let mut ways: BTreeSet<Vec<u8>> = BTreeSet::from([Vec::new()]);
    for name in groups.iter().flat_map(|group| &group.names) {
        let mut folder = split_last(name).0;
        while !folder.is_empty() && ways.insert(folder.to_vec()) {
            folder = split_last(folder).0;
        }
    }
    let mut folders = Vec::with_capacity(ways.len());
    for way in ways {
        let entry = lookup.get(&way)?;
        folders.extend(entry.map(|entry| (way, entry)));
    }
    Ok(folders)
}

/// The names with their entries, sorted.
fn names(groups: &[Group]) -> Vec<(Vec<u8>, Entry)> {
    let all = groups.iter().flat_map(|group| group.names.iter().map(move |name| (name, group)));
    let named = |(path, group): (&Vec<u8>, &Group)| {
        let name = split_last(path).1.to_vec();
        (path.clone(), Entry { name, ..group.entry.clone() })
    };
    let mut names: Vec<(Vec<u8>, Entry)> = all.map(named).collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    names
}

#[cfg(test)]
mod tests;
