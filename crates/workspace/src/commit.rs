//! Commit and pull: what workspaces changed comes into the bound folders, and what changed there into workspaces.
//!
//! `offshoot-folder` changes folders and `offshoot-tree` merges states; here is decided what to change. Every step is specified in
//! `docs/design/commit.md`.

mod apply;
mod commit_refs;
mod describe;
mod execs;
mod folders;
mod inaccessible;
mod kept_out;
mod markers;
mod note;
mod obstacles;
mod options;
mod outcome;
mod outdated;
mod pending_git;
mod preview;
mod proposal;
mod pull;
mod record;
mod revert;
mod select;
mod service;
mod settle;
mod settled;

pub(crate) use folders::Folders;
pub use options::{CommitEvent, CommitOptions};
pub use outcome::{CommitOutcome, GitFollowed, Pulled};
pub use pending_git::PendingGitCommit;
pub use preview::{CommitPreview, PreviewService};
pub use proposal::Proposal;
pub(crate) use proposal::meetings;
pub use pull::PullService;
pub(crate) use record::{KEPT, is_commit};
pub(crate) use revert::Reverter;
pub use select::{
    Allow, Choice, Held, HeldReason, Selected, Selection, SelectionStates, Tracked, select,
};
pub(crate) use select::{held_back, is_told};
pub use service::{CommitRequest, CommitService};
pub use settle::{delete_vault, interrupted_in_folders, settle_interrupted};
pub use settled::{Direction, Settled};
