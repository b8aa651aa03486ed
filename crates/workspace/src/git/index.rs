//! Reading git's index: which files it knows, and as what.

mod cached_tree;
mod trees;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, Objects, RootId, VaultPath};
use offshoot_vault::Vault;

use super::names::within_repository;
use super::object_hash::ObjectHash;
use super::repository::State;
pub(super) use trees::index_trees;

/// Whether git was told to take a file for unchanged, and whether it is not to be in the working tree.
pub(crate) type Marked = (bool, bool);

/// What an index says of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// The id of its content.
    pub(crate) object: Vec<u8>,
    /// Kind and executable bit, as git writes them.
    pub(crate) mode: u32,
    /// When the file was changed, seconds (of which git keeps 32 bits) and nanoseconds.
    pub(crate) mtime: (u32, u32),
    /// Its size, of which git keeps 32 bits.
    pub(crate) size: u32,
    /// Whether it was only announced.
    pub(crate) announced: bool,
    /// How git overlooks it.
    pub(crate) overlooked: Marked,
}

/// The files of an index by path and stage; stages other than 0 are of unfinished merges.
pub(crate) type Index = BTreeMap<(Vec<u8>, u8), IndexEntry>;

/// The bytes of an entry before its id.
const STAT: usize = 40;
const EXTENDED: u16 = 0x4000;
const ASSUME_UNCHANGED: u16 = 0x8000;
const INTENT_TO_ADD: u16 = 0x2000;
const SKIP_WORKTREE: u16 = 0x4000;

/// Reads an index of version 2 to 4 whose ids have 20 or 32 bytes. Nothing where it is anything else, or one that is split
/// over several files.
pub(crate) fn parse(bytes: &[u8]) -> Option<Index> {
    parse_with(bytes, 20).or_else(|| parse_with(bytes, 32))
}

/// The entries of one file of an index that may be split over two. One without a name stands for another version of some entry of the other
/// file.
pub(crate) fn parse_part(bytes: &[u8]) -> Option<Index> {
    read_with(bytes, 20).or_else(|| read_with(bytes, 32)).map(|(index, _)| index)
}

/// The ids of the files that a split index may have its entries in, as far as its text tells.
pub(crate) fn shared(bytes: &[u8]) -> Vec<&[u8]> {
    let is_index = bytes.starts_with(b"DIRC");
    let links = bytes.windows(4).enumerate().filter(|(_, name)| is_index && *name == b"link");
    let ids = links.flat_map(|(at, _)| [20, 32].map(|length| bytes.get(at + 8..at + 8 + length)));
    ids.flatten().collect()
}

/// Tells which marks of a file go.
type Clears<'a> = &'a dyn Fn(&(Vec<u8>, u8), Marked) -> Marked;

/// An index without what git believes of it and should not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlainIndex {
    pub(crate) bytes: Vec<u8>,
    /// Marks went, or trees that were not those of the files. All else are caches.
    pub(crate) hid: bool,
}

/// An index without some of the marks by which git overlooks files: those that are asked for by path and stage, with what is marked. It is also
/// without trees that do not have its files, and, unless another index has the very same, without lists of what need not be looked at on the disk
/// and versions of files that conflicts were resolved from. One that is split over several files is without all of these caches, and keeps its marks. Nothing where nothing goes, or where it
/// cannot be written.
pub(crate) fn plain(bytes: &[u8], known: Option<&[u8]>, clears: Clears<'_>) -> Option<PlainIndex> {
    let parsed = |id| Some((parse_with(bytes, id)?, id));
    let (index, width) = match [20, 32].into_iter().find_map(parsed) {
        Some((index, width)) => (Some(index), width),
        None => (None, [20, 32].into_iter().find(|id| is_split(bytes, *id))?),
    };
    let (mut plain, mut reader) = (bytes.to_vec(), Entries::new(bytes, width)?);
    for _ in 0..number(bytes, 8)? {
        let flags = reader.at + STAT + width;
        let (key, entry) = reader.next()?;
        let (assumed, skipped) = match index {
            Some(_) => clears(&key, entry.overlooked),
            None => (false, false),
        };
        // Both are the highest bits of a number of two bytes, the second of one that follows.
        if assumed {
            plain[flags] &= !0x80;
        }
        if skipped {
            plain[flags + 2] &= !0x40;
        }
    }
    let mut hid = plain != bytes;
    plain.truncate(reader.at);
    let known = known.map(|known| extensions(known, width)).unwrap_or_default();
    let (mut kept, mut went) = (Vec::new(), false);
    for part in extensions(bytes, width) {
        let (name, data) = part;
        let stays = match name {
            b"TREE" => index.as_ref().is_some_and(|index| cached_tree::is_true(data, index, width)),
            b"UNTR" | b"FSMN" | b"REUC" => known.contains(&part),
            _ => true,
        };
        hid |= name == b"TREE" && !stays && index.is_some();
        went |= !stays;
        kept.extend(stays.then_some(part));
    }
    // Git finds the others by this one, and does without where one is gone.
    for (name, data) in kept.into_iter().filter(|(name, _)| !went || *name != b"EOIE") {
        plain.extend_from_slice(name);
        plain.extend(u32::try_from(data.len()).ok()?.to_be_bytes());
        plain.extend_from_slice(data);
    }
    // Git writes zeros where it was told to leave the checksum out.
    let sum = &bytes[bytes.len() - width..];
    if sum.iter().all(|byte| *byte == 0) {
        plain.extend_from_slice(sum);
    } else {
        let mut hash = ObjectHash::of_width(width)?;
        hash.update(&plain);
        plain.extend(hash.finish());
    }
    (plain != bytes).then_some(PlainIndex { bytes: plain, hid })
}

/// Whether an index with ids of this length has a part of its files elsewhere.
fn is_split(bytes: &[u8], width: usize) -> bool {
    let parts = extensions(bytes, width);
    let length: usize = parts.iter().map(|(_, data)| 8 + data.len()).sum();
    let whole = end_of_files(bytes, width).map(|end| end + length + width);
    whole == Some(bytes.len()) && parts.iter().any(|(name, _)| *name == b"link")
}

fn end_of_files(bytes: &[u8], width: usize) -> Option<usize> {
    let mut reader = Entries::new(bytes, width).filter(|_| bytes.starts_with(b"DIRC"))?;
    for _ in 0..number(bytes, 8)? {
        reader.next()?;
    }
    Some(reader.at)
}

/// What follows the files of an index, by its names; nothing where it cannot be read.
fn extensions(bytes: &[u8], width: usize) -> Vec<(&[u8], &[u8])> {
    let mut found = Vec::new();
    let ends = (end_of_files(bytes, width), bytes.len().checked_sub(width));
    let (Some(mut at), Some(end)) = ends else { return found };
    while let Some(length) = number(bytes, at + 4).filter(|_| at < end) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(data) = bytes.get(at + 8..end).and_then(|rest| rest.get(..length)) else { break };
        found.push((&bytes[at..at + 4], data));
        at += 8 + length;
    }
    found
}

/// Whether two indexes have the same files as the same; what they know of the files' times does not matter.
pub(crate) fn same_files(a: &Index, b: &Index) -> bool {
    let plain = |index: &Index| -> Vec<_> {
        let key = |((path, stage), entry): (&(Vec<u8>, u8), &IndexEntry)| {
            let IndexEntry { object, mode, announced, overlooked, .. } = entry;
            (path.clone(), *stage, object.clone(), *mode, *announced, *overlooked)
        };
        index.iter().map(key).collect()
    };
    plain(a) == plain(b)
}

/// Whether a change is that git wrote an index anew with what it knows of the files' times, and nothing else.
pub(crate) fn is_index_refresh(objects: &Objects, change: &Change) -> bool {
    let is_index =
        change.path.name() == Some(b"index") && within_repository(&change.path).is_some();
    let read = |entry: Option<&Entry>| match entry.map(|entry| &entry.body) {
        Some(Body::File { blob, .. }) => parse(&objects.blob(blob).ok()?),
        _ => None,
    };
    if !is_index || change.moved.is_some() {
        return false;
    }
    let sides = read(change.before.as_deref()).zip(read(change.after.as_deref()));
    sides.is_some_and(|(before, after)| same_files(&before, &after))
}

/// The index of the first folder's repository in a state of the vault. Nothing where it cannot be read.
pub(crate) fn first_index(vault: &Vault, root: &RootId) -> crate::error::Result<Option<Index>> {
    let tree = vault.tree(root)?;
    let state = State { objects: vault.objects()?, tree: &tree };
    let path = state.repository_at(&VaultPath::top())?.join(b"index");
    Ok(state.file(&path)?.and_then(|bytes| parse(&bytes)))
}

/// The files of the first folder that the index of its repository has otherwise in one state than in another.
pub(crate) fn changed_in_index(
    vault: &Vault,
    before: &RootId,
    after: &RootId,
) -> crate::error::Result<BTreeSet<VaultPath>> {
    let read = |root: &RootId| first_index(vault, root);
    let (before, after) = (read(before)?.unwrap_or_default(), read(after)?.unwrap_or_default());
    let version = |index: &Index, key: &(Vec<u8>, u8)| {
        index.get(key).map(|entry| (entry.object.clone(), entry.mode))
    };
    let keys = before.keys().chain(after.keys());
    let changed = keys.filter(|key| version(&before, key) != version(&after, key));
    Ok(changed.filter_map(|(path, _)| VaultPath::parse(path).ok()).collect())
}

/// Whether bytes are an index of git that lists the same files as the one at a path of a state. They are asked for only there.
pub(crate) fn is_index_of(
    vault: &Vault,
    root: &RootId,
    path: &VaultPath,
    bytes: &dyn Fn() -> Option<Vec<u8>>,
) -> bool {
    let names = within_repository(path);
    if names.and_then(<[_]>::last).is_none_or(|name| name != b"index") {
        return false;
    }
    let there = || -> crate::error::Result<Option<Vec<u8>>> {
        let (tree, objects) = (vault.tree(root)?, vault.objects()?);
        State { objects, tree: &tree }.file(path)
    };
    let (Ok(Some(there)), Some(now)) = (there(), bytes()) else { return false };
    match (parse(&there), parse(&now)) {
        (Some(there), Some(now)) => same_files(&there, &now),
        _ => false,
    }
}

fn parse_with(bytes: &[u8], id: usize) -> Option<Index> {
    read_with(bytes, id).filter(|(_, is_split)| !is_split).map(|(index, _)| index)
}

/// The entries of an index, and whether there are others in another file.
fn read_with(bytes: &[u8], id: usize) -> Option<(Index, bool)> {
    let end = bytes.len().checked_sub(id)?;
    let (header, version) = (bytes.get(..12)?, number(bytes, 4)?);
    if !header.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut reader = Entries::new(bytes, id)?;
    let mut index = Index::new();
    for _ in 0..number(bytes, 8)? {
        let (key, entry) = reader.next()?;
        index.insert(key, entry);
    }
    // The rest must be extensions to the very end, which also tells whether the ids were as long as assumed.
    let (mut at, mut is_split) = (reader.at, false);
    while at < end {
        let length = usize::try_from(number(bytes, at + 4)?).ok()?;
        is_split |= bytes.get(at..at + 4)? == b"link";
        at = at.checked_add(8)?.checked_add(length)?;
    }
    (at == end).then_some((index, is_split))
}

struct Entries<'a> {
    bytes: &'a [u8],
    id: usize,
    version: u32,
    at: usize,
    last: Vec<u8>,
}

impl<'a> Entries<'a> {
    fn new(bytes: &'a [u8], id: usize) -> Option<Self> {
        let (end, version) = (bytes.len().checked_sub(id)?, number(bytes, 4)?);
        Some(Self { bytes: bytes.get(..end)?, id, version, at: 12, last: Vec::new() })
    }

    fn next(&mut self) -> Option<((Vec<u8>, u8), IndexEntry)> {
        let start = self.at;
        let word = |offset: usize| number(self.bytes, start + offset);
        let (mtime, mode, size) = ((word(8)?, word(12)?), word(24)?, word(36)?);
        let object = self.bytes.get(start + STAT..start + STAT + self.id)?.to_vec();
        self.at = start + STAT + self.id;
        let flags = self.short()?;
        let more = if flags & EXTENDED != 0 { self.short()? } else { 0 };
        let path = match self.version {
            4 => self.compressed_name()?,
            _ => self.plain_name(start)?,
        };
        let stage = u8::try_from((flags >> 12) & 3).ok()?;
        self.last.clone_from(&path);
        let announced = more & INTENT_TO_ADD != 0;
        let overlooked = (flags & ASSUME_UNCHANGED != 0, more & SKIP_WORKTREE != 0);
        Some(((path, stage), IndexEntry { object, mode, mtime, size, announced, overlooked }))
    }

    fn short(&mut self) -> Option<u16> {
        let bytes = self.bytes.get(self.at..self.at + 2)?;
        self.at += 2;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A name, and NULs until the entry's length is a multiple of eight.
    fn plain_name(&mut self, start: usize) -> Option<Vec<u8>> {
        let name = self.until_nul()?;
        let length = self.at - 1 - start;
        self.at = start + (length / 8 + 1) * 8;
        (self.at <= self.bytes.len()).then_some(name)
    }

    /// How much of the end of the name before goes, and what comes in its place.
    fn compressed_name(&mut self) -> Option<Vec<u8>> {
        let mut byte = *self.bytes.get(self.at)?;
        self.at += 1;
        let mut strip = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.bytes.get(self.at)?;
            self.at += 1;
            strip = strip.checked_add(1)?.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        }
        let kept = self.last.len().checked_sub(strip)?;
        let mut name = self.last[..kept].to_vec();
        name.extend(self.until_nul()?);
        Some(name)
    }

    fn until_nul(&mut self) -> Option<Vec<u8>> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        self.at += length + 1;
        Some(rest[..length].to_vec())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// What git itself wrote, in a repository of this format and with this version of the index.
    fn written(format: &str, version: &str, script: &str) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let script = format!(
            "git init -q --object-format={format} .
             git config index.version {version}; git config feature.manyFiles false
             mkdir -p deep/er; echo one > a; echo two > deep/b; echo three > deep/er/c; ln -s a link
             chmod +x deep/b; {script}"
        );
        run(dir.path(), &script);
        std::fs::read(dir.path().join(".git/index")).unwrap()
    }

    fn run(dir: &Path, script: &str) {
        let mut command = Command::new("sh");
        command.args(["-euc", script]).current_dir(dir).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", dir);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{script}\n{output:?}");
    }

    #[test]
    fn every_version_and_format_is_read() {
        for (format, version) in [("sha1", "2"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")] {
            let index = parse(&written(format, version, "git add .")).unwrap();
            let seen: Vec<_> = index
                .iter()
                .map(|((path, stage), entry)| {
                    (String::from_utf8_lossy(path).into_owned(), *stage, entry.mode, entry.size)
                })
                .collect();
            let expected = [
                ("a", 0, 0o100_644, 4),
                ("deep/b", 0, 0o100_755, 4),
                ("deep/er/c", 0, 0o100_644, 6),
                ("link", 0, 0o120_000, 1),
            ];
            let expected =
                expected.map(|(path, stage, mode, size)| (path.to_owned(), stage, mode, size));
            assert_eq!(seen, expected, "{format} {version}");
        }
    }

    #[test]
    fn an_announced_file_is_told_from_an_added_one() {
        let announced = parse(&written("sha1", "3", "git add -N a")).unwrap();
        let added = parse(&written("sha1", "3", "git add a")).unwrap();
        assert!(announced.values().all(|entry| entry.announced), "{announced:?}");
        assert!(!same_files(&announced, &added));
        assert!(same_files(&added, &parse(&written("sha1", "4", "git add a")).unwrap()));
    }

    #[test]
    fn marks_go_and_git_reads_the_rest() {
        for version in ["2", "3", "4"] {
            let marked = "git add .; git update-index --assume-unchanged a; git update-index --skip-worktree deep/b";
            let bytes = written("sha1", version, marked);
            let PlainIndex { bytes: made, hid } = plain(&bytes, None, &|_, marks| marks).unwrap();
            let index = parse(&made).unwrap();
            assert!(hid);
            assert_eq!(index.len(), 4, "{version}");
            assert!(index.values().all(|entry| entry.overlooked == (false, false)), "{version}");
            let end = made.len() - 20;
            assert_eq!(sha1_smol::Sha1::from(&made[..end]).digest().bytes(), made[end..]);
            assert_eq!(plain(&made, None, &|_, marks| marks), None);
        }
    }

    /// What git remembers in the usual course of things is true, in every state that it leaves an index in.
    #[test]
    fn trees_that_git_remembers_are_true() {
        for script in [
            "git add .; git write-tree",
            "git add .; git commit -qm 1; echo x > a; git add a",
            "git add .; git commit -qm 1; git rm -rq deep/er; git write-tree",
            "git add .; git commit -qm 1; git rm -rq deep",
            "git add .; git commit -qm 1; echo n > deep/n; git add -N deep/n; git status",
            "git add .; git commit -qm 1; git switch -qc o; echo o > deep/b; git commit -qam o; git switch -q -; echo p > deep/b; git commit -qam p; git merge o || :",
            "git add .; git commit -qm 1; git sparse-checkout set --cone --sparse-index deep/er; git status",
            "mkdir m z; for n in 1 2 3; do echo $n > m/$n; echo $n > m.$n; echo $n > m-$n; echo $n > z/$n; done; git add .; git commit -qm 1; git read-tree HEAD",
            "git add .; git commit -qm 1; git rm -rq .; git write-tree",
            "git add .; git commit -qm 1; git checkout -q --detach; git stash; git reset -q --hard HEAD",
        ] {
            let settings = "git config user.name A; git config user.email a@b";
            for (format, version) in [("sha1", "2"), ("sha256", "4")] {
                let bytes = written(format, version, &format!("{settings}; {script}"));
                assert_eq!(plain(&bytes, None, &|_, _| (false, false)), None, "{script}");
                let width = if format == "sha1" { 20 } else { 32 };
                assert!(
                    extensions(&bytes, width).iter().any(|(name, _)| *name == b"TREE"),
                    "{script}"
                );
            }
        }
    }

    #[test]
    fn trees_that_are_not_those_of_the_files_go() {
        for (format, width) in [("sha1", 20), ("sha256", 32)] {
            let good = written(format, "2", "git add .; git write-tree");
            let all = extensions(&good, width);
            let (_, data) = all.iter().find(|(name, _)| *name == b"TREE").unwrap();
            let start = good.windows(data.len()).position(|part| part == *data).unwrap();
            for byte in 0..data.len() {
                let mut bad = good.clone();
                bad[start + byte] ^= 1;
                let made = plain(&bad, None, &|_, _| (false, false)).unwrap();
                assert!(made.hid, "{byte}");
                assert!(extensions(&made.bytes, width).is_empty(), "{byte}");
                assert_eq!(parse(&made.bytes), parse(&good), "{byte}");
            }
        }
    }

    #[test]
    fn lists_of_what_need_not_be_looked_at_stay_where_another_index_has_them() {
        let bytes =
            written("sha1", "2", "git add .; git update-index --force-untracked-cache; git status");
        let made = plain(&bytes, None, &|_, _| (false, false)).unwrap();
        assert!(!made.hid);
        assert_eq!(parse(&made.bytes), parse(&bytes));
        assert!(extensions(&made.bytes, 20).iter().all(|(name, _)| *name != b"UNTR"));
        assert_eq!(plain(&bytes, Some(&bytes), &|_, _| (false, false)), None);
    }

    /// What cannot be compared is found anew, too.
    #[test]
    fn an_index_that_is_split_comes_without_caches() {
        for (format, width) in [("sha1", 20), ("sha256", 32)] {
            let script = "git add .; git write-tree; git update-index --split-index; echo x > a; git add a; git write-tree";
            let bytes = written(format, "2", script);
            let names = |bytes: &[u8]| -> Vec<Vec<u8>> {
                extensions(bytes, width).iter().map(|(name, _)| name.to_vec()).collect()
            };
            assert_eq!(names(&bytes), [b"link".to_vec(), b"TREE".to_vec()]);
            let made = plain(&bytes, None, &|_, marks| marks).unwrap();
            assert!(!made.hid);
            assert_eq!(names(&made.bytes), [b"link".to_vec()]);
            assert_eq!(plain(&made.bytes, None, &|_, marks| marks), None);
        }
    }

    #[test]
    fn what_is_no_index_is_none() {
        let good = written("sha1", "2", "git add .");
        assert_eq!(parse(b""), None);
        assert_eq!(parse(&good[..good.len() - 1]), None);
        for cut in 0..good.len() {
            // Never a panic, whatever is missing.
            drop(parse(&good[..cut]));
        }
        let split = written("sha1", "2", "git add .; git update-index --split-index");
        assert_eq!(parse(&split), None);
    }
}
