//! Adopting what somebody else wrote: a directory in overlayfs format becomes a layer and a root.
//!
//! Content is adopted where it was written: files are hashed in place and no byte is copied. The walk sees what was
//! written and nothing else, so its cost does not depend on the size of the tree below.

mod build;
mod content;
mod groups;
mod trim;

use std::collections::HashMap;

use offshoot_store::StackRow;

use self::build::{Builder, Built, Fate};
use self::content::{Hashed, hash_files};
use super::access::{Access, Reach};
use super::stage::LayerStage;
use super::upper::Upper;
use super::written::{Owner, UpperDir, Written};
use crate::disk::join;
use crate::error::{Result, io_error};
use crate::hash::{ContentId, RootId};
use crate::import::Skipped;
use crate::objects::Place;
use crate::transact::Transaction;
use crate::vault::Vault;

/// What was adopted: stored and durable, but not yet part of any history.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// The state of files that the layer shows above its base; the base itself where nothing was changed.
    pub root: RootId,
    /// The content of that state.
    pub content: ContentId,
    /// Sockets, devices and attributes that were written and are not kept.
    pub skipped: Vec<Skipped>,
    stack: Option<StackRow>,
    /// What is remembered of its hard links.
    links: Option<Vec<u8>>,
}

impl Adopted {
    /// A state that was stored without a layer of its own; one is made when it is first mounted.
    pub(crate) fn captured(root: RootId, content: ContentId, skipped: Vec<Skipped>) -> Self {
        Self { root, content, skipped, stack: None, links: None }
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
    pub fn adopt(&self, upper: Upper, access: &dyn Access) -> Result<Adopted> {
        let _held = self.hold()?;
        let Upper { stage, base, mut skipped, placed } = upper;
        let reach = Reach::new(&stage.fs_dir(), access)?;
        let Written { mut dirs, skipped: not_kept } = Written::scan(&reach)?;
        skipped.extend(not_kept);
        placed.mark_untouched(&mut dirs);
        let files = hash_files(&reach, &dirs)?;
        let before = self.linked_paths(&base, &[])?;
        let builder = Builder {
            objects: self.objects()?,
            dirs: &dirs,
            files: &files,
            own: owner(&stage)?,
            placed: placed.names(),
        };
        let built = builder.build(&base, &before)?;
        let (root, content) = (built.root, built.content);
        if root == base {
            return Ok(Adopted { root, content, skipped, stack: None, links: None });
        }
        let links = Some(self.links_record(&base, &before, &built.links)?);
        trim::trim(&reach, &dirs, &built.fates)?;
        let files = remaining(&stage, &dirs, &built.fates, files);
        let stack = self.seal_adopted(stage, &base, built, &reach, files)?;
        Ok(Adopted { root, content, skipped, stack, links })
    }

    /// Seals the layer and stores the objects that name it.
    fn seal_adopted(
        &self,
        stage: LayerStage,
        base: &RootId,
        built: Built,
        reach: &Reach<'_>,
        files: HashMap<Vec<u8>, Hashed>,
    ) -> Result<Option<StackRow>> {
        let mut batch = built.batch;
        self.keep_closed(reach, files.iter().filter(|(_, file)| file.closed), &mut batch)?;
        let layer = stage.seal(Some(built.root))?;
        self.record_layer(&layer).inspect_err(|_| self.drop_unrecorded(&layer))?;
        for (path, file) in files.into_iter().filter(|(_, file)| !file.closed) {
            batch.blob(file.blob, &Place::Layer { layer: layer.id, path });
        }
        // A batch is all or nothing: without it no object names the layer.
        self.objects()?.store(&batch).inspect_err(|_| self.drop_unnamed(&layer))?;
        let below = self.recorded_stack(base)?;
        Ok(below.map(|mut layers| {
            layers.insert(0, layer.id);
            StackRow { root: built.root.0, layers }
        }))
    }
}

/// Who owns the vault on disk: nobody but the vault touches the directory around the one that was written to.
fn owner(stage: &LayerStage) -> Result<Owner> {
    let around = stage.beside("");
    let stat = rustix::fs::stat(&around).map_err(io_error("stat", &around))?;
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
