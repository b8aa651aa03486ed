//! Changing the folders, and recording it.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use offshoot_folder::{
    Apply, ApplyError, ApplyOptions, ApplyPlan, ApplyProblem, ApplyTarget, Kept,
};
use offshoot_store::{Id, StoreError};
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::VaultError;
use serde_json::Value;

use super::folders::Folders;
use super::note::Note;
use super::options::CommitEvent;
use super::record::{Recorded, record};
use crate::error::{Result, ServiceError};
use crate::git::{is_index_of, is_object, within_repository};

impl<'a> Folders<'a> {
    /// Takes the folders from what was captured to another state and records that. Gives nothing where somebody changed
    /// something meanwhile: everything is as they left it then, and has to be captured again.
    pub(super) fn apply(
        &self,
        before: &RootId,
        after: &RootId,
        note: &Note,
    ) -> Result<Option<Recorded>> {
        if before == after {
            return record(self.vault, note, None);
        }
        let Some(plan) = self.plan(before, after)? else { return Ok(None) };
        let value = serde_json::to_value(note).map_err(|error| internal(&error))?;
        // What is staged lies in the folder already.
        self.tell(CommitEvent::Changing);
        let mut apply = self.stage(plan, value)?;
        self.know_rewritten(&mut apply, note);
        match apply.swap() {
            Ok(()) => {}
            Err(ApplyError::Interfered { kept, .. }) => {
                self.tell_kept(kept);
                self.finish(apply)?;
                return Ok(None);
            }
            Err(error @ ApplyError::Stuck { .. }) => return Err(error.into()),
            Err(error) => {
                self.finish(apply)?;
                return Err(error.into());
            }
        }
        self.conclude(apply, note)
    }

    /// Stages everything. Meanwhile what is recorded later becomes durable: it must not be lost by a power cut that the changed
    /// folders survive.
    fn stage(&self, plan: ApplyPlan, note: Value) -> Result<Apply<'a>> {
        let (staged, durable) = thread::scope(|scope| {
            let started = thread::Builder::new().spawn_scoped(scope, || self.vault.make_durable());
            let staged = Apply::stage(self.vault, &self.lock, plan, Id::random(), note);
            let durable = match started {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // One after the other will do where there are no threads to be had.
                Err(_) => self.vault.make_durable(),
            };
            (staged, durable)
        });
        let mut staged = staged?;
        if let Err(error) = durable {
            self.take_back(&mut staged)?;
            self.finish(staged)?;
            return Err(error.into());
        }
        Ok(staged)
    }

    /// Records what was changed, or takes it back.
    fn conclude(&self, mut apply: Apply<'_>, note: &Note) -> Result<Option<Recorded>> {
        let recorded = record(self.vault, note, Some(apply.id()));
        if let Ok(Some(_)) = &recorded {
            // It is done; what cannot be cleaned up now is cleaned up by whoever comes next.
            let _left = self.finish(apply).is_err();
            return recorded;
        }
        // Where it may be recorded all the same, whoever comes next sees whether it is, and settles it accordingly.
        if recorded.as_ref().is_err_and(|error| self.may_be_recorded(&apply, error)) {
            return recorded;
        }
        self.take_back(&mut apply)?;
        self.finish(apply)?;
        recorded
    }

    /// Whether an apply may be recorded though recording it failed.
    fn may_be_recorded(&self, apply: &Apply<'_>, error: &ServiceError) -> bool {
        let undecided =
            matches!(error, ServiceError::Vault(VaultError::Store(StoreError::Undecided { .. })));
        undecided || self.vault.is_recorded(&apply.id()).unwrap_or(true)
    }

    /// Git writes its index anew whenever somebody asks for a status. As long as it lists the same, it is what was put there.
    pub(super) fn know_rewritten(&self, apply: &mut Apply<'a>, note: &Note) {
        let (vault, targets, after) = (self.vault, self.targets(), note.after());
        apply.know_rewritten(Box::new(move |host, bytes| {
            place_of(&targets, host).is_some_and(|path| is_index_of(vault, &after, &path, bytes))
        }));
    }

    /// Takes everything back, but for what somebody changed since: that stays as they left it.
    pub(super) fn take_back(&self, apply: &mut Apply<'_>) -> Result<(), ApplyError> {
        match apply.take_back() {
            Err(ApplyError::Interfered { kept, .. }) => self.tell_kept(kept),
            other => return other,
        }
        Ok(())
    }

    /// Clears up.
    pub(super) fn finish(&self, apply: Apply<'_>) -> Result<()> {
        self.tell_kept(apply.finish()?);
        Ok(())
    }

    fn tell_kept(&self, kept: Vec<Kept>) {
        kept.into_iter().for_each(|kept| self.tell(CommitEvent::Kept(kept)));
    }

    /// Says something to whoever wants to know.
    pub(super) fn tell(&self, event: CommitEvent) {
        if let Some(told) = self.options.told {
            told(&event);
        }
    }

    /// Finds everything that stands in the way.
    pub(super) fn check(&self, before: &RootId, after: &RootId) -> Result<()> {
        self.plan(before, after).map(drop)
    }

    fn plan(&self, before: &RootId, after: &RootId) -> Result<Option<ApplyPlan>> {
        let options = ApplyOptions { stays: is_object, ..ApplyOptions::default() };
        let plan = ApplyPlan::new(self.vault, &self.targets(), before, after, &options)?;
        // Git never waits for anybody: what is new in a git directory was made meanwhile, and nobody should move it away.
        let targets = self.targets();
        let made_by_git = |path: &Path| {
            place_of(&targets, path).is_some_and(|path| within_repository(&path).is_some())
        };
        let known = |problem: &ApplyProblem| match problem {
            ApplyProblem::InTheWay { path } if made_by_git(path) => {
                ApplyProblem::Changed { path: path.clone() }
            }
            problem => problem.clone(),
        };
        let problems: Vec<ApplyProblem> = plan.problems().iter().map(known).collect();
        if problems.is_empty() {
            plan.notes().iter().for_each(|note| self.tell(CommitEvent::Note(note.clone())));
            return Ok(Some(plan));
        }
        if problems.iter().all(|problem| problem.is_stale()) {
            return Ok(None);
        }
        Err(ApplyError::Problems(problems).into())
    }
}

/// Where a path of the host lies in the tree.
fn place_of(targets: &[ApplyTarget], host: &Path) -> Option<VaultPath> {
    let at = |target: &ApplyTarget| {
        let below = host.strip_prefix(&target.directory).ok()?;
        let below = VaultPath::parse(below.as_os_str().as_encoded_bytes()).ok()?;
        Some(target.at.concat(&below))
    };
    targets.iter().filter_map(at).max_by_key(|path| path.names().len())
}

fn internal(error: &serde_json::Error) -> ServiceError {
    ServiceError::Internal(format!("a note cannot be written: {error}"))
}
