//! What Offshoot knows about git: which changes would make it run something, how repositories reach the folder, and the git program itself, run
//! so that nothing else runs.

mod checkout;
mod commit;
mod drivers;
mod due;
mod error;
mod export;
mod folder;
mod format;
mod git_file;
mod host_settings;
mod identity;
mod in_use;
mod index;
mod marks;
mod merge;
mod moved;
mod names;
mod nested;
mod object_hash;
mod options;
mod outside;
mod own_index;
mod pack_check;
mod planted;
mod repository;
mod run;
mod submodule;
mod tracked;
mod trailers;
mod working_tree;

pub(crate) use checkout::Checkouts;
pub use commit::{
    AboutTo, CommittedChanges, GitCommit, GitCommitMessage, GitCommitted, check_folder,
};
pub use due::{
    DueGitCommit, GitCommitRequest, announce_git_commit, forget_git_due, git_dues, settle_git_due,
};
pub(crate) use due::{clear_due, git_due_of, git_undos, set_due};
pub use error::GitError;
pub use export::{ExportRequest, Exported, ExportedCommit, LeftOut, export};
pub use folder::GitFolder;
pub(crate) use folder::shared_dir;
pub(crate) use index::{changed_in_index, first_index, is_index_of, is_index_refresh};
pub(crate) use merge::{Commits, is_object, is_the_folders, is_vcs_path, object_holder};
pub use merge::{
    GitEvent, GitNote, GitReport, HeldBackCheckouts, InUse, Judge, Meeting, MergedRepositories,
    NextStep, RepositoryMerge, Staged, UnclearRefs, kept_apart, merge_repositories,
};
pub use moved::record_git_commit;
pub(crate) use moved::{FOLLOW, GitMove, checked_out, git_move_of, repository_at};
pub(crate) use names::{
    GIT_SUFFIX, git_directory, is_git_directory, is_git_folder_name, within_repository, worktree_of,
};
pub use options::{GitAuthor, GitOptions};
pub(crate) use outside::{NotOurs, checkout_above, is_git_directory_on_host, outside};
pub use pack_check::PackChecker;
pub use planted::{Planted, Planting, planted};
pub(crate) use planted::{is_new_pipe, matters, steps};
pub(crate) use repository::{Refs, State, common, packed_refs};
pub use submodule::unrecorded_submodules;
pub use tracked::TrackedPaths;
