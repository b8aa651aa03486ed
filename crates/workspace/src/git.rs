//! What Offshoot knows about git: which changes would make it run something, how repositories come home, and the git program itself, run
//! so that nothing else runs.

mod checkout;
mod commit;
mod error;
mod export;
mod folder;
mod identity;
mod index;
mod names;
mod options;
mod outside;
mod planted;
mod refreshed;
mod repository;
mod run;
mod settle;
mod tracked;
mod trailers;

pub(crate) use checkout::Checkouts;
pub use commit::{CameHome, GitCommit, GitCommitted, GitWords, check_folder};
pub use error::GitError;
pub use export::{ExportRequest, Exported, ExportedCommit, LeftOut, export};
pub use folder::GitFolder;
pub use names::own_git_directory;
pub(crate) use names::{GIT_SUFFIX, is_git_directory, is_git_folder_name, within_repository};
pub use options::{GitAuthor, GitOptions};
pub(crate) use outside::{NotOurs, is_git_directory_on_host, outside};
pub use planted::{Planted, Planting, planted};
pub(crate) use refreshed::with_indexes_as_left;
pub use settle::{Rule, SettleStates, Settled, settle_repository};
pub use tracked::TrackedPaths;
