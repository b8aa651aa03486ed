//! Settling what was interrupted: before anything is captured from a folder, it is whole.

use std::path::Path;

use offshoot_folder::{Apply, ApplyError, ApplyProblem, UnfinishedApplies};
use offshoot_protocol::SettleOutcome;
use offshoot_store::Id;
use offshoot_vault::{Actor, Binding, Came, Vault, VaultRegistry, VaultRegistryError};
use serde_json::Value;

use super::folders::Folders;
use super::note::Note;
use super::options::{CommitEvent, CommitOptions};
use super::record;
use super::settled::{Direction, Settled};
use crate::error::{Result, ServiceError};
use crate::git::{forget_git_due, git_undos};

/// Deletes a vault with everything in it. What was interrupted in its folders is settled first, as far as they are there: nobody could do
/// that afterwards.
pub fn delete_vault(
    registry: &VaultRegistry,
    name: &str,
    actor: &Actor,
    options: &CommitOptions<'_>,
) -> Result<()> {
    let refused = match registry.delete(name) {
        Err(refused @ VaultRegistryError::HalfChanged { .. }) => refused,
        other => return Ok(other?),
    };
    // One that is damaged, or too new, can be settled by nobody here.
    let Ok(vault) = registry.open(name) else { return Err(refused.into()) };
    settle_interrupted(&vault, actor, options)?;
    drop(vault);
    Ok(registry.delete(name)?)
}

/// What was interrupted in the folders of a vault, so that they may be half changed: for people, a line each. Nothing is settled.
pub fn interrupted_in_folders(vault: &Vault) -> Result<Vec<String>> {
    let summary = |(apply, note): (Id, Option<Value>)| {
        let note = note.and_then(|note| read_note(apply, &note).ok());
        note.map_or_else(|| format!("apply {apply}"), |note| note.summary())
    };
    Ok(vault.half_done_applies()?.into_iter().map(summary).collect())
}

/// Settles what was interrupted in the folders of a vault, where anything was; [`CommitOptions::told`] hears of it.
pub fn settle_interrupted(vault: &Vault, actor: &Actor, options: &CommitOptions<'_>) -> Result<()> {
    if vault.interrupted_applies()?.is_empty() && git_undos(vault)?.is_empty() {
        return Ok(());
    }
    Folders::lock(vault, actor, options).map(drop)
}

impl<'a> Folders<'a> {
    /// Settles everything that nobody is at.
    pub(super) fn settle(&self) -> Result<()> {
        let unfinished = UnfinishedApplies::find(self.vault, &self.lock)?;
        for cleared in unfinished.cleared {
            let how = match cleared.came {
                Came::Staging => SettleOutcome::Dropped,
                Came::Done => SettleOutcome::CleanedUp,
                Came::Back => SettleOutcome::TakenBack,
            };
            self.tell_settled(cleared.id, &read_note(cleared.id, &cleared.note)?, how);
        }
        for apply in unfinished.open {
            let id = apply.id();
            let note = read_note(id, apply.note())?;
            let how = self.settle_one(apply, &note)?;
            self.tell_settled(id, &note, how);
        }
        self.settle_git_undos()
    }

    /// Moves refs of git forth again that an undo moved back which ended before its files did.
    fn settle_git_undos(&self) -> Result<()> {
        let Some(options) = &self.options.git_program else { return Ok(()) };
        for due in git_undos(self.vault)? {
            let found = self.repository(options)?;
            let mut is_done = true;
            for moved in due.undone.iter().rev() {
                if let Some((folder, at)) = &found {
                    is_done &= moved.bring_back(folder, at)?;
                }
            }
            // Where git is at work there, the next one tries again.
            if is_done {
                forget_git_due(self.vault, self.actor, &due.workspace)?;
                let summary = format!("undo of commit {}", due.commit.short());
                let settled = Settled { apply: due.commit, summary, how: SettleOutcome::TakenBack };
                self.tell(CommitEvent::Settled(settled));
            }
        }
        Ok(())
    }

    fn tell_settled(&self, apply: Id, note: &Note, how: SettleOutcome) {
        self.tell(CommitEvent::Settled(Settled { apply, summary: note.summary(), how }));
    }

    fn settle_one(&self, mut apply: Apply<'a>, note: &Note) -> Result<SettleOutcome> {
        if self.vault.is_recorded(&apply.id())? {
            self.finish(apply)?;
            return Ok(SettleOutcome::CleanedUp);
        }
        self.know_rewritten(&mut apply, note);
        let settled = match self.options.settle {
            Some(Direction::Back) => Ok(false),
            _ => self.go_forward(&mut apply, note),
        };
        let settled = settled.and_then(|forward| {
            if !forward {
                self.take_back(&mut apply).map_err(|error| self.unsettled(&apply, error))?;
            }
            Ok(forward)
        });
        let forward = match settled {
            Err(ServiceError::OtherFolder(_)) if self.options.settle == Some(Direction::Leave) => {
                apply.give_up()?;
                return Ok(SettleOutcome::GivenUp);
            }
            other => other?,
        };
        self.finish(apply)?;
        Ok(if forward { SettleOutcome::Finished } else { SettleOutcome::TakenBack })
    }

    /// Finishes and records; `false` where it has to be taken back instead.
    fn go_forward(&self, apply: &mut Apply<'_>, note: &Note) -> Result<bool> {
        match apply.swap() {
            Ok(()) => record::record(self.vault, note, Some(apply.id())).map(|done| done.is_some()),
            Err(error) if self.options.settle == Some(Direction::Forward) => {
                Err(self.unsettled(apply, error))
            }
            Err(_) => Ok(false),
        }
    }

    /// Says why something cannot be settled.
    fn unsettled(&self, apply: &Apply<'_>, error: ApplyError) -> ServiceError {
        let is_bound = |path: &Path| self.bindings().iter().any(|it| it.host_path() == path);
        let problem = match &error {
            ApplyError::Problems(problems) => problems.first(),
            _ => None,
        };
        match problem {
            Some(ApplyProblem::NotThatFolder { path }) => ServiceError::OtherFolder(path.clone()),
            // The vault has another one by now.
            Some(ApplyProblem::Gone { path }) if !is_bound(path) => {
                let first = self.bindings().first().map(Binding::host_path);
                ServiceError::OtherFolder(first.unwrap_or_else(|| path.clone()))
            }
            _ => ServiceError::Unsettled { apply: apply.id(), why: error.to_string() },
        }
    }
}

fn read_note(apply: Id, note: &Value) -> Result<Note> {
    serde_json::from_value(note.clone()).map_err(|source| ServiceError::BadNote { apply, source })
}
