//! What Offshoot knows about git: which changes would make it run something, how repositories come home, and the git program itself, run
//! so that nothing else runs.

mod apart;
mod checkout;
mod commit;
mod due;
mod error;
mod export;
mod folder;
mod format;
mod identity;
mod in_use;
mod index;
mod moved;
mod names;
mod nested;
mod options;
mod outside;
mod planted;
mod repository;
mod run;
mod submodule;
mod tracked;
mod trailers;

pub use apart::{
    GitEvent, GitNote, GitReport, Goal, InUse, Meeting, MergedRepositories, RepositoryMerge,
    Unclear, WayOn, merge_repositories,
};
pub(crate) use apart::{is_object, is_own, is_the_folders, object_holder};
pub(crate) use checkout::Checkouts;
pub use commit::{CameHome, GitCommit, GitCommitted, GitWords, check_folder};
pub use due::{GitAsked, GitDue, forget_git_due, git_dues};
pub(crate) use due::{forget, git_due_of, owe};
pub use error::GitError;
pub use export::{ExportRequest, Exported, ExportedCommit, LeftOut, export};
pub use folder::GitFolder;
pub(crate) use folder::shared_dir;
pub(crate) use index::{changed_in_index, is_index_of, is_index_refresh};
pub use moved::record_git_commit;
pub(crate) use moved::{FOLLOW, GitMove, checked_out, git_move_of};
pub(crate) use names::{
    GIT_SUFFIX, git_directory, is_git_directory, is_git_folder_name, within_repository,
};
pub use options::{GitAuthor, GitOptions};
pub(crate) use outside::{NotOurs, checkout_above, is_git_directory_on_host, outside};
pub use planted::{Planted, Planting, planted};
pub(crate) use repository::{Refs, packed_refs};
pub use tracked::TrackedPaths;
