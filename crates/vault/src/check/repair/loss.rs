//! What a catalog lost: going on without it, and keeping what may still be wanted of it.

use std::fs;
use std::path::PathBuf;

use offshoot_host::disk;
use offshoot_store::Id;

use crate::actor::Actor;
use crate::error::{Result, VaultError, cut_short, io_error};
use crate::gate::COLLECTING;
use crate::gc::caches::leftovers;
use crate::operation::Scope;
use crate::refs::{head_key, head_snapshot};
use crate::vault::Vault;

/// Where layers and packs of lost operations are, below the vault's directory.
const LOST: &str = "lost";

/// So many operations are looked at at once.
const PAGE: u32 = 256;

impl Vault {
    /// The newest main line that the log knows and whose files are there, where the catalog has none. Without such a one nothing can
    /// be mended, and nothing may be taken away.
    pub(super) fn lost_head(&self) -> Result<Option<Id>> {
        if self.read(|reader| Ok(reader.get_ref(&head_key())?))?.is_some() {
            return Ok(None);
        }
        let mut before = None;
        loop {
            let page = self.operations(Scope::Vault, before, PAGE)?;
            let Some(last) = page.last() else {
                return Err(VaultError::HeadLost { layers: self.layers_dir() });
            };
            before = Some(last.seq);
            let changes = page.into_iter().flat_map(|operation| operation.changes);
            for change in changes.filter(|change| change.key == head_key()) {
                for row in [change.after, change.before].into_iter().flatten() {
                    let id = head_snapshot(&row)?;
                    let there = self.snapshot(&id).and_then(|found| self.require_files(&found));
                    if there.is_ok() {
                        return Ok(Some(id));
                    }
                }
            }
        }
    }

    /// Makes a snapshot the main line, where there is none. Says so.
    pub(super) fn restore_head(&self, head: Id, actor: &Actor) -> Result<String> {
        self.transact("vault repair", actor, |tx| {
            tx.summary(format!("restore the main line to {}", head.short()));
            tx.set_head(head)
        })?;
        Ok(format!("the main line was missing and is snapshot {head} again"))
    }

    /// Goes on from where the catalog ends, where it lost operations that were acknowledged, and records that. Says what is
    /// lost, and where what it left on disk is.
    pub(super) fn accept_loss(&self, actor: &Actor) -> Result<Vec<String>> {
        let Some(lost) = self.cut_short().filter(|_| !self.is_read_only()) else {
            return Ok(Vec::new());
        };
        let mut told = vec![format!("{}; what came after is lost", cut_short(&lost))];
        self.set_cut_short(None);
        let accepted = self.set_lost_aside().and_then(|aside| {
            self.transact("vault repair", actor, |tx| {
                tx.record_always();
                tx.summary("accept the loss of acknowledged operations");
                tx.detail("acknowledged", lost.acknowledged.to_string());
                tx.detail("ended", lost.ends.map(|id| id.to_string()));
                Ok(())
            })?;
            Ok(aside)
        });
        if accepted.is_err() {
            self.set_cut_short(Some(lost));
        }
        let aside = accepted?.into_iter().map(|path| {
            format!("{} has files of lost operations; delete it once you need none", path.display())
        });
        told.extend(aside);
        // A crash before this only means that it is asked for again.
        self.catalog().accept_loss()?;
        Ok(told)
    }

    /// Moves layers and packs that no record speaks of out of the way of everybody who would take them for leftovers.
    fn set_lost_aside(&self) -> Result<Vec<PathBuf>> {
        let _alone = self.take_alone(COLLECTING)?;
        let _closed = self.close_gate()?;
        let (lost, mut aside) = (self.dir().join(LOST), Vec::new());
        for path in leftovers(self)? {
            let name = path.file_name().unwrap_or_default();
            // What has no id yet was never part of anything.
            if name.to_str().and_then(|name| name.parse::<Id>().ok()).is_none() {
                continue;
            }
            fs::create_dir_all(&lost).map_err(io_error("create", &lost))?;
            let target = lost.join(name);
            fs::rename(&path, &target).map_err(io_error("move", &path))?;
            aside.push(target);
        }
        if !aside.is_empty() {
            disk::sync_dir(&lost).map_err(io_error("sync", &lost))?;
        }
        Ok(aside)
    }
}
