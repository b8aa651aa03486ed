//! What a layer that describes a whole root leaves in other layers.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};

use offshoot_host::disk;
use offshoot_store::Id;
use offshoot_tree::links::Lookup;
use offshoot_tree::{BlobId, Body, DirRef, Entry, ObjectLocation, RootId, TreeError};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::error::{Result, io_error};
use crate::vault::Vault;

/// Smaller files are copied: what says where the bytes are takes a block as well.
const SMALLEST: u64 = 16 * 1024;
/// At most so many layers hold bytes: each may be searched for each file.
const MOST_LAYERS: usize = 16;
/// Longer paths do not fit into an attribute everywhere.
const LONGEST_PATH: usize = 1024;

/// What to leave where it is.
pub(super) struct FlatPlan {
    /// The path of each content in the layers that hold bytes.
    pub(super) elsewhere: HashMap<BlobId, Vec<u8>>,
    /// Those layers, in the order in which they are searched.
    pub(super) data: Vec<Id>,
    /// Bytes that have to be copied.
    pub(super) copied: u64,
}

/// Content that could stay where it is.
struct Candidate {
    blob: BlobId,
    size: u64,
    layer: Id,
    path: Vec<u8>,
}

impl FlatPlan {
    pub(super) fn new(vault: &Vault, root: &RootId) -> Result<Self> {
        let (candidates, mut copied) = find(vault, root)?;
        let mut data = biggest(&candidates);
        // What was written last is what is there now, most of the time, so it is searched first.
        data.sort_unstable_by(|a, b| b.cmp(a));
        let mut search = Search::new(vault, &data)?;
        let (mut elsewhere, mut homes) = (HashMap::new(), HashSet::new());
        for candidate in candidates {
            match search.finds(&candidate)? {
                Some(layer) => {
                    homes.insert(layer);
                    elsewhere.insert(candidate.blob, candidate.path);
                }
                None => copied += candidate.size,
            }
        }
        data.retain(|id| homes.contains(id));
        Ok(Self { elsewhere, data, copied })
    }
}

/// The contents of a root that could stay where they are, each once, and the bytes of all others.
fn find(vault: &Vault, root: &RootId) -> Result<(Vec<Candidate>, u64)> {
    let objects = vault.objects()?;
    let top = objects.root(root)?;
    let mut pending: Vec<DirRef> = top.directory().copied().into_iter().collect();
    let (mut found, mut copied) = (HashMap::new(), 0);
    while let Some(dir) = pending.pop() {
        let entries = objects.entries(&dir)?;
        pending.extend(entries.iter().filter_map(Entry::directory));
        for entry in &entries {
            let Body::File { size, blob } = &entry.body else { continue };
            if *size < SMALLEST {
                copied += size;
                continue;
            }
            if found.contains_key(blob) {
                continue;
            }
            match objects.place(blob)? {
                ObjectLocation::Layer { layer, path } if path.len() <= LONGEST_PATH => {
                    let candidate = Candidate { blob: *blob, size: *size, layer, path };
                    found.insert(*blob, candidate);
                }
                _ => copied += size,
            }
        }
    }
    Ok((found.into_values().collect(), copied))
}

/// The layers that hold most of the bytes.
fn biggest(candidates: &[Candidate]) -> Vec<Id> {
    let mut bytes: HashMap<Id, u64> = HashMap::new();
    for candidate in candidates {
        *bytes.entry(candidate.layer).or_default() += candidate.size;
    }
    let mut layers: Vec<(Id, u64)> = bytes.into_iter().collect();
    layers.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(b.0.cmp(&a.0)));
    layers.truncate(MOST_LAYERS);
    layers.into_iter().map(|(id, _)| id).collect()
}

/// The layers that hold bytes, searched as the kernel does.
struct Search<'a> {
    vault: &'a Vault,
    layers: Vec<(Id, OwnedFd)>,
    /// What layers show, as far as it was asked for; none where that is not known.
    shown: HashMap<Id, Option<Lookup<'a>>>,
}

impl<'a> Search<'a> {
    fn new(vault: &'a Vault, layers: &[Id]) -> Result<Self> {
        let open = |id: &Id| {
            let dir = vault.layer_dir(id);
            Ok((*id, disk::open_dir_path(&dir).map_err(io_error("open", &dir))?))
        };
        let layers: Result<Vec<(Id, OwnedFd)>> = layers.iter().map(open).collect();
        Ok(Self { vault, layers: layers?, shown: HashMap::new() })
    }

    /// The layer in which the kernel, which takes the first file of a path, finds the content; none where it would find
    /// something else.
    fn finds(&mut self, candidate: &Candidate) -> Result<Option<Id>> {
        let mut first = None;
        for (id, top) in &self.layers {
            match look(top, &candidate.path) {
                Ok(None) => {}
                Ok(Some(size)) if size == candidate.size => {
                    first = Some(*id);
                    break;
                }
                Ok(Some(_)) | Err(_) => return Ok(None),
            }
        }
        match first {
            Some(id) if id != candidate.layer && !self.shows(&id, candidate)? => Ok(None),
            first => Ok(first),
        }
    }

    /// Whether the file of a layer that is not the home of the content holds it too, as after a change of its mode.
    fn shows(&mut self, id: &Id, candidate: &Candidate) -> Result<bool> {
        if !self.shown.contains_key(id) {
            let row = self.vault.read(|reader| Ok(reader.layer(id)?))?;
            let root = row.and_then(|row| row.root).map(RootId);
            let objects = self.vault.objects()?;
            let lookup = root.and_then(|root| Lookup::new(objects, &root).ok());
            self.shown.insert(*id, lookup);
        }
        let Some(Some(lookup)) = self.shown.get_mut(id) else { return Ok(false) };
        let shown = match lookup.get(&candidate.path) {
            // What is not part of any history any more may be gone.
            Err(TreeError::MissingObject(_)) => return Ok(false),
            shown => shown?.map(|entry| entry.body),
        };
        Ok(shown == Some(Body::File { size: candidate.size, blob: candidate.blob }))
    }
}

/// The size of the file at a path of a layer. Whatever else is there the kernel passes over, as it does a link on the way.
fn look(top: &OwnedFd, path: &[u8]) -> Result<Option<u64>, Errno> {
    let opened = match disk::open_below(top.as_fd(), path, OFlags::PATH) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        other => other?,
    };
    let stat = rustix::fs::fstat(opened)?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(is_file.then_some(stat.st_size as u64))
}
