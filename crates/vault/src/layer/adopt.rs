//! Adopting what somebody else wrote: a directory in overlayfs format becomes a layer and a root.
//!
//! Content is adopted where it was written: files are hashed in place and no byte is copied. The walk sees what was
//! written and nothing else, so its cost does not depend on the size of the tree below.

mod build;
mod content;
mod groups;
mod lower;
mod trim;

use std::collections::HashMap;
use std::path::Path;

use offshoot_host::disk::join;
use offshoot_store::{Id, StackRow};
use offshoot_tree::links::Links;
use offshoot_tree::{Batch, ContentId, ObjectLocation, RootId};

use self::build::{Builder, Built, Fate};
use self::content::{Hashed, hash_files};
use self::lower::Lower;
use super::access::{Access, Reach};
use super::leftover::Pending;
use super::note::ExecNote;
use super::place::PlacedLinks;
use super::stage::{LayerStage, Progress};
use super::upper::Upper;
use super::written::{Owner, UpperDir, Written};
use crate::error::{Result, io_error};
use crate::import::report::Skipped;
use crate::transact::Transaction;
use crate::vault::Vault;

/// What was adopted: stored and durable, but not yet part of any history. Dropped before it is
/// [`settled`](Self::settle), what a command wrote is set aside, to be recovered.
#[derive(Debug)]
pub struct Adopted {
    /// The state of files that the layer shows above its base; the base itself where nothing was changed.
    pub root: RootId,
    /// The content of that state.
    pub content: ContentId,
    /// Sockets, devices and attributes that were written and are not kept.
    pub skipped: Vec<Skipped>,
    /// Files that were touched and whose bytes below are damaged. Their recorded content stays what it was.
    pub damaged: Vec<Vec<u8>>,
    stack: Option<StackRow>,
    /// What is remembered of its hard links.
    links: Option<Vec<u8>>,
    /// Where it was written.
    pending: Option<Pending>,
}

impl Adopted {
    /// A state that was stored without a layer of its own; one is made when it is first mounted.
    pub(crate) fn captured(root: RootId, content: ContentId, skipped: Vec<Skipped>) -> Self {
        let damaged = Vec::new();
        Self { root, content, skipped, damaged, stack: None, links: None, pending: None }
    }

    /// The same, shown by these layers.
    pub(super) fn stacked(self, stack: Option<StackRow>) -> Self {
        Self { stack, ..self }
    }

    /// The same, from what lies in a directory until it is settled.
    pub(super) fn held(self, pending: Pending) -> Self {
        Self { pending: Some(pending), ..self }
    }

    /// What was adopted is part of the history now: what was noted about it is not needed any more.
    pub fn settle(mut self) -> Result<()> {
        self.pending.take().map_or(Ok(()), Pending::settle)
    }

    /// Records how to show the root and what it links; belongs into the transaction that first mentions it.
    pub fn record(&self, tx: &mut Transaction<'_, '_>) -> Result<()> {
        if let Some(stack) = &self.stack {
            tx.set_stack(stack)?;
        }
        match &self.links {
            Some(links) => tx.set_links(&self.root, links),
            None => Ok(()),
        }
    }
}

impl Vault {
    /// Makes a layer of what was written, and the root that it shows above its base; where that is the base, there is no
    /// layer and nothing is stored. Nobody may write any more. What ordinary permissions forbid is opened by `access`.
    /// Where it fails, what was written is set aside if there is a note about it.
    pub fn adopt(&self, mut upper: Upper, access: &dyn Access) -> Result<Adopted> {
        let _held = self.hold()?;
        match self.adopt_written(&mut upper, access) {
            Ok(adopted) if adopted.root == upper.base => {
                upper.stage.discard();
                Ok(adopted)
            }
            Ok(adopted) => Ok(adopted.held(Pending::stage(upper.stage))),
            Err(error) => {
                let unnamed = upper.stage.progress == Progress::Sealed;
                upper.stage.set_aside();
                if unnamed {
                    // Now there may be room again; a row that stays says that its layer is gone, which mounting copes with.
                    let id = upper.stage.id();
                    drop(self.catalog().write(|writer| writer.remove_layer(&id)));
                }
                Err(error)
            }
        }
    }

    fn adopt_written(&self, upper: &mut Upper, access: &dyn Access) -> Result<Adopted> {
        let Upper { stage, base, skipped, placed } = upper;
        let reach = Reach::new(&stage.fs_dir(), access)?;
        let lower = self.lower(stage.note.as_ref(), base)?;
        let written = self.survey(&stage.place, &reach, placed, *base, &lower, false)?;
        let mut skipped = std::mem::take(skipped);
        skipped.extend(written.skipped);
        let (dirs, mut files, built) = (written.dirs, written.files, written.built);
        let (root, content, damaged) = (built.root, built.content, built.damaged.clone());
        if root == *base {
            return Ok(Adopted { damaged, ..Adopted::captured(root, content, skipped) });
        }
        // From here on it is faster to go on than to come back.
        reach.require_time()?;
        // Nobody is to look for content there.
        files.retain(|path, _| !damaged.contains(path));
        let links = Some(self.links_record(base, &written.links_before, &built.links)?);
        trim::trim(&reach, &dirs, &built.fates)?;
        let files = remaining(stage, &dirs, &built.fates, files);
        let stack = self.seal_adopted(stage, base, built, &reach, files)?;
        Ok(Adopted { stack, links, damaged, ..Adopted::captured(root, content, skipped) })
    }

    /// What lies below what was written: what was mounted, where there is a note about that.
    pub(super) fn lower(&self, note: Option<&ExecNote>, base: &RootId) -> Result<Lower> {
        let layers = match note {
            Some(note) => note.layers.clone(),
            None => self
                .recorded_stack(base)?
                .map_or_else(Vec::new, |stack| [stack.layers, stack.data].concat()),
        };
        Ok(Lower { layers: layers.iter().map(|id| self.layer_dir(id)).collect() })
    }

    /// Reads everything that was written and lays it over the base, in memory alone. What hides all below it is a
    /// `whole` state by itself.
    pub(super) fn survey(
        &self,
        around: &Path,
        reach: &Reach<'_>,
        placed: &PlacedLinks,
        base: RootId,
        lower: &Lower,
        whole: bool,
    ) -> Result<Survey> {
        let Written { mut dirs, skipped } = Written::scan(reach)?;
        placed.mark_untouched(&mut dirs);
        if let Some(top) = dirs.first_mut().filter(|_| whole) {
            top.opaque = true;
        }
        let files = hash_files(reach, &dirs)?;
        let links_before = self.linked_paths(&base, &[])?;
        let builder = Builder {
            objects: self.objects()?,
            reach,
            dirs: &dirs,
            files: &files,
            own: owner(around)?,
            placed: placed.names(),
            lower,
        };
        let built = builder.build(&base, &links_before)?;
        Ok(Survey { dirs, files, skipped, links_before, built })
    }

    /// Seals the layer and stores the objects that name it.
    fn seal_adopted(
        &self,
        stage: &mut LayerStage,
        base: &RootId,
        built: Built,
        reach: &Reach<'_>,
        files: HashMap<Vec<u8>, Hashed>,
    ) -> Result<Option<StackRow>> {
        let mut batch = built.batch;
        self.keep_closed(reach, files.iter().filter(|(_, file)| file.closed), &mut batch)?;
        let layer = stage.seal_in_place(Some(built.root))?;
        self.record_layer(&layer)?;
        for (path, file) in files.into_iter().filter(|(_, file)| !file.closed) {
            batch.blob(file.blob, &ObjectLocation::Layer { layer: layer.id, path });
        }
        // A batch is all or nothing: without it no object names the layer.
        self.objects()?.store(&batch)?;
        stage.progress = Progress::Named;
        // A state that was there before may have a stack that is lower.
        if self.recorded_stack(&built.root)?.is_some() {
            return Ok(None);
        }
        let below = self.recorded_stack(base)?;
        Ok(below.map(|StackRow { mut layers, data, .. }| {
            layers.insert(0, layer.id);
            StackRow { root: built.root.0, layers, data }
        }))
    }
}

/// What was written, and the state that it makes of its base.
pub(super) struct Survey {
    pub(super) dirs: Vec<UpperDir>,
    files: HashMap<Vec<u8>, Hashed>,
    pub(super) skipped: Vec<Skipped>,
    links_before: Links,
    built: Built,
}

impl Survey {
    /// The state, and the objects that it is made of but for its files.
    pub(super) fn tree(self) -> (RootId, Batch) {
        (self.built.root, self.built.batch)
    }

    /// The same with its files, as those of a layer.
    pub(super) fn whole_tree(self, layer: Id) -> (RootId, Batch) {
        let Built { root, mut batch, .. } = self.built;
        for (path, file) in self.files {
            batch.blob(file.blob, &ObjectLocation::Layer { layer, path });
        }
        (root, batch)
    }
}

/// Who owns the vault on disk: nobody but the vault touches the directory around the one that was written to.
fn owner(around: &Path) -> Result<Owner> {
    let stat = rustix::fs::stat(around).map_err(io_error("stat", around))?;
    Ok(Owner::of(&stat))
}

/// The files that are still in the layer; counts what has to be synced.
fn remaining(
    stage: &LayerStage,
    dirs: &[UpperDir],
    fates: &[Vec<Fate>],
    mut files: HashMap<Vec<u8>, Hashed>,
) -> HashMap<Vec<u8>, Hashed> {
    let mut kept = HashMap::new();
    for (dir, fates) in dirs.iter().zip(fates) {
        for (entry, _) in dir.entries.iter().zip(fates).filter(|(_, fate)| **fate == Fate::Kept) {
            let file = files.remove_entry(&join(&dir.path, &entry.name));
            stage.count(file.as_ref().map_or(0, |(_, file)| file.size));
            kept.extend(file);
        }
    }
    kept
}
