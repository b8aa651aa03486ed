//! What is done for a user without being asked: settling what was interrupted, refreshing, sweeping, and telling of it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use offshoot_protocol::{AbandonedWork, Hint, SettleOutcome};
use offshoot_vault::{ApplyNote, ExecNote, Vault, VaultError};
use offshoot_workspace::git::{GitDue, GitFolder, git_dues, settle_git_due};
use offshoot_workspace::{
    BindingService, CommitService, GitDirectory, GitTaking, HomeEvent, HomeOptions, KeptWork,
    RecoverService, ServiceError, Settled, WorkspaceService, settle_interrupted,
};

use crate::error::{Error, Result};
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::words::{git_directory, host_path, line, unreadable};

/// How long a command waits for somebody who is at the folder, to settle what was interrupted there.
const SETTLE_WAIT: Duration = Duration::from_secs(2);

impl Offshoot {
    /// How files come home; `told` is told what people should know beside the outcome.
    pub fn home_options<'a>(&'a self, told: &'a dyn Fn(&HomeEvent)) -> HomeOptions<'a> {
        HomeOptions {
            import: self.import_options(),
            merge: self.merge_options(),
            wait: self.config().store.busy_timeout,
            settle: None,
            git: Some(GitTaking { home: self.registry(), user_home: self.options().user_home() }),
            // Without an author there is nothing in it that could be wrong.
            git_program: self.git(None).ok(),
            told: Some(told),
        }
    }

    /// Tells where the log of a vault that was just opened is cut short, and does what is wanted with what interrupted commands
    /// left in it.
    pub fn look_after(&self, vault: &Vault) {
        match vault.cut_short() {
            Some(lost) => {
                let told = Error::from(VaultError::CutShort(lost));
                let text = format!("{}; {}", told.message, told.hint.unwrap_or_default());
                self.tell(Topic::LogCutShort, text);
            }
            None => self.settle_left(vault),
        }
    }

    /// Does what is wanted with what interrupted commands left.
    pub fn settle_left(&self, vault: &Vault) {
        // Where it cannot even be listed, the command itself has more to say about it.
        let Ok(left) = vault.left() else { return };
        if left.is_empty() {
            return;
        }
        let abandoned = self.config().recover.abandoned;
        if vault.is_read_only() || abandoned == AbandonedWork::Offer {
            return;
        }
        let service = RecoverService::new(vault, self.actor());
        for exec in left {
            let settled = match abandoned {
                AbandonedWork::Offer => None,
                AbandonedWork::Keep => service.keep(&exec, None).ok().map(|kept| kept_text(&kept)),
                AbandonedWork::Discard => {
                    let dropped = service.drop(&exec).ok();
                    dropped.map(|note| {
                        format!("what interrupted exec {} left was dropped", note.exec.short())
                    })
                }
            };
            if let Some(text) = settled {
                self.tell(Topic::Leftover, text);
            }
        }
    }

    /// Tells that interrupted commands left something, in a workspace or in any.
    pub fn offer_left(&self, vault: &Vault, workspace: Option<&str>) {
        // Where it cannot even be listed, the command itself has more to say about it.
        let left = vault.left().unwrap_or_default();
        let notes = left.iter().filter_map(|exec| vault.left_note(exec));
        let is_meant = |name: &str| workspace.is_none_or(|workspace| workspace == name);
        let waiting: Vec<_> = notes.filter(|note| is_meant(&note.workspace_name)).collect();
        if let Some(first) = waiting.first() {
            self.tell(Topic::Leftover, offer_text(waiting.len(), first));
        }
    }

    /// Removes ephemeral workspaces whose time is over, and tells of it.
    pub fn sweep(&self, vault: &Vault) -> Result<(), ServiceError> {
        for expired in WorkspaceService::new(vault, self.actor()).sweep()? {
            let text = format!("ephemeral workspace {expired} expired and was cleaned up");
            self.tell(Topic::Expired, text);
        }
        Ok(())
    }

    /// Finishes what was interrupted in the folder, or takes it back, and tells of it. Where that is not possible now, that is
    /// told, and whatever is done next goes on.
    pub fn settle_interrupted(&self, vault: &Vault) {
        self.settle_applies(vault);
        self.tell_git_due(vault);
    }

    /// Tells which git commits were asked for and not made. Those that somebody else made are forgotten.
    pub fn tell_git_due(&self, vault: &Vault) {
        // Where it cannot be told, the command itself has more to say about that.
        for due in git_dues(vault).unwrap_or_default() {
            let Ok(Some(workspace)) = vault.workspace(&due.workspace) else { continue };
            if self.was_made(vault, &due) {
                continue;
            }
            let told = |event: &HomeEvent| self.tell_event(event);
            let options = self.home_options(&told);
            let service = CommitService::new(vault, self.actor(), options, self.diff_options());
            let git = self.git(due.asked.author.as_deref());
            if git.is_ok_and(|git| matches!(service.is_owed(&workspace, &git), Ok(false))) {
                continue;
            }
            let name = workspace.name;
            let text = format!(
                "the git commit of what came home from {name} was not made: `offshoot commit -w {name} --git` makes it"
            );
            self.tell(Topic::GitCommitDue, text);
        }
    }

    /// Whether the git commit was made after all, by somebody who died before that was remembered. Then it is now.
    fn was_made(&self, vault: &Vault, due: &GitDue) -> bool {
        let settle = || -> Result<bool> {
            let folder = crate::git::folder(vault)?;
            let folder = GitFolder::require(&folder, &self.git(None)?)?;
            Ok(settle_git_due(vault, self.actor(), &folder, due)?)
        };
        !vault.is_read_only() && settle().unwrap_or(false)
    }

    fn settle_applies(&self, vault: &Vault) {
        if vault.cut_short().is_some() {
            return;
        }
        let waits = vault.interrupted_applies().is_ok_and(|applies| !applies.is_empty());
        let told = |event: &HomeEvent| self.tell_event(event);
        let options = HomeOptions { wait: SETTLE_WAIT, ..self.home_options(&told) };
        // An undo that only has begun with git may be at work just now.
        if let Err(error) = settle_interrupted(vault, self.actor(), &options)
            && waits
        {
            let Error { message, hint, .. } = error.into();
            let hint =
                hint.unwrap_or_else(|| Hint::command("offshoot pull --head").text(" tries again"));
            let text = format!(
                "a commit was interrupted in the folder and is not settled: {message}; {hint}"
            );
            self.tell(Topic::Unsettled, text);
        }
    }

    /// Makes the main line what is in the folder now, before something is forked from it; tells of it where it moved.
    pub fn refresh(&self, vault: &Vault, name: &str, folder: &Path) -> Result<(), ServiceError> {
        if vault.is_read_only() {
            return Ok(());
        }
        let service = BindingService::new(vault, self.actor());
        let told = |event: &_| self.tell_event(event);
        let refreshed = service.refresh(&self.home_options(&told))?;
        for line in unreadable(&refreshed.report) {
            self.tell(Topic::Skipped, line);
        }
        // That commits are lost is among the warnings of a command.
        self.tell_taken_git(&refreshed.git);
        if refreshed.changed {
            let folder = host_path(folder);
            let text = format!("vault {name} was brought up to date with {folder}");
            self.tell(Topic::Refreshed, text);
        }
        Ok(())
    }

    /// Takes in the git directory of a vault that was just made, where it lies outside of the folder.
    pub fn take_git_directory(&self, vault: &Vault) -> Result<GitDirectory> {
        let told = |event: &HomeEvent| self.tell_event(event);
        let service = BindingService::new(vault, self.actor());
        let git = service.take_git_directory(&self.home_options(&told))?;
        self.tell_left_git(&git);
        Ok(git)
    }

    /// Tells that commits are lost, where they are.
    pub fn tell_left_git(&self, git: &GitDirectory) {
        if let GitDirectory::Left(left) = git {
            self.tell(Topic::CommitsLost, format!("warning: {left}; {}", left.way_out()));
        }
    }

    /// Tells that a git directory was taken in just now.
    pub fn tell_taken_git(&self, git: &GitDirectory) {
        if matches!(git, GitDirectory::Bound { new: true, .. })
            && let Some(line) = git_directory(git)
        {
            self.tell(Topic::GitDirectory, line);
        }
    }

    /// Tells what people should know while files come home.
    pub fn tell_event(&self, event: &HomeEvent) {
        match event {
            HomeEvent::Changing => {}
            HomeEvent::Settled(settled) => self.tell_settled(settled),
            HomeEvent::Kept(kept) => self.tell(Topic::Folder, kept.to_string()),
            HomeEvent::Note(note) if is_usual(note) => {}
            HomeEvent::Note(note) => self.tell(Topic::Folder, note.to_string()),
        }
    }

    /// Tells what became of something that was interrupted.
    fn tell_settled(&self, settled: &Settled) {
        let what = match settled.how {
            SettleOutcome::CleanedUp => "was done and is cleaned up",
            SettleOutcome::Dropped => "had not begun and is dropped",
            SettleOutcome::Finished => "is finished now",
            SettleOutcome::TakenBack => "was taken back",
            SettleOutcome::GivenUp => "was given up: the folder is another one and stays as it is",
        };
        let mut text = format!("an interrupted {} {what}", settled.summary);
        if settled.how == SettleOutcome::GivenUp {
            let staging = format!(".offshoot-apply-{}", settled.apply);
            text.push_str(&format!("; {staging} has what the commit took out of it"));
        }
        self.tell(Topic::Settled, text);
    }
}

/// What became of something that an interrupted command left.
pub fn kept_text(kept: &KeptWork) -> String {
    let (exec, workspace) = (kept.note.exec.short(), &kept.workspace.name);
    match &kept.checkpoint {
        Some(checkpoint) => {
            let name = &checkpoint.name;
            format!(
                "what interrupted exec {exec} left was kept as checkpoint {name} of {workspace}"
            )
        }
        None if kept.snapshot.is_some() => {
            let gone = line(&kept.note.workspace_name);
            format!(
                "workspace {gone} is deleted, so what interrupted exec {exec} left is the new workspace {workspace}"
            )
        }
        None => format!("interrupted exec {exec} had changed nothing"),
    }
}

/// A line about what waits for somebody to decide.
pub fn offer_text(count: usize, first: &ExecNote) -> String {
    let workspace = line(&first.workspace_name);
    match count {
        1 => format!(
            "1 interrupted command left changes in workspace {workspace}: `offshoot recover list`"
        ),
        _ => format!("{count} interrupted commands left changes: `offshoot recover list`"),
    }
}

/// Whether a note says nothing new: clones of a repository on the same disk share its objects by links, and those never change.
fn is_usual(note: &ApplyNote) -> bool {
    let ApplyNote::LinkedOutside { path } = note else { return false };
    let names: Vec<&[u8]> = path.iter().map(OsStrExt::as_bytes).collect();
    names.windows(2).any(|pair| pair[0].ends_with(b".git") && pair[1] == b"objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_objects_of_git_are_usual() {
        for (path, usual) in [
            ("/p/.git/objects/ab/cdef", true),
            ("/p/store.git/objects/pack/x.pack", true),
            ("/p/.git/config", false),
            ("/p/objects/ab", false),
            ("/p/src/main.c", false),
        ] {
            assert_eq!(is_usual(&ApplyNote::LinkedOutside { path: path.into() }), usual, "{path}");
            assert!(!is_usual(&ApplyNote::Stays { path: path.into() }), "{path}");
        }
    }
}
