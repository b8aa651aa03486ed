//! What Offshoot knows about git: which changes would make it run something, how repositories come home, and the git program itself, run
//! so that nothing else runs.

mod apart;
mod commit;
mod error;
mod export;
mod folder;
mod identity;
mod index;
mod moved;
mod names;
mod options;
mod planted;
mod repository;
mod run;
mod tracked;
mod trailers;

pub use apart::{
    GitEvent, GitNote, GitReport, MergedRepositories, RepositoryMerge, Unclear, merge_repositories,
};
pub(crate) use apart::{is_object, is_own};
pub use commit::{CameHome, GitCommit, GitCommitted, GitWords, check_folder};
pub use error::GitError;
pub use export::{ExportRequest, Exported, ExportedCommit, LeftOut, export};
pub use folder::GitFolder;
pub(crate) use moved::git_move_of;
pub use moved::record_git_commit;
pub(crate) use names::git_directory;
pub use options::{GitAuthor, GitOptions};
pub use planted::{Planted, Planting, planted};
pub use tracked::TrackedPaths;
