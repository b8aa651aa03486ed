//! Taking in the folders that a vault is bound to: each by itself, then all of them as one tree.

use std::path::{Path, PathBuf};

use offshoot_host::Mtime;
use offshoot_host::disk::{bytes_path, join};
use offshoot_tree::links::Links;
use offshoot_tree::{Batch, Body, ContentId, Entry, Meta, RootId, VaultPath};

use super::options::ImportOptions;
use super::report::{ImportReport, Skipped};
use super::{Imported, PendingCache, Taken};
use crate::error::{Result, VaultError, io_error};
use crate::layer::LayerKind;
use crate::refs::{BOUND, Binding, OWN};
use crate::vault::Vault;

impl Vault {
    /// Reads all folders that a vault is bound to, the top of the tree first, and gives the one state of files that they
    /// make. Unchanged files are known by their stat and not read. The same folders always give the same root, but for what
    /// cannot be read: that is as the main line has it.
    pub fn import_bound(&self, bindings: &[Binding], options: &ImportOptions) -> Result<Imported> {
        self.enter()?;
        let _held = self.hold()?;
        let mut options = options.clone();
        options.never.push(self.dir().to_owned());
        let Some((first, others)) = bindings.split_first().filter(|(first, _)| first.is_first())
        else {
            return Err(VaultError::Unbound);
        };
        if others.is_empty() {
            let Taken { imported, cache } = self.take_folder(first, &options)?;
            let imported = self.keep_unreadable(imported)?;
            cache.save_by(&imported.root);
            return Ok(imported);
        }
        let mut taken = vec![self.take_folder(first, &options)?];
        for other in others {
            taken.push(self.take_folder(other, &options)?);
        }
        self.graft(bindings, taken)
    }

    /// A state of files without one of its further folders, and its content. What was made to hold the folders goes with
    /// the last of them.
    pub fn without_bound(&self, root: &RootId, name: &str) -> Result<(RootId, ContentId)> {
        let mut top = self.objects()?.root(root)?;
        let mut batch = Batch::default();
        let plain = plain_meta(&top.meta);
        let mut entries = self.entries_of(&top)?;
        if let Some(mut own) = take(&mut entries, OWN) {
            let mut inside = self.entries_of(&own)?;
            if let Some(mut bound) = take(&mut inside, BOUND) {
                let mut folders = self.entries_of(&bound)?;
                take(&mut folders, name.as_bytes());
                if !folders.is_empty() {
                    bound.body = Body::Directory(batch.directory(&folders).into());
                    put(&mut inside, bound);
                }
            }
            if !inside.is_empty() || own.meta != plain {
                own.body = Body::Directory(batch.directory(&inside).into());
                put(&mut entries, own);
            }
        }
        let dir = batch.directory(&entries);
        top.body = Body::Directory(dir.into());
        let root = batch.root(&top);
        self.store(&batch)?;
        Ok((root, dir.content))
    }

    /// Reads the folder that is the top of the tree.
    pub(super) fn import_first(
        &self,
        kind: LayerKind,
        source: &Path,
        options: &ImportOptions,
    ) -> Result<Imported> {
        let Taken { imported, cache } =
            self.take(kind, source, Some(&VaultPath::top()), options)?;
        cache.save(&imported.root);
        Ok(imported)
    }

    fn take_folder(&self, binding: &Binding, options: &ImportOptions) -> Result<Taken> {
        self.take(LayerKind::Content, &folder(binding)?, Some(&binding.at()), options)
    }

    /// Puts the other folders into the tree of the first.
    fn graft(&self, bindings: &[Binding], taken: Vec<Taken>) -> Result<Imported> {
        let (parts, caches): (Vec<Imported>, Vec<PendingCache>) =
            taken.into_iter().map(|taken| (taken.imported, taken.cache)).unzip();
        let objects = self.objects()?;
        let mut batch = Batch::default();
        let top = self.grafted_top(bindings, &parts, &mut batch)?;
        let root = batch.root(&top);
        if objects.root(&root).is_err() {
            objects.store(&batch)?;
        }
        let mut report = ImportReport::default();
        let mut links = Links::default();
        for (binding, part) in bindings.iter().zip(&parts) {
            let place = binding.at().relative();
            add_report(&mut report, &part.report, &place);
            part.links.paths().for_each(|path| links.set(join(&place, path), true));
        }
        let content = top.directory().map_or(parts[0].content, |dir| dir.content);
        let imported = Imported { root, content, top, report, stack: None, links };
        let imported = self.keep_unreadable(imported)?;
        // What is in one folder is kept by the root of them all, and by no other.
        caches.into_iter().for_each(|cache| cache.save_by(&imported.root));
        Ok(imported)
    }

    fn grafted_top(
        &self,
        bindings: &[Binding],
        parts: &[Imported],
        batch: &mut Batch,
    ) -> Result<Entry> {
        let mut top = parts[0].top.clone();
        let plain = plain_meta(&top.meta);
        let mut bound: Vec<Entry> = Vec::new();
        for (binding, part) in bindings.iter().zip(parts).skip(1) {
            bound.push(Entry { name: binding.name.clone().into_bytes(), ..part.top.clone() });
        }
        let mut entries = self.entries_of(&top)?;
        let own = match find(&entries, OWN) {
            Some(own) if own.directory().is_none() => {
                let path = bindings[0].host_path().join(bytes_path(OWN));
                return Err(VaultError::ReservedName { path });
            }
            Some(own) => own.clone(),
            None => directory(OWN, plain.clone(), &[], batch),
        };
        let mut inside = self.entries_of(&own)?;
        put(&mut inside, directory(BOUND, plain, &sorted(bound), batch));
        put(&mut entries, Entry { body: Body::Directory(batch.directory(&inside).into()), ..own });
        top.body = Body::Directory(batch.directory(&entries).into());
        Ok(top)
    }

    fn entries_of(&self, entry: &Entry) -> Result<Vec<Entry>> {
        match entry.directory() {
            Some(dir) if dir.entries > 0 => Ok(self.objects()?.entries(dir)?),
            _ => Ok(Vec::new()),
        }
    }
}

/// The host directory of a binding, which must be there: nothing is ever taken for empty that is only gone.
fn folder(binding: &Binding) -> Result<PathBuf> {
    let path = binding.host_path();
    if !path.is_dir() {
        return Err(VaultError::FolderGone { name: binding.name.clone(), path });
    }
    path.canonicalize().map_err(io_error("open", &path))
}

/// Metadata of the directories between the top and the other folders: the same at every time, so that equal folders
/// give equal roots.
fn plain_meta(top: &Meta) -> Meta {
    let mtime = Mtime { seconds: 0, nanoseconds: 0 };
    Meta { mode: 0o755, uid: top.uid, gid: top.gid, mtime, xattrs: Vec::new() }
}

fn directory(name: &[u8], meta: Meta, entries: &[Entry], batch: &mut Batch) -> Entry {
    let body = Body::Directory(batch.directory(entries).into());
    Entry { name: name.to_vec(), meta, group: None, conflict: None, body }
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

fn find<'e>(entries: &'e [Entry], name: &[u8]) -> Option<&'e Entry> {
    let at = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name)).ok()?;
    Some(&entries[at])
}

fn take(entries: &mut Vec<Entry>, name: &[u8]) -> Option<Entry> {
    let at = entries.binary_search_by(|entry| entry.name.as_slice().cmp(name)).ok()?;
    Some(entries.remove(at))
}

fn put(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.binary_search_by(|other| other.name.cmp(&entry.name)) {
        Ok(at) => entries[at] = entry,
        Err(at) => entries.insert(at, entry),
    }
}

/// Adds what was found in a folder that lies at `place`.
fn add_report(sum: &mut ImportReport, part: &ImportReport, place: &[u8]) {
    sum.files += part.files;
    sum.directories += part.directories;
    sum.symlinks += part.symlinks;
    sum.fifos += part.fifos;
    sum.bytes += part.bytes;
    sum.unchanged += part.unchanged;
    sum.ignored += part.ignored;
    sum.skipped.extend(part.skipped.iter().map(|skipped| Skipped {
        path: if skipped.path.is_empty() { place.to_vec() } else { join(place, &skipped.path) },
        why: skipped.why.clone(),
    }));
}
