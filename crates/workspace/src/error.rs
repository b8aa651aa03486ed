//! What can go wrong in a service.

use std::path::PathBuf;

use offshoot_folder::ApplyError;
use offshoot_host::HostError;
use offshoot_mount::MountError;
use offshoot_protocol::{ApprovalState, ExitCode};
use offshoot_sandbox::SandboxError;
use offshoot_store::{CutShort, Id, IdPrefix};
use offshoot_tree::TreeError;
use offshoot_vault::{NameError, VaultError, VaultRegistryError};

use crate::binding::BindingError;

use crate::git::GitError;

/// An error of a service. Nothing was changed when one is returned, but for what the store cannot tell
/// ([`offshoot_store::StoreError::Undecided`]).
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The text cannot be a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The home of the vaults failed.
    #[error(transparent)]
    Registry(#[from] VaultRegistryError),
    /// A folder cannot be bound.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// There is nothing of that name or id.
    #[error("there is no {what} \"{text}\"")]
    Unknown {
        /// What was looked for: workspace, checkpoint and so on.
        what: &'static str,
        /// What was given.
        text: String,
        /// What may have been meant.
        suggestions: Vec<String>,
        /// What there is; the first ones where there is much.
        known: Vec<String>,
    },
    /// There is nothing at a path, but at one that is almost the same.
    #[error("there is no {path}")]
    NoPath {
        /// The path.
        path: String,
        /// Paths that may have been meant.
        suggestions: Vec<String>,
    },
    /// There is nothing of that name or id in what is left of the catalog.
    #[error("there is no {what} \"{text}\" left: {}", VaultError::CutShort(*.lost))]
    Lost {
        /// What was looked for.
        what: &'static str,
        /// What was given.
        text: String,
        /// What the catalog lost.
        lost: CutShort,
    },
    /// There was a workspace of that name.
    #[error("workspace {workspace} is gone{}", gone_by(.operation))]
    Gone {
        /// The workspace.
        workspace: String,
        /// The kind of the operation that removed it.
        operation: String,
    },
    /// Several things fit.
    #[error("\"{text}\" could be any of{}", few_that_fit(.candidates))]
    Ambiguous {
        /// What was given.
        text: String,
        /// What fits.
        candidates: Vec<String>,
    },
    /// Several sessions have this name.
    #[error("several sessions are called \"{text}\": in the workspaces {}", .workspaces.join(", "))]
    SessionNames {
        /// The name.
        text: String,
        /// Their workspaces.
        workspaces: Vec<String>,
    },
    /// Another workspace has the checkpoint of this name.
    #[error("checkpoint {checkpoint} is one of workspace {owner}, not of {workspace}")]
    OthersCheckpoint {
        /// The checkpoint.
        checkpoint: String,
        /// Whose it is.
        owner: String,
        /// The workspace that was to go back to it.
        workspace: String,
    },
    /// Too little of an id for what cannot be undone.
    #[error(
        "\"{text}\" is too short: this cannot be undone, so it takes at least {} characters of an id",
        IdPrefix::SHORTEST_FOR_GOOD
    )]
    ShortId {
        /// What was given.
        text: String,
        /// What fits.
        candidates: Vec<String>,
    },
    /// The name is in use.
    #[error("there is already a {what} named {name}")]
    NameTaken {
        /// workspace or checkpoint.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The name means something else.
    #[error("\"{0}\" always means the vault's main line and cannot be a name")]
    Reserved(String),
    /// Somebody else kept changing the workspace.
    #[error("workspace {0} kept being changed by others; nothing was written")]
    Contended(String),
    /// The workspace vanished while it was worked on.
    #[error("workspace {0} was deleted meanwhile")]
    Vanished(Id),
    /// A command could not be given its files, or its files could not be taken back.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// A command could not be confined or run.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Something else runs in the workspace.
    #[error("workspace {workspace} is busy: {holder}")]
    Busy {
        /// The workspace.
        workspace: String,
        /// Who holds it, in their own words.
        holder: String,
    },
    /// Somebody who may not decide about an approval tries to.
    #[error("{0}")]
    NotApprover(String),
    /// A workspace has changed since a person looked at what is to run in it.
    #[error("{}", .changed.as_deref().unwrap_or("the workspace has changed since this was asked for"))]
    LookAgain {
        /// The approval.
        id: Id,
        /// What changed, for people; none where it changes just now.
        changed: Option<String>,
    },
    /// The rules deny by now what somebody would approve of.
    #[error("policy denies this command by now: {reason}")]
    DeniedSince {
        /// The approval.
        id: Id,
        /// What the rules say.
        reason: String,
    },
    /// What somebody would approve of would be decided about in another way by now.
    #[error("the rules, the profile or the folders changed since this was asked for")]
    AskAgain,
    /// An agent would use what was tried and nobody has approved of.
    #[error("snapshot {} is what a command would change that nobody has approved of: agent {agent} can look at it, and a person can use it", .snapshot.short())]
    Unapproved {
        /// The agent.
        agent: String,
        /// The snapshot.
        snapshot: Id,
        /// The approval that it waits for; none where it is not kept any more.
        approval: Option<Id>,
    },
    /// An approval was decided about before.
    #[error("approval {} is not pending: it {}", .id.short(), became(*.state, .by.as_deref()))]
    Decided {
        /// The approval.
        id: Id,
        /// What it is.
        state: ApprovalState,
        /// Who decided.
        by: Option<String>,
    },
    /// What was tried conflicts with what the workspace has become since.
    #[error(
        "approval {} conflicts with what changed in {workspace} since it was tried{}",
        .id.short(), few_that_fit(.paths)
    )]
    ApprovalConflicts {
        /// The approval.
        id: Id,
        /// The workspace.
        workspace: String,
        /// What was tried.
        trial: Id,
        /// Where.
        paths: Vec<String>,
    },
    /// Somebody asked this process to end while it waited for a workspace.
    #[error(
        "interrupted while waiting for workspace {workspace}, busy with {holder}; nothing was changed"
    )]
    Interrupted {
        /// The workspace.
        workspace: String,
        /// Who holds it, in their own words.
        holder: String,
        /// How a process ends that was asked so.
        code: ExitCode,
    },
    /// As many terminals have joined the session in the workspace as can.
    #[error(
        "workspace {workspace} is busy: {most} terminals have joined its session, which is the limit"
    )]
    SessionFull {
        /// The workspace.
        workspace: String,
        /// How many can.
        most: u64,
    },
    /// Another process merges layers of the vault.
    #[error("another process merges the layers of this vault already")]
    Compacting,
    /// A command uses a cache.
    #[error("a running command uses the caches of this vault")]
    CachesInUse,
    /// Git failed, or what was asked of it cannot be done.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A mistake in Offshoot.
    #[error("internal error: {0}")]
    Internal(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Request(String),
    /// The workspace moved while a command ran in it; what the command did is kept as a checkpoint.
    #[error(
        "workspace {workspace} was changed while the command ran; what the command did is kept as checkpoint {checkpoint}"
    )]
    Moved {
        /// The workspace.
        workspace: String,
        /// The checkpoint that holds the command's result.
        checkpoint: String,
    },
    /// Somebody did not want it any more.
    #[error("cancelled before it started; nothing was changed")]
    Cancelled,
    /// The command added more to its workspace than it may. What it wrote is set aside.
    #[error(
        "the command wrote {} to its workspace, more than the {} of exec.max_disk, and was killed",
        size(*added),
        size(*limit)
    )]
    DiskLimit {
        /// What it added, as far as that was looked at.
        added: u64,
        /// How much it may add.
        limit: u64,
    },
    /// What may run was decided in another place, under other rules, or for other folders than those of now.
    #[error("what policy decided about this command does not hold any more")]
    StaleClearance,
    /// The command is over.
    #[error("exec {exec} is not running any more")]
    NotRunning {
        /// The command.
        exec: Id,
    },
    /// Another process keeps or drops what the command left.
    #[error("what exec {exec} left is being taken care of by another process")]
    BeingRecovered {
        /// The command.
        exec: Id,
    },
    /// The command belongs to somebody else.
    #[error("exec {exec} is not yours to end: process {process} belongs to another user")]
    NotYours {
        /// The command.
        exec: Id,
        /// The process that runs it.
        process: u32,
    },
    /// There is nothing to decide.
    #[error("there is no conflict at {0}")]
    NoConflict(String),
    /// A conflict has no such side.
    #[error("the conflict at {path} has no side \"{side}\"; it has: {}", .sides.join(", "))]
    NoSide {
        /// The conflict.
        path: String,
        /// What was given.
        side: String,
        /// What there is.
        sides: Vec<String>,
    },
    /// What is to decide a conflict still has markers.
    #[error("{0} still has conflict markers")]
    StillMarked(String),
    /// A conflict that cannot be decided in this way.
    #[error("the conflict at {path} {why}")]
    Undecidable {
        /// The conflict.
        path: String,
        /// Why not.
        why: &'static str,
        /// The whole file of a side can be taken all the same.
        whole: bool,
    },
    /// Something was decided about a path that is different by now.
    #[error("{0} was changed since it was looked at; nothing was written")]
    Outdated(String),
    /// A file cannot go back to where it was.
    #[error("{0} is taken by something else, so the file that was moved away cannot go back there")]
    Occupied(String),
    /// The vault has no folder to bring anything to.
    #[error("this vault is bound to no folder")]
    NoFolder,
    /// A bound folder is not there.
    #[error("{} is gone, or is no folder any more", .0.display())]
    FolderGone(PathBuf),
    /// There is another folder in the place of a bound one.
    #[error("{} is another folder than the one that the vault is bound to", .0.display())]
    OtherFolder(PathBuf),
    /// A folder cannot be changed.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// What is to be changed in the folder cannot be read.
    #[error(
        "{path} in the folder cannot be read ({why}), so it is not changed; nothing was written"
    )]
    Unreadable {
        /// What cannot be read.
        path: String,
        /// Why.
        why: String,
    },
    /// Somebody kept changing the files that were to be changed.
    #[error("files in {0} kept being changed meanwhile; they are as they were")]
    Interfered(String),
    /// What was interrupted can be settled neither way.
    #[error("what was interrupted in the folder cannot be settled: {why}")]
    Unsettled {
        /// The apply.
        apply: Id,
        /// What stands in the way.
        why: String,
    },
    /// The journal of something that was interrupted says nothing that can be understood.
    #[error("the note of apply {apply} cannot be read: {source}")]
    BadNote {
        /// The apply.
        apply: Id,
        /// Why.
        source: serde_json::Error,
    },
    /// What a commit brought was changed since.
    #[error("commit {} cannot be {verb}: {} changed in the folder after it", .operation.short(), few(.paths))]
    ChangedSince {
        /// The operation of the commit.
        operation: Id,
        /// "undone" or "redone".
        verb: &'static str,
        /// What was changed.
        paths: Vec<String>,
        /// The workspace that was committed.
        workspace: String,
        /// The main line as it was before the commit.
        before: Id,
    },
    /// An operation is of another workspace that had the same name.
    #[error("operation {} was in an earlier workspace {workspace}, which is gone; the newest of that name was made after it", .operation.short())]
    EarlierWorkspace {
        /// The operation.
        operation: Id,
        /// The name of both.
        workspace: String,
        /// What the earlier one was right after the operation.
        snapshot: Id,
    },
    /// Something in the workspace waits for a decision.
    #[error("workspace {workspace} has unresolved conflicts: {}", few(.paths))]
    Undecided {
        /// The workspace.
        workspace: String,
        /// Where.
        paths: Vec<String>,
    },
    /// Files would be committed with the markers of a conflict.
    #[error("conflict markers are left in {}", few(.0))]
    Markers(Vec<String>),
    /// The main line moved a file to where something on the host runs or obeys it, and the workspace changed it.
    #[error(
        "the folder has {0} at another path than the workspace, and something on this machine would run or obey it there"
    )]
    MovedToTrusted(String),
    /// What is committed has modes that close it to the person whose folder it is.
    #[error("{} would be closed to you in the folder, where nothing could undo that", few(.0))]
    ClosedToOwner(Vec<String>),
    /// The path is a directory and only files have versions.
    #[error("{0} never was a file in this history")]
    NoHistory(String),
}

/// What fits, where that is not too much for a line.
fn few_that_fit(candidates: &[String]) -> String {
    match candidates.len() <= ServiceError::FEW {
        true => format!(": {}", candidates.join(", ")),
        false => " several".to_owned(),
    }
}

/// So many bytes, as people read it.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            match tenths % 10 {
                0 => format!("{} {name}", tenths / 10),
                tenth => format!("{}.{tenth} {name}", tenths / 10),
            }
        }
        None => format!("{bytes} bytes"),
    }
}

/// The first paths, and how many more there are.
fn few(paths: &[String]) -> String {
    const MOST: usize = 8;
    let shown = paths.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl From<TreeError> for ServiceError {
    fn from(error: TreeError) -> Self {
        Self::Vault(error.into())
    }
}

impl From<HostError> for ServiceError {
    fn from(error: HostError) -> Self {
        Self::Vault(error.into())
    }
}

impl ServiceError {
    /// So many of the things that fit are named in the message itself.
    pub const FEW: usize = 3;

    /// Whether layers cannot be stacked in this place, which another driver may not need.
    pub(crate) fn is_about_layers(&self) -> bool {
        match self {
            Self::Mount(error) => error.is_about_layers(),
            Self::Sandbox(error) => error.is_about_layers(),
            _ => false,
        }
    }
}

/// The result of anything a service does.
pub type Result<T, E = ServiceError> = std::result::Result<T, E>;

/// What became of an approval, and who decided.
fn became(state: ApprovalState, by: Option<&str>) -> String {
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    match state {
        ApprovalState::Pending => "is pending".to_owned(),
        ApprovalState::Granted => format!("was approved{by}, and runs next"),
        ApprovalState::Running => format!("was approved{by}, and runs"),
        ApprovalState::Approved => format!("was approved{by}"),
        ApprovalState::Denied => format!("was denied{by}"),
        ApprovalState::Expired => "expired".to_owned(),
        ApprovalState::Gone => "is gone".to_owned(),
    }
}

/// Why a workspace is gone, where that is not plain.
fn gone_by(operation: &str) -> &'static str {
    match operation {
        "exec" => ": the command that it was made for changed nothing",
        "workspace expire" => ": it was ephemeral and its time was over",
        _ => "",
    }
}
