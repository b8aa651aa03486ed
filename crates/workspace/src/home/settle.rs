//! Settling what was interrupted: before anything is captured from a folder, it is whole.

use offshoot_vault::{Actor, Apply, Came, Id, Vault};
use serde_json::Value;

use super::folders::Folders;
use super::note::Note;
use super::record;
use super::{HomeEvent, HomeOptions};
use crate::error::{Result, ServiceError};

/// Which way to go with what was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The folders become what they were.
    Back,
    /// They become what they were to be.
    Forward,
}

/// What became of something that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was done and recorded; what was left of it is gone.
    CleanedUp,
    /// It had not begun.
    Dropped,
    /// It is done and recorded now.
    Finished,
    /// The folders are what they were before it.
    TakenBack,
}

/// Something that was interrupted, and is settled now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The apply.
    pub apply: Id,
    /// What it was to do, for people.
    pub summary: String,
    /// What became of it.
    pub how: How,
}

/// Settles what was interrupted in the folders of a vault, where anything was; [`HomeOptions::told`] hears of it.
pub fn settle_interrupted(vault: &Vault, actor: &Actor, options: &HomeOptions<'_>) -> Result<()> {
    if vault.interrupted_applies()?.is_empty() {
        return Ok(());
    }
    Folders::lock(vault, actor, options).map(drop)
}

impl<'a> Folders<'a> {
    /// Settles everything that nobody is at.
    pub(super) fn settle(&self) -> Result<()> {
        let unfinished = self.vault.unfinished_applies(&self.lock)?;
        for cleared in unfinished.cleared {
            let how = match cleared.came {
                Came::Staging => How::Dropped,
                Came::Done => How::CleanedUp,
                Came::Back => How::TakenBack,
            };
            self.tell_settled(cleared.id, &read_note(cleared.id, &cleared.note)?, how);
        }
        for apply in unfinished.open {
            let id = apply.id();
            let note = read_note(id, apply.note())?;
            let how = self.settle_one(apply, &note)?;
            self.tell_settled(id, &note, how);
        }
        Ok(())
    }

    fn tell_settled(&self, apply: Id, note: &Note, how: How) {
        self.tell(HomeEvent::Settled(Settled { apply, summary: note.summary(), how }));
    }

    fn settle_one(&self, mut apply: Apply<'a>, note: &Note) -> Result<How> {
        if self.vault.is_recorded(&apply.id())? {
            self.finish(apply)?;
            return Ok(How::CleanedUp);
        }
        self.know_rewritten(&mut apply, note);
        let forward = match self.options.settle {
            Some(Direction::Back) => false,
            _ => self.go_forward(&mut apply, note)?,
        };
        if !forward {
            self.take_back(&mut apply).map_err(|error| unsettled(&apply, &error))?;
        }
        self.finish(apply)?;
        Ok(if forward { How::Finished } else { How::TakenBack })
    }

    /// Finishes and records; `false` where it has to be taken back instead.
    fn go_forward(&self, apply: &mut Apply<'_>, note: &Note) -> Result<bool> {
        match apply.swap() {
            Ok(()) => record::record(self.vault, note, Some(apply.id())).map(|done| done.is_some()),
            Err(error) if self.options.settle == Some(Direction::Forward) => {
                Err(unsettled(apply, &error))
            }
            Err(_) => Ok(false),
        }
    }
}

fn read_note(apply: Id, note: &Value) -> Result<Note> {
    serde_json::from_value(note.clone()).map_err(|source| ServiceError::BadNote { apply, source })
}

fn unsettled(apply: &Apply<'_>, error: &offshoot_vault::ApplyError) -> ServiceError {
    ServiceError::Unsettled { apply: apply.id(), why: error.to_string() }
}
