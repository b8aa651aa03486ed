//! What commands need that bring files home.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use offshoot_protocol::SettleOutcome;
use offshoot_vault::merge::MergeOptions;
use offshoot_vault::{ApplyNote, Vault, Workspace};
use offshoot_workspace::git::{GitDue, GitFolder, git_dues, settle_git_due};
use offshoot_workspace::{
    BindingService, CommitPreview, CommitService, GitDirectory, GitTaking, HomeEvent, HomeOptions,
    PreviewService, RunningService, Selection, ServiceError, Settled, settle_interrupted,
};

use super::{Context, OpenVault, user_home};
use crate::commands::commit::git;
use crate::commands::init;
use crate::error::{CliError, Result};
use crate::output::eprint;
use crate::render::{self, DIM, host_path, line, paint};

/// How long a command waits for somebody who is at the folder, to settle what was interrupted there.
const SETTLE_WAIT: Duration = Duration::from_secs(2);

impl Context {
    /// How files come home; `told` is told what people should know beside the outcome.
    pub(crate) fn home_options<'a>(&'a self, told: &'a dyn Fn(&HomeEvent)) -> HomeOptions<'a> {
        HomeOptions {
            import: self.import_options(),
            merge: self.merge_options(),
            wait: self.settings.config.store.busy_timeout,
            settle: None,
            git: Some(GitTaking { home: &self.home, user_home: user_home() }),
            // Without an author there is nothing in it that could be wrong.
            git_program: crate::git::options(None).ok(),
            told: Some(told),
        }
    }

    /// How states are merged, as it is configured for showing differences.
    pub(crate) fn merge_options(&self) -> MergeOptions {
        let diff = self.diff_options();
        MergeOptions {
            renames: diff.renames,
            rename_similarity: diff.rename_similarity,
            max_text_bytes: diff.max_text_bytes,
            ..MergeOptions::default()
        }
    }

    /// What a commit of a workspace would do.
    pub(crate) fn preview(
        &self,
        vault: &Vault,
        workspace: &Workspace,
        metadata: bool,
    ) -> Result<CommitPreview> {
        self.note_running(vault, workspace);
        let tracked = git::tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        let service = PreviewService::new(vault, self.merge_options(), self.diff_options());
        Ok(service.preview(workspace, &selection, metadata)?)
    }

    /// Whether a pull would bring something into the workspace of a preview.
    pub(crate) fn pull_brings(
        &self,
        vault: &Vault,
        workspace: &Workspace,
        preview: &CommitPreview,
    ) -> Result<bool> {
        let tracked = git::tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let service = PreviewService::new(vault, self.merge_options(), self.diff_options());
        Ok(service.pull_brings(workspace, preview, &is_tracked)?)
    }

    /// Says that a command is at work in a workspace: nobody knows yet what it changes.
    fn note_running(&self, vault: &Vault, workspace: &Workspace) {
        let running = RunningService::new(vault).list(Some(workspace.id)).unwrap_or_default();
        if let Some(note) = running.iter().find(|note| !note.read_only) {
            let (name, command) = (&workspace.name, line(&note.command));
            self.output.note(format!(
                "a command runs in {name} ({command}): what it changes is shown when it has ended"
            ));
        }
    }

    /// Finishes what was interrupted in the folder, or takes it back, and says so. Where that is not possible now, the
    /// command goes on and the person is told.
    pub(crate) fn settle_interrupted(&self, vault: &Vault) {
        self.settle_applies(vault);
        self.tell_git_due(vault);
    }

    /// Says which git commits were asked for and not made. Those that somebody else made are forgotten.
    pub(crate) fn tell_git_due(&self, vault: &Vault) {
        // Where it cannot be told, the command itself has more to say about that.
        for due in git_dues(vault).unwrap_or_default() {
            let Ok(Some(workspace)) = vault.workspace(&due.workspace) else { continue };
            if self.was_made(vault, &due) {
                continue;
            }
            let told = |event: &HomeEvent| self.tell(event);
            let options = self.home_options(&told);
            let service = CommitService::new(vault, &self.actor, options, self.diff_options());
            let git = crate::git::options(due.asked.author.as_deref());
            if git.is_ok_and(|git| matches!(service.is_owed(&workspace, &git), Ok(false))) {
                continue;
            }
            let name = workspace.name;
            self.output.note(format!(
                "the git commit of what came home from {name} was not made: `offshoot commit -w {name} --git` makes it"
            ));
        }
    }

    /// Whether the git commit was made after all, by somebody who died before that was remembered. Then it is now.
    fn was_made(&self, vault: &Vault, due: &GitDue) -> bool {
        let settle = || -> Result<bool, CliError> {
            let folder = crate::git::folder(vault)?;
            let folder = GitFolder::require(&folder, &crate::git::options(None)?)?;
            Ok(settle_git_due(vault, &self.actor, &folder, due)?)
        };
        !vault.is_read_only() && settle().unwrap_or(false)
    }

    fn settle_applies(&self, vault: &Vault) {
        if vault.cut_short().is_some() {
            return;
        }
        let waits = vault.interrupted_applies().is_ok_and(|applies| !applies.is_empty());
        let told = |event: &HomeEvent| self.tell(event);
        let options = HomeOptions { wait: SETTLE_WAIT, ..self.home_options(&told) };
        // An undo that only has begun with git may be at work just now.
        if let Err(error) = settle_interrupted(vault, &self.actor, &options)
            && waits
        {
            let CliError { message, hint, .. } = error.into();
            let hint = hint.unwrap_or_else(|| "`offshoot pull --head` tries again".to_owned());
            self.output.note(format!(
                "a commit was interrupted in the folder and is not settled: {message}; {hint}"
            ));
        }
    }

    /// Makes the main line what is in the folder now, before something is forked from it; says so where it moved.
    pub(crate) fn refresh(&self, opened: &OpenVault, folder: &Path) -> Result<(), ServiceError> {
        if opened.vault.is_read_only() {
            return Ok(());
        }
        let service = BindingService::new(&opened.vault, &self.actor);
        let told = |event: &_| self.tell(event);
        let refreshed = service.refresh(&self.home_options(&told))?;
        init::report_unreadable(self, &refreshed.report);
        // That commits are lost is among the warnings of a command.
        self.note_taken_git(&refreshed.git);
        if refreshed.changed {
            let (name, folder) = (&opened.name, host_path(folder));
            self.output.note(format!("vault {name} was brought up to date with {folder}"));
        }
        Ok(())
    }

    /// Takes in the git directory of a vault that was just made, where it lies outside of the folder.
    pub(crate) fn take_git_directory(&self, vault: &Vault) -> Result<GitDirectory> {
        let told = |event: &HomeEvent| self.tell(event);
        let service = BindingService::new(vault, &self.actor);
        let git = service.take_git_directory(&self.home_options(&told))?;
        self.note_left_git(&git);
        Ok(git)
    }

    /// Says that commits are lost, where they are.
    pub(crate) fn note_left_git(&self, git: &GitDirectory) {
        if let GitDirectory::Left(left) = git {
            self.output.note(format!("warning: {left}; {}", left.way_out()));
        }
    }

    /// Says that a git directory was taken in just now.
    pub(crate) fn note_taken_git(&self, git: &GitDirectory) {
        if matches!(git, GitDirectory::Bound { new: true, .. }) {
            render::git_directory(git).into_iter().for_each(|line| self.output.note(line));
        }
    }

    /// Says what people should know beside the outcome.
    pub(crate) fn tell(&self, event: &HomeEvent) {
        match event {
            HomeEvent::Changing => {}
            HomeEvent::Settled(settled) => self.tell_settled(settled),
            HomeEvent::Kept(kept) => self.output.note(kept.to_string()),
            HomeEvent::Note(note) if is_usual(note) => {}
            HomeEvent::Note(note) => self.output.note(note.to_string()),
        }
    }

    /// Says what became of something that was interrupted.
    fn tell_settled(&self, settled: &Settled) {
        let what = match settled.how {
            SettleOutcome::CleanedUp => "was done and is cleaned up",
            SettleOutcome::Dropped => "had not begun and is dropped",
            SettleOutcome::Finished => "is finished now",
            SettleOutcome::TakenBack => "was taken back",
            SettleOutcome::GivenUp => "was given up: the folder is another one and stays as it is",
        };
        if !self.output.is_quiet() {
            let mut text = format!("an interrupted {} {what}", settled.summary);
            if settled.how == SettleOutcome::GivenUp {
                let staging = format!(".offshoot-apply-{}", settled.apply);
                text.push_str(&format!("; {staging} has what the commit took out of it"));
            }
            eprint(&format!("{}\n", paint(DIM, &line(&text))));
        }
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
