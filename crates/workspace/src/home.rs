//! Bringing work home: what workspaces changed into the bound folders, and what changed there into workspaces.
//!
//! The vault changes folders (`Vault::stage_apply`) and merges states; here is decided what to change. Every step is specified in
//! `docs/design/commit.md`.

mod apply;
mod commit;
mod describe;
mod folders;
mod ignore;
mod markers;
mod note;
mod outcome;
mod pattern;
mod pull;
mod record;
mod revert;
mod select;
mod settle;
mod times;

use std::path::Path;
use std::time::Duration;

use offshoot_vault::ImportOptions;
use offshoot_vault::merge::MergeOptions;

pub use commit::{CommitRequest, CommitService};
pub(crate) use folders::Folders;
pub(crate) use ignore::IgnoreRules;
pub use outcome::{CommitOutcome, Pulled};
pub use pattern::PathPattern;
pub use pull::PullService;
pub(crate) use record::is_commit;
pub(crate) use revert::Reverter;
pub use select::{
    Allow, Choice, Held, HeldReason, Selected, Selection, SelectionStates, Tracked, select,
};
pub use settle::{Direction, How, Settled};
pub use times::Times;

/// How files come home.
#[derive(Clone)]
pub struct HomeOptions<'a> {
    /// How folders are read.
    pub import: ImportOptions,
    /// How states are merged.
    pub merge: MergeOptions,
    /// How long to wait for others who change the workspace or the folders.
    pub wait: Duration,
    /// Which way to settle what was interrupted and can be settled neither way by itself.
    pub settle: Option<Direction>,
    /// Told about everything that was interrupted before and is settled now.
    pub settled: Option<&'a dyn Fn(&Settled)>,
}

impl Default for HomeOptions<'_> {
    fn default() -> Self {
        Self {
            import: ImportOptions::default(),
            merge: MergeOptions::default(),
            wait: Duration::from_secs(30),
            settle: None,
            settled: None,
        }
    }
}

impl std::fmt::Debug for HomeOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { import, merge, wait, settle, settled: _ } = self;
        f.debug_struct("HomeOptions")
            .field("import", import)
            .field("merge", merge)
            .field("wait", wait)
            .field("settle", settle)
            .finish_non_exhaustive()
    }
}

fn bytes_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
