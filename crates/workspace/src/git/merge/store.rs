//! What a repository in a state of files stores by its hash, in files of their own or in packs.

mod loose;
mod pack;

use std::cell::OnceCell;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use offshoot_tree::{Body, VaultPath};

use crate::error::Result;
use crate::git::object_hash::ObjectHash;
use crate::git::repository::{State, common};
pub(in crate::git) use loose::is_object_of;
use pack::Pack;

/// A larger object is not read.
pub(super) const LONGEST: usize = 1 << 20;

/// The objects of one repository in one state. Packs are looked at only for what has no file of its own.
pub(super) struct Store<'a> {
    state: State<'a>,
    objects: VaultPath,
    packs: OnceCell<Packs<'a>>,
}

#[derive(Default)]
struct Packs<'a> {
    found: Vec<Pack<'a>>,
    /// There may be more: in another place, in a pack that is too large to be read, or with whom it was cloned from.
    more: bool,
}

/// An object, as far as it matters what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl<'a> Store<'a> {
    /// Of a repository, or of the one that a further working tree belongs to.
    pub(super) fn new(state: State<'a>, repository: &VaultPath) -> Self {
        let objects = common(repository).join(b"objects");
        Self { state, objects, packs: OnceCell::new() }
    }

    /// Whether an object is there. Where that cannot be told, it is taken to be.
    pub(super) fn has(&self, id: &[u8]) -> Result<bool> {
        Ok(self.has_file(id)? || self.is_packed(id)?)
    }

    fn has_file(&self, id: &[u8]) -> Result<bool> {
        if !is_id(id) {
            return Ok(false);
        }
        let found = self.state.tree.get(&self.path(id))?;
        Ok(found.is_some_and(|entry| matches!(entry.body, Body::File { size, .. } if size > 0)))
    }

    /// Whether the file that an object has for itself is not the object which its name says.
    pub(super) fn is_damaged(&self, id: &[u8]) -> Result<bool> {
        match self.state.tree.get(&self.path(id))?.map(|entry| entry.body) {
            Some(Body::File { blob, .. }) => {
                let mut reader = self.state.objects.reader(&blob)?;
                Ok(!is_object_of(&mut reader, id)?)
            }
            _ => Ok(false),
        }
    }

    /// The object whose file is at a path.
    pub(super) fn id_at(&self, path: &VaultPath) -> Option<Vec<u8>> {
        match path.names().strip_prefix(self.objects.names())? {
            [first, rest] => {
                Some([first.as_slice(), rest].concat()).filter(|id| first.len() == 2 && is_id(id))
            }
            _ => None,
        }
    }

    /// Whether an object is in a pack. Where that cannot be told, it is taken to be.
    pub(super) fn is_packed(&self, id: &[u8]) -> Result<bool> {
        let Some(raw) = raw(id) else { return Ok(false) };
        let packs = self.packs()?;
        Ok(packs.more || packs.found.iter().any(|pack| pack.find(&raw).is_some()))
    }

    /// An object with what it is; nothing where it is not there, too large, not what its id says, or cannot be read.
    pub(super) fn read(&self, id: &[u8]) -> Result<Option<(Kind, Vec<u8>)>> {
        match self.read_file(id)? {
            Some(found) => Ok(Some(found)),
            None => self.read_packed(id),
        }
    }

    /// The same for one that has a file of its own.
    pub(super) fn read_file(&self, id: &[u8]) -> Result<Option<(Kind, Vec<u8>)>> {
        if !is_id(id) {
            return Ok(None);
        }
        let packed = self.state.file(&self.path(id))?;
        Ok(packed.and_then(|bytes| loose_object(id, &bytes)))
    }

    fn read_packed(&self, id: &[u8]) -> Result<Option<(Kind, Vec<u8>)>> {
        let Some(raw) = raw(id) else { return Ok(None) };
        for pack in &self.packs()?.found {
            if let Some(at) = pack.find(&raw) {
                return Ok(pack.read(at)?.filter(|found| is_named(id, found)));
            }
        }
        Ok(None)
    }

    fn path(&self, id: &[u8]) -> VaultPath {
        self.objects.join(&id[..2]).join(&id[2..])
    }

    fn packs(&self) -> Result<&Packs<'a>> {
        if let Some(packs) = self.packs.get() {
            return Ok(packs);
        }
        let found = self.find_packs()?;
        Ok(self.packs.get_or_init(|| found))
    }

    fn find_packs(&self) -> Result<Packs<'a>> {
        let mut packs = Packs::default();
        let tree = self.state.tree;
        for name in [b"alternates".as_slice(), b"http-alternates"] {
            packs.more |= tree.get(&self.objects.join(b"info").join(name))?.is_some();
        }
        let directory = self.objects.join(b"pack");
        let entry = tree.get(&directory)?;
        let Some(dir) = entry.as_ref().and_then(|entry| entry.directory()) else {
            return Ok(packs);
        };
        for entry in tree.list(dir)? {
            packs.more |= entry.name.ends_with(b".promisor");
            let Some(stem) = entry.name.strip_suffix(b".idx") else { continue };
            let index = self.state.file(&directory.join(&entry.name))?;
            let path = directory.join(&[stem, b".pack"].concat());
            match index.and_then(|index| Pack::new(self.state, index, path)) {
                Some(pack) => packs.found.push(pack),
                None => packs.more = true,
            }
        }
        Ok(packs)
    }
}

/// Whether a text is the id of an object.
pub(in crate::git) fn is_id(text: &[u8]) -> bool {
    matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit)
}

fn raw(id: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(id).ok().filter(|_| is_id(id))?;
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// The bytes of an id as text.
pub(crate) fn hex(raw: &[u8]) -> Vec<u8> {
    raw.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// Whether an object has this id.
fn is_named(id: &[u8], (kind, bytes): &(Kind, Vec<u8>)) -> bool {
    let Some(mut hash) = ObjectHash::of_width(id.len() / 2) else { return false };
    let kind = match kind {
        Kind::Commit => "commit",
        Kind::Tree => "tree",
        Kind::Blob => "blob",
        Kind::Tag => "tag",
    };
    hash.update(format!("{kind} {}\0", bytes.len()).as_bytes());
    hash.update(bytes);
    hex(&hash.finish()).eq_ignore_ascii_case(id)
}

/// The object that a file of its own has; nothing where it is too large, or not what its id says.
pub(super) fn loose_object(id: &[u8], packed: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let packed = Some(packed).filter(|packed| packed.len() <= LONGEST)?;
    parsed(packed).filter(|found| is_named(id, found))
}

/// A file of its own: what it is, how long it is, and its bytes, compressed.
fn parsed(packed: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let bytes = decompress_to_vec_zlib_with_limit(packed, LONGEST).ok()?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let kind = match bytes.split(|byte| *byte == b' ').next()? {
        b"commit" => Kind::Commit,
        b"tree" => Kind::Tree,
        b"blob" => Kind::Blob,
        b"tag" => Kind::Tag,
        _ => return None,
    };
    Some((kind, bytes[end + 1..].to_vec()))
}
