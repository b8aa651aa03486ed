//! Mending what can be mended: content that is still somewhere else, and records that lead to nothing.

mod advice;
mod find;
mod loss;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;

use offshoot_host::disk;
use offshoot_store::{Hash, Id, ObjectKind, StoreError};
use offshoot_tree::links::LinkRecord;
use offshoot_tree::{
    BlobId, Body, DirRef, Entry, NodeId, ObjectLocation, ObjectLocationStart, RootId,
};

use self::find::Finder;
use super::{CheckDepth, CheckReport};
use crate::actor::Actor;
use crate::error::{Result, VaultError, io_error};
use crate::gate::COLLECTING;
use crate::gc::caches::leftovers;
use crate::gc::layers::each_place;
use crate::gc::pins::Pins;
use crate::vault::Vault;

/// A record of hard links that refers to another is no longer than this.
const REFERENCE: u32 = 33;

/// What a repair did, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// What was mended.
    pub repaired: Vec<String>,
    /// What a check finds now.
    pub check: CheckReport,
    /// What somebody has to decide.
    pub advice: Vec<String>,
}

/// Content that some snapshot reaches.
struct Reached {
    size: u64,
    /// Where it is in the trees that hold it; a few places are enough.
    paths: Vec<Vec<u8>>,
}

struct Repair<'v> {
    vault: &'v Vault,
    pins: Pins,
    repaired: Vec<String>,
}

impl Vault {
    /// Mends what can be mended and checks everything. No ref is changed, but for a main line that is missing, and nothing is taken
    /// away that something needs. Others wait meanwhile.
    pub fn repair(&self, depth: CheckDepth, actor: &Actor) -> Result<RepairReport> {
        let head = self.lost_head()?;
        let mut accepted = self.accept_loss(actor)?;
        accepted.extend(head.map(|head| self.restore_head(head, actor)).transpose()?);
        self.enter()?;
        let _alone = self.take_alone(COLLECTING)?;
        let mut records = self.repair_records()?;
        records.splice(..0, accepted);
        let closed = self.close_gate()?;
        let pins = Pins::read(self)?;
        let mut repair = Repair { vault: self, pins, repaired: Vec::new() };
        for step in [Repair::contents, Repair::stacks, Repair::links, Repair::leftovers] {
            unless_damaged(step(&mut repair))?;
        }
        let mut repaired = [records, repair.repaired].concat();
        drop(closed);
        let mut check = match self.check_held(depth) {
            Ok(check) => check,
            Err(error) => {
                self.record_repairs(&repaired, actor)?;
                return Err(error);
            }
        };
        for layer in &check.damaged_layers {
            // Where the only copy of something is damaged nothing can be built, and the check below says so again.
            if self.rebuild_layer(layer).is_ok() {
                repaired.push(format!("layer {layer} is damaged and not used any more"));
            }
        }
        self.record_repairs(&repaired, actor)?;
        if !check.damaged_layers.is_empty() {
            check = self.check_held(depth)?;
        }
        let advice = match check.problems.is_empty() {
            true => Vec::new(),
            false => unless_damaged(self.advice())?,
        };
        Ok(RepairReport { repaired, check, advice })
    }
}

impl Vault {
    fn record_repairs(&self, repaired: &[String], actor: &Actor) -> Result<()> {
        if repaired.is_empty() {
            return Ok(());
        }
        self.transact("vault repair", actor, |tx| {
            tx.record_always();
            tx.summary(format!("repair {} things", repaired.len()));
            tx.detail("repaired", repaired.to_vec());
            Ok(())
        })?;
        Ok(())
    }

    /// Removes damaged records of what is made again when it is missing.
    fn repair_records(&self) -> Result<Vec<String>> {
        let mut repaired = Vec::new();
        if self.catalog().restore_tallies()? {
            repaired.push("the numbers of rows were counted anew".to_owned());
        }
        let removed = self.catalog().write(|writer| writer.remove_damaged_caches())?;
        if removed > 0 {
            repaired.push(format!("{removed} damaged records of layers and links were forgotten"));
        }
        Ok(repaired)
    }
}

impl Repair<'_> {
    /// Brings content that cannot be read back from wherever it still is.
    fn contents(&mut self) -> Result<()> {
        let reached = self.reached()?;
        let objects = self.vault.objects()?;
        let mut bad: BTreeMap<BlobId, Option<Id>> = BTreeMap::new();
        for blob in reached.keys() {
            let read = objects.reader(blob).and_then(|mut reader| {
                reader.copy_to(&mut std::io::sink(), std::path::Path::new("nowhere"))
            });
            if let Err(error) = read {
                let error = VaultError::from(error);
                // Nothing is replaced that another process may be able to read.
                if error.is_of_process() {
                    return Err(error);
                }
                let layer = match objects.place(blob) {
                    Ok(ObjectLocation::Layer { layer, .. }) => Some(layer),
                    _ => None,
                };
                bad.insert(*blob, layer);
            }
        }
        if bad.is_empty() {
            return Ok(());
        }
        let finder = Finder::new(self.vault, bad.keys())?;
        let mut packer = self.vault.packer_anew()?;
        let mut lost_in: HashSet<Id> = HashSet::new();
        for (blob, layer) in &bad {
            let here = &reached[blob];
            match finder.find(blob, here.size, &here.paths)? {
                Some((reader, from)) => {
                    packer.add_from(blob, here.size, reader)?;
                    self.repaired.push(format!("content {blob} was brought back from {from}"));
                }
                None => lost_in.extend(*layer),
            }
        }
        packer.flush()?;
        let damaged: BTreeSet<Id> = bad.into_values().flatten().collect();
        for layer in damaged.iter().filter(|layer| !lost_in.contains(layer)) {
            self.retire(layer, &reached)?;
        }
        Ok(())
    }

    /// Takes a layer out of use that shows something else than it should; what is still good in it moves to packs.
    fn retire(&mut self, layer: &Id, reached: &BTreeMap<BlobId, Reached>) -> Result<()> {
        let mut homes = Vec::new();
        each_place(self.vault, ObjectKind::Blob, |object, start| {
            if start == ObjectLocationStart::Layer(*layer) {
                homes.push(BlobId(object.id));
            }
        })?;
        let mut packer = self.vault.packer()?;
        for blob in homes.iter().filter(|blob| reached.contains_key(blob)) {
            packer.add(blob, reached[blob].size)?;
        }
        packer.flush()?;
        let unreached: Vec<Hash> =
            homes.iter().filter(|blob| !reached.contains_key(blob)).map(|blob| blob.0).collect();
        self.vault.objects()?.backend().remove(ObjectKind::Blob, &unreached)?;
        let in_use = self.pins.layers.contains(layer);
        self.vault.catalog().write(|writer| {
            for stack in writer.stacks()? {
                if stack.all_layers().any(|id| id == layer) {
                    writer.remove_stack(&stack.root)?;
                }
            }
            match in_use {
                true => Ok::<(), VaultError>(()),
                false => Ok(writer.remove_layer(layer)?),
            }
        })?;
        if !in_use {
            let path = self.vault.layers_dir().join(layer.to_string());
            if path.is_dir() {
                disk::remove_tree(&path).map_err(io_error("remove", &path))?;
            }
        }
        self.repaired.push(format!("layer {layer} was damaged and is no longer used"));
        Ok(())
    }

    /// Forgets stacks that cannot be shown, and layers that are gone and held nothing; both are made again when needed.
    fn stacks(&mut self) -> Result<()> {
        let mut homes: HashSet<Id> = HashSet::new();
        each_place(self.vault, ObjectKind::Blob, |_, start| {
            if let ObjectLocationStart::Layer(layer) = start {
                homes.insert(layer);
            }
        })?;
        let objects = self.vault.objects()?;
        let there = |id: &Id| self.vault.layers_dir().join(id.to_string()).join("fs").is_dir();
        let (layers, stacks) =
            self.vault.read(|reader| Ok((reader.layers()?, reader.stacks()?)))?;
        let known: HashSet<Id> = layers.iter().map(|layer| layer.id).collect();
        let mut useless = Vec::new();
        for stack in stacks {
            let whole = stack.all_layers().all(|id| known.contains(id) && there(id));
            if !whole || !objects.has_root(&RootId(stack.root))? {
                useless.push(stack.root);
            }
        }
        let gone = layers.iter().filter(|layer| !there(&layer.id) && !homes.contains(&layer.id));
        let gone: Vec<Id> = gone.map(|layer| layer.id).collect();
        self.vault.catalog().write(|writer| {
            for root in &useless {
                writer.remove_stack(root)?;
            }
            for layer in &gone {
                writer.remove_layer(layer)?;
            }
            Ok::<(), VaultError>(())
        })?;
        let stacks = useless
            .iter()
            .map(|root| format!("root {} will be shown by new layers", RootId(*root)));
        let layers = gone.iter().map(|layer| format!("layer {layer} is gone and was forgotten"));
        self.repaired.extend(stacks.chain(layers));
        Ok(())
    }

    /// Forgets hard links of roots that are gone, but for lists that others refer to.
    fn links(&mut self) -> Result<()> {
        let objects = self.vault.objects()?;
        let rows = self.vault.read(|reader| Ok(reader.link_rows(REFERENCE)?))?;
        let mut referred: HashSet<Hash> = HashSet::new();
        for short in rows.iter().filter_map(|(_, short)| short.as_ref()) {
            if let Some(LinkRecord::SameAs(root)) = LinkRecord::decode(short) {
                referred.insert(root.0);
            }
        }
        let mut gone = Vec::new();
        for (root, _) in rows {
            if !referred.contains(&root) && !objects.has_root(&RootId(root))? {
                gone.push(root);
            }
        }
        self.vault.catalog().write(|writer| {
            gone.iter().try_for_each(|root| writer.remove_links(root)).map_err(VaultError::from)
        })?;
        if !gone.is_empty() {
            self.repaired.push(format!("{} records of hard links led to nothing", gone.len()));
        }
        Ok(())
    }

    /// Removes what crashes left.
    fn leftovers(&mut self) -> Result<()> {
        for path in leftovers(self.vault)? {
            let removed = match path.is_dir() {
                true => disk::remove_tree(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(io_error("remove", &path))?;
            self.repaired.push(format!("{} was left by a crash and removed", path.display()));
        }
        Ok(())
    }

    /// Every content that can be reached, with where it is in the trees. What cannot be read is left out; the check names it.
    fn reached(&self) -> Result<BTreeMap<BlobId, Reached>> {
        let roots = self.vault.read(|reader| Ok(reader.snapshot_roots()?))?;
        let objects = self.vault.objects()?;
        let mut reached: BTreeMap<BlobId, Reached> = BTreeMap::new();
        let mut seen: HashSet<NodeId> = HashSet::new();
        for root in roots.into_values() {
            let Ok(top) = objects.root(&RootId(root)) else { continue };
            let mut pending: Vec<(Vec<u8>, DirRef)> = Vec::new();
            note_reached(&top, &[], &mut reached, &mut pending);
            while let Some((path, dir)) = pending.pop() {
                if !seen.insert(dir.node) {
                    continue;
                }
                for entry in objects.entries(&dir).unwrap_or_default() {
                    let path = disk::join(&path, &entry.name);
                    note_reached(&entry, &path, &mut reached, &mut pending);
                }
            }
        }
        Ok(reached)
    }
}

/// What a step gave. What needs a record that is damaged is left undone, and the check names the record.
fn unless_damaged<T: Default>(done: Result<T>) -> Result<T> {
    match done {
        Err(VaultError::Store(StoreError::Damaged { .. })) => Ok(T::default()),
        other => other,
    }
}

/// Notes the content of an entry and its directories, with those of the versions that its conflict keeps.
fn note_reached(
    entry: &Entry,
    path: &[u8],
    reached: &mut BTreeMap<BlobId, Reached>,
    pending: &mut Vec<(Vec<u8>, DirRef)>,
) {
    let record = entry.conflict.iter().flat_map(|record| record.versions());
    let versions = record.map(|version| (version.path.relative(), &version.entry.body));
    for (path, body) in versions.chain([(path.to_vec(), &entry.body)]) {
        match body {
            Body::Directory(dir) => pending.push((path, **dir)),
            Body::File { size, blob } => {
                let here = reached
                    .entry(*blob)
                    .or_insert_with(|| Reached { size: *size, paths: Vec::new() });
                here.paths.push(path);
            }
            _ => {}
        }
    }
}
