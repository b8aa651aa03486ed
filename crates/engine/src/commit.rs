//! Bringing what a workspace changed into the folder, and into git.

mod git;
mod preview;
mod settle;

use std::collections::BTreeMap;

pub use git::GitOutcome;
use offshoot_tree::VaultPath;
use offshoot_vault::{Vault, WorkspaceRecord};
pub use offshoot_workspace::git::GitCommitted;
pub use offshoot_workspace::{
    Allow, Choice, CommitEvent, CommitOutcome as Brought, CommitPreview as Preview, Direction,
    Held, HeldReason, PathPattern as Pattern, Selection,
};
use offshoot_workspace::{
    CommitRequest, CommitService, GitFollowed, PullService,
    git::{GitCommitRequest, GitNote, kept_apart, unrecorded_submodules},
};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use git::Prepared;

/// What to commit. Without anything else, all that a commit takes by default.
///
/// ```
/// use offshoot_engine::commit::{Commit, Pattern};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let commit = Commit::new("Fix the parser").only([Pattern::parse(b"/src")?]).git();
/// # let _ = commit;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Commit {
    message: Option<String>,
    only: Vec<Pattern>,
    exclude: Vec<Pattern>,
    ignored: bool,
    allow: Allow,
    take: Vec<Pattern>,
    choices: BTreeMap<VaultPath, Choice>,
    dry_run: bool,
    git: bool,
    author: Option<String>,
}

impl Commit {
    /// With a description, which may be empty.
    ///
    /// ```
    /// use offshoot_engine::commit::Commit;
    ///
    /// let commit = Commit::new("Fix the parser");
    /// // Where a commit is wanted, the description is enough.
    /// let same = Commit::from("Fix the parser");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        let message = Some(message.into()).filter(|message| !message.is_empty());
        Self { message, ..Self::default() }
    }

    /// Only these paths, with all below them.
    ///
    /// ```
    /// use offshoot_engine::commit::{Commit, Pattern};
    ///
    /// # fn example() -> offshoot_engine::Result<()> {
    /// let commit = Commit::new("Fix the parser").only([Pattern::parse(b"/src")?]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn only(mut self, patterns: impl IntoIterator<Item = Pattern>) -> Self {
        self.only.extend(patterns);
        self
    }

    /// Not these paths, which stay in the workspace.
    ///
    /// ```
    /// use offshoot_engine::commit::{Commit, Pattern};
    ///
    /// # fn example() -> offshoot_engine::Result<()> {
    /// let commit = Commit::new("Fix the parser").exclude([Pattern::parse(b"/notes")?]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn exclude(mut self, patterns: impl IntoIterator<Item = Pattern>) -> Self {
        self.exclude.extend(patterns);
        self
    }

    /// Ignored files too.
    ///
    /// ```
    /// use offshoot_engine::commit::Commit;
    ///
    /// let commit = Commit::new("With the build output").ignored(true);
    /// ```
    pub fn ignored(mut self, ignored: bool) -> Self {
        self.ignored = ignored;
        self
    }

    /// What is held back for safety, too.
    ///
    /// ```
    /// use offshoot_engine::commit::{Allow, Commit};
    ///
    /// let commit = Commit::new("Install the hook").allow(Allow { git: true, ..Allow::default() });
    /// ```
    pub fn allow(mut self, allow: Allow) -> Self {
        self.allow = allow;
        self
    }

    /// Of what is held back for safety, these paths.
    ///
    /// ```
    /// use offshoot_engine::commit::{Commit, Pattern};
    ///
    /// # fn example() -> offshoot_engine::Result<()> {
    /// let commit = Commit::new("Set up direnv").take([Pattern::parse(b"/.envrc")?]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn take(mut self, patterns: impl IntoIterator<Item = Pattern>) -> Self {
        self.take.extend(patterns);
        self
    }

    /// What was decided path by path. A path that is not in it is taken.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use offshoot_engine::commit::{Choice, Commit};
    /// use offshoot_engine::file::VaultPath;
    ///
    /// # fn example() -> offshoot_engine::Result<()> {
    /// let choices = BTreeMap::from([(VaultPath::parse(b"/notes.md")?, Choice::Leave)]);
    /// let commit = Commit::new("Fix the parser").choices(choices);
    /// # Ok(())
    /// # }
    /// ```
    pub fn choices(mut self, choices: BTreeMap<VaultPath, Choice>) -> Self {
        self.choices = choices;
        self
    }

    /// Only say what would be committed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::commit::Commit;
    ///
    /// let outcome = workspace.commit(Commit::new("").dry_run(true))?;
    /// println!("{} files would be committed", outcome.brought.brought.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Make a git commit of exactly these changes as well.
    ///
    /// ```
    /// use offshoot_engine::commit::Commit;
    ///
    /// let commit = Commit::new("Fix the parser").git();
    /// ```
    pub fn git(mut self) -> Self {
        self.git = true;
        self
    }

    /// Make a git commit as well, of an author given as `NAME <MAIL>`.
    ///
    /// ```
    /// use offshoot_engine::commit::Commit;
    ///
    /// let commit = Commit::new("Fix it").git_by(Some("An Agent <agent@example.org>".to_owned()));
    /// ```
    pub fn git_by(self, author: Option<String>) -> Self {
        Self { author, ..self.git() }
    }

    /// Which changes of a workspace it is about.
    ///
    /// ```
    /// use offshoot_engine::commit::Commit;
    ///
    /// assert!(Commit::new("All of it").selection().only.is_empty());
    /// ```
    pub fn selection(&self) -> Selection<'static> {
        Selection {
            only: self.only.clone(),
            exclude: self.exclude.clone(),
            ignored: self.ignored,
            allow: self.allow,
            take: self.take.clone(),
            choices: self.choices.clone(),
            ..Selection::default()
        }
    }
}

impl From<&str> for Commit {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// What came of a commit.
///
/// ```
/// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
/// let outcome = workspace.commit("Fix the parser")?;
/// match outcome.brought.conflicts.len() {
///     0 => println!("{} files were committed", outcome.brought.brought.len()),
///     conflicts => println!("nothing was changed: {conflicts} conflicts"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Outcome {
    /// What was committed. Where it has conflicts, nothing was changed.
    pub brought: Brought,
    /// The same with what the git commit settled, and what the workspace got by it.
    pub end: Brought,
    /// The git commit that was asked for.
    pub git: Option<GitOutcome>,
    /// One that had been asked for before, and was not made because a command was interrupted.
    pub earlier: Option<GitOutcome>,
    /// The workspace does not have the git commit yet.
    pub behind: bool,
    /// Submodules at another commit than before, which the git commit that was asked for does not record.
    pub submodules: Vec<VaultPath>,
    /// A git commit was asked for and nothing was left to commit, but the folder has changes that git has not committed.
    pub uncommitted: bool,
}

impl Offshoot {
    /// Commits what a workspace changed; `told` is told what people should know meanwhile.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::commit::Commit;
    ///
    /// let commit = Commit::new("Fix the parser");
    /// engine.commit(vault, &workspace.record()?, &commit, &|event| engine.tell_event(event))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        commit: &Commit,
        told: &dyn Fn(&CommitEvent),
    ) -> Result<Outcome> {
        let mut options = self.commit_options(told);
        // One thing that turns is enough.
        options.import.progress = None;
        let diff = self.diff_options();
        let tracked = self.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let puller = PullService::new(vault, self.actor(), options.clone(), diff);
        let puller = puller.tracking(&is_tracked);
        let service = CommitService::new(vault, self.actor(), options, diff);
        let request = CommitRequest {
            workspace,
            message: commit.message.as_deref(),
            selection: Selection {
                tracked: &is_tracked,
                git: Some(&tracked),
                ..commit.selection()
            },
            dry_run: commit.dry_run,
            times: self.config().commit.times,
            git: commit.git.then(|| GitCommitRequest { author: commit.author.clone() }),
        };
        // What an interrupted command left out comes first: it is older.
        let owed = match commit.git && !commit.dry_run {
            true => service.owed(workspace)?,
            false => None,
        };
        let (author, named) =
            (commit.author.as_deref(), owed.as_ref().and_then(|owed| owed.asked.author.as_deref()));
        let earlier = match &owed {
            Some(owed) => {
                let prepared = Prepared::new(self, vault, named.or(author))?;
                Some(self.make_late(vault, workspace, &prepared, &puller, &owed.outcome)?)
            }
            None => None,
        };
        let prepared = match commit.git {
            true => Some(Prepared::new(self, vault, author.or(named))?),
            false => None,
        };
        // What a dry run stores is looked at once more at the end.
        let held = match commit.dry_run {
            true => Some(vault.hold()?),
            false => None,
        };
        if let Some(prepared) = &prepared {
            let dry = CommitRequest { dry_run: true, ..request.clone() };
            prepared.check(vault, &service.commit(&dry)?, commit.dry_run)?;
        }
        let brought = service.commit(&request)?;
        drop(service);
        let submodules = match commit.git && brought.conflicts.is_empty() {
            true => unrecorded_submodules(vault, &brought.before, &brought.after)?,
            false => Vec::new(),
        };
        let is_nothing = brought.brought.is_empty() && brought.conflicts.is_empty();
        let uncommitted = match &prepared {
            Some(prepared) if is_nothing && earlier.is_none() => prepared.is_uncommitted()?,
            _ => false,
        };
        let made = match prepared {
            Some(prepared) if brought.operation.is_some() => {
                Some(prepared.commit(vault, self.actor(), workspace.id, &brought)?)
            }
            Some(prepared) if commit.dry_run && brought.conflicts.is_empty() => {
                Some(prepared.planned(vault, &brought))
            }
            _ => None,
        };
        drop(held);
        let followed = made.as_ref().and_then(|made| made.follow(&puller, workspace, &brought));
        let mut end = brought.clone();
        end.git.notes.retain(|note| !made.as_ref().is_some_and(|made| made.settles(note)));
        let behind = matches!(made, Some(GitOutcome::Commit(_))) && followed.is_none();
        if let Some(GitFollowed { brought: followed, root, git }) = followed {
            // A commit that merges nothing is told in a line of its own.
            if end.git.notes.len() < brought.git.notes.len() {
                (end.brought, end.after) = (followed, root);
            }
            end.workspace_git.notes.extend(git.notes);
        }
        // What an earlier merge kept apart in the workspace is beside the folder's branch now; what this commit kept apart is told already.
        if brought.conflicts.is_empty() {
            let is_told = |kept: &GitNote| {
                brought.git.notes.iter().any(|note| note.event.kept_as() == kept.event.kept_as())
            };
            let kept = kept_apart(vault, &brought.after, &brought.before, None)?;
            end.git.notes.extend(kept.notes.into_iter().filter(|note| !is_told(note)));
        }
        Ok(Outcome { brought, end, git: made, earlier, behind, submodules, uncommitted })
    }

    /// Makes the git commit of what reached the folder before, where a command was interrupted before that.
    fn make_late(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
        prepared: &Prepared,
        puller: &PullService<'_>,
        outcome: &Brought,
    ) -> Result<GitOutcome> {
        match prepared.commit_late(vault, self.actor(), workspace.id, outcome)? {
            GitOutcome::Failed(error) => {
                let what = "no git commit was made of what was committed before";
                Err(Error { message: format!("{what}: {}", error.message), ..error })
            }
            made => {
                // Where it does not follow, the workspace gets it with the commit that comes now, or by a pull.
                drop(made.follow(puller, workspace, outcome));
                Ok(made)
            }
        }
    }
}
