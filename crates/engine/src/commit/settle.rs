//! What was interrupted in a folder is settled, and what happens there is told.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use offshoot_folder::ApplyNote;
use offshoot_protocol::SettleOutcome;
use offshoot_vault::Vault;
use offshoot_workspace::{
    CommitEvent, CommitOptions, Direction, GitDirectoryOptions, Settled, interrupted_in_folders,
    settle_interrupted,
};

use crate::error::{Error, Hint, Result};
use crate::notice::Topic;
use crate::offshoot::Offshoot;

/// How long a command waits for somebody who is at the folder, to settle what was interrupted there.
const SETTLE_WAIT: Duration = Duration::from_secs(2);

impl Offshoot {
    /// How files are committed; `told` is told what people should know beside the outcome.
    pub(crate) fn commit_options<'a>(
        &'a self,
        told: &'a dyn Fn(&CommitEvent),
    ) -> CommitOptions<'a> {
        CommitOptions {
            import: self.import_options(),
            merge: self.merge_options(),
            wait: self.config().store.busy_timeout,
            settle: None,
            git: Some(GitDirectoryOptions {
                registry: self.registry(),
                user_home: self.options().user_home(),
            }),
            // Without an author there is nothing in it that could be wrong.
            git_program: self.git(None).ok(),
            told: Some(told),
        }
    }

    /// What was interrupted in the folders of a vault, which may be half changed: for people, a line each. Nothing is settled.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for commit in project.engine().interrupted_in_folders(project.vault())? {
    ///     println!("interrupted: {commit}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupted_in_folders(&self, vault: &Vault) -> Result<Vec<String>> {
        Ok(interrupted_in_folders(vault)?)
    }

    /// Goes one way with what was interrupted in the folder; `told` is told what became of it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::commit::Direction;
    ///
    /// engine.settle(vault, Direction::Back, &|event| engine.tell_event(event))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle(
        &self,
        vault: &Vault,
        direction: Direction,
        told: &dyn Fn(&CommitEvent),
    ) -> Result<()> {
        let options = CommitOptions { settle: Some(direction), ..self.commit_options(told) };
        settle_interrupted(vault, self.actor(), &options)?;
        Ok(())
    }

    /// Finishes what was interrupted in the folder, or takes it back, and tells of it. Where that is not possible now, that is
    /// told, and whatever is done next goes on.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.settle_interrupted(vault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle_interrupted(&self, vault: &Vault) {
        self.settle_applies(vault);
        self.tell_git_due(vault);
    }

    fn settle_applies(&self, vault: &Vault) {
        if vault.cut_short().is_some() {
            return;
        }
        let waits = vault.interrupted_applies().is_ok_and(|applies| !applies.is_empty());
        let told = |event: &CommitEvent| self.tell_event(event);
        let options = CommitOptions { wait: SETTLE_WAIT, ..self.commit_options(&told) };
        // An undo that only has begun with git may be at work just now.
        if let Err(error) = settle_interrupted(vault, self.actor(), &options)
            && waits
        {
            let Error { message, hint, .. } = error.into();
            let hint =
                hint.unwrap_or_else(|| Hint::command("offshoot pull --head").text(" tries again"));
            let text =
                format!("a commit was interrupted in the folder and is not settled: {message}");
            self.tell(Topic::Unsettled, Hint::from(text).and(hint));
        }
    }

    /// Tells what people should know while files are committed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::commit::{Commit, CommitEvent};
    ///
    /// let told = |event: &CommitEvent| engine.tell_event(event);
    /// engine.commit(vault, &workspace.record()?, &Commit::default(), &told)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tell_event(&self, event: &CommitEvent) {
        match event {
            CommitEvent::Changing => {}
            CommitEvent::Settled(settled) => self.tell_settled(settled),
            CommitEvent::Kept(kept) => self.tell(Topic::Folder, kept.to_string()),
            CommitEvent::Note(note) if is_usual(note) => {}
            CommitEvent::Note(note) => self.tell(Topic::Folder, note.to_string()),
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
