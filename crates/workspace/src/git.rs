//! What Offshoot knows about git: which changes would make it run something, how repositories come home, and the git program itself, run
//! so that nothing else runs.

mod commit;
mod error;
mod export;
mod folder;
mod identity;
mod index;
mod names;
mod options;
mod planted;
mod refreshed;
mod repository;
mod run;
mod settle;
mod tracked;
mod trailers;

pub use commit::{CameHome, GitCommit, GitCommitted, GitWords, check_folder};
pub use error::GitError;
pub use export::{ExportRequest, Exported, ExportedCommit, LeftOut, export};
pub use folder::GitFolder;
pub use options::{GitAuthor, GitOptions};
pub use planted::{Planted, Planting, planted};
pub(crate) use refreshed::with_indexes_as_left;
pub use settle::{Rule, SettleStates, Settled, settle_repository};
pub use tracked::TrackedPaths;
