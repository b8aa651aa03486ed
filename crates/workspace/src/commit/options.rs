//! How files are committed, and what people are told meanwhile.

use std::time::Duration;

use offshoot_folder::{ApplyNote, Kept};
use offshoot_tree::merge::MergeOptions;
use offshoot_vault::ImportOptions;

use super::settled::{Direction, Settled};
use crate::binding::GitDirectoryOptions;
use crate::git::GitOptions;

/// How files are committed.
#[derive(Clone)]
pub struct CommitOptions<'a> {
    /// How folders are read.
    pub import: ImportOptions,
    /// How states are merged.
    pub merge: MergeOptions,
    /// How long to wait for others who change the workspace or the folders.
    pub wait: Duration,
    /// Which way to settle what was interrupted and can be settled neither way by itself.
    pub settle: Option<Direction>,
    /// How the first folder's git directory is taken in where it lies outside; without it that is left.
    pub git: Option<GitDirectoryOptions<'a>>,
    /// How git is run where an interrupted undo had moved a branch of it; without it that stays.
    pub git_program: Option<GitOptions>,
    /// Told about what people should know beside the outcome, at once, since it holds also where something fails later.
    pub told: Option<&'a dyn Fn(&CommitEvent)>,
}

/// Something that people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitEvent {
    /// From now on the folder is being changed.
    Changing,
    /// What was interrupted before is settled now.
    Settled(Settled),
    /// Somebody wrote to a file in the moment in which it was replaced; this is where that is now.
    Kept(Kept),
    /// What is not quite as one may expect.
    Note(ApplyNote),
}

/// A command may run for as long as it wants, so who waits for it is told soon.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

impl CommitOptions<'_> {
    /// How long to wait for a workspace that a command runs in.
    pub(super) fn lock_wait(&self) -> Duration {
        self.wait.min(LONGEST_WAIT)
    }
}

impl Default for CommitOptions<'_> {
    fn default() -> Self {
        Self {
            import: ImportOptions::default(),
            merge: MergeOptions::default(),
            wait: Duration::from_secs(30),
            settle: None,
            git: None,
            git_program: None,
            told: None,
        }
    }
}

impl std::fmt::Debug for CommitOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { import, merge, wait, settle, git, git_program: _, told: _ } = self;
        f.debug_struct("CommitOptions")
            .field("import", import)
            .field("merge", merge)
            .field("wait", wait)
            .field("settle", settle)
            .field("git", git)
            .finish_non_exhaustive()
    }
}
