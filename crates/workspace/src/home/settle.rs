//! Settling what was interrupted: before anything is captured from a folder, it is whole.

use offshoot_vault::{Apply, Id};

use super::HomeEvent;
use super::folders::Folders;
use super::note::Note;
use super::record;
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

impl<'a> Folders<'a> {
    /// Settles everything that nobody is at.
    pub(super) fn settle(&self) -> Result<()> {
        for apply in self.vault.unfinished_applies(&self.lock)? {
            let (id, note) = (apply.id(), serde_json::from_value::<Note>(apply.note().clone()));
            let note = note.map_err(|error| ServiceError::BadNote { apply: id, source: error })?;
            let summary = note.summary();
            let how = self.settle_one(apply, &note)?;
            self.tell(HomeEvent::Settled(Settled { apply: id, summary, how }));
        }
        Ok(())
    }

    fn settle_one(&self, mut apply: Apply<'a>, note: &Note) -> Result<How> {
        if self.vault.is_recorded(&apply.id())? {
            self.finish(apply)?;
            return Ok(How::CleanedUp);
        }
        if !apply.begun() {
            self.finish(apply)?;
            return Ok(How::Dropped);
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

fn unsettled(apply: &Apply<'_>, error: &offshoot_vault::ApplyError) -> ServiceError {
    ServiceError::Unsettled { apply: apply.id(), why: error.to_string() }
}
