//! What surrounds the runs of a command, and what comes of one.

use std::path::PathBuf;

use offshoot_mount::MountSession;
use offshoot_profile::Profile;
use offshoot_sandbox::Ended;
use offshoot_store::Id;
use offshoot_vault::{Binding, WorkspaceRecord};

use super::bare::BareRoom;
use super::caches::ExecCaches;
use super::check::Start;
use super::outlet::EquippedOutlet;
use super::sight::Sight;

/// What every run of one command has in common.
#[derive(Debug)]
pub(super) struct Scene<'r> {
    pub(super) workspace: Id,
    /// Where the command sees it.
    pub(super) target: PathBuf,
    /// The folders of the vault, on the host.
    pub(super) folders: &'r [PathBuf],
    pub(super) bindings: &'r [Binding],
    pub(super) profile: &'r Profile,
    /// What it sees of the host beside caches.
    pub(super) sight: Sight,
    pub(super) outlet: Option<EquippedOutlet>,
    /// A home that is kept.
    pub(super) kept_home: Option<PathBuf>,
    /// Directories of the user's home that it shares.
    pub(super) shared: Vec<PathBuf>,
}

/// A command that ran.
#[derive(Debug)]
pub(super) struct Ran<'v> {
    /// The workspace as it was before.
    pub(super) workspace: WorkspaceRecord,
    pub(super) session: MountSession<'v>,
    pub(super) ended: Ended,
    pub(super) caches: Option<ExecCaches>,
    /// What it saw of the host.
    pub(super) sight: Sight,
    /// What was made for it where there are no namespaces.
    pub(super) room: Option<BareRoom>,
}

/// What a command that joins brings.
pub(super) struct Joining<'a> {
    pub(super) start: &'a Start,
    pub(super) folders: &'a [PathBuf],
    /// The variables about a proxy of its own, which it does not have here.
    pub(super) own: &'a [(String, String)],
}
