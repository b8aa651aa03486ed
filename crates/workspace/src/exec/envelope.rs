//! What comes back.

use std::path::PathBuf;
use std::time::Duration;

use offshoot_egress::EgressReport;
use offshoot_mount::Driver;
use offshoot_policy::Verdict;
use offshoot_profile::Profile;
use offshoot_protocol::{
    ErrorBody, ExecOutcome, ExecState, OwnSandbox, PresetOrigin, RerunReason, ResourceLimit,
};
use offshoot_sandbox::{InForce, Usage};
use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_vault::Approval;

use super::output::KeptOutput;
use super::pending::PendingApproval;
use super::request::ExecutionRequest;

/// The answer to every request, whatever became of it.
#[derive(Debug)]
pub struct ExecutionEnvelope {
    /// What was asked for.
    pub request: ExecutionRequest,
    /// What happened.
    pub result: ExecutionResult,
}

impl ExecutionEnvelope {
    /// The command ran to its end, exited with 0, and its changes are kept.
    pub fn is_success(&self) -> bool {
        self.result.outcome().is_success()
    }
}

/// What happened to a request.
#[derive(Clone, Debug)]
pub struct ExecutionResult {
    /// The id of the exec.
    pub id: Id,
    /// When it started, in milliseconds since 1970.
    pub started_ms: u64,
    /// How far it came.
    pub state: ExecState,
    /// Where it failed.
    pub failed_in: Option<ExecState>,
    /// The vault's name.
    pub vault: String,
    /// The workspace, by id and name.
    pub workspace: Option<(Id, String)>,
    /// The workspace was forked for this exec.
    pub forked: bool,
    /// It was removed again, because the command changed nothing.
    pub removed: bool,
    /// Where the command saw its workspace.
    pub mountpoint: Option<PathBuf>,
    /// Where it started.
    pub cwd: Option<PathBuf>,
    /// It had a terminal, and what it printed there is all in its standard output.
    pub terminal: bool,
    /// Whether who asked named a network.
    pub(super) names_network: bool,
    /// The session that it joined, by the id of its exec. What it changed is recorded there, and this exec is not.
    pub joined: Option<Id>,
    /// What it returned.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub(crate) stdout: KeptOutput,
    pub(crate) stderr: KeptOutput,
    /// How long it ran.
    pub duration: Duration,
    /// How long everything took.
    pub total: Duration,
    /// The checkpoint to come back to.
    pub checkpoint: Option<String>,
    /// The snapshot it started from.
    pub before: Option<Id>,
    /// The snapshot it made, or the one before.
    pub after: Option<Id>,
    /// It could change nothing: the workspace was mounted read-only.
    pub read_only: bool,
    /// That it ran before, and why again.
    pub rerun: Option<Rerun>,
    /// What changed.
    pub changes: Vec<Change>,
    /// The changes as a patch.
    pub patch: Option<Vec<u8>>,
    /// What was decided.
    pub decision: Option<Verdict>,
    /// The approval that it needs, or had.
    pub approval: Option<PendingApproval>,
    /// Why it was not tried, where a person decides about it.
    pub untried: Option<String>,
    /// The approval that lets it run: an earlier one that holds for all of the session, or its own.
    pub approved_by: Option<Box<Approval>>,
    /// What it may read, reach and use.
    pub profile: Option<Profile>,
    /// Its time was over before it was.
    pub timed_out: bool,
    /// The caller was interrupted.
    pub interrupted: bool,
    /// The limit that it reached.
    pub limit_reached: Option<ResourceLimit>,
    /// How the workspace was made a directory.
    pub driver: Option<&'static dyn Driver>,
    /// What confined the command.
    pub in_force: Option<InForce>,
    /// What it used.
    pub usage: Usage,
    /// How often it tried to reach a network that it did not have.
    pub unreached: u64,
    /// What it reached by the proxy, and what that refused.
    pub egress: Option<EgressReport>,
    /// What it wrote outside the project, of which nothing stays.
    pub discarded: DiscardedFiles,
    /// Bytes of the files that it left in the workspace, new or with other content.
    pub kept_bytes: u64,
    /// How many conflicts the workspace has to decide afterwards.
    pub conflicts: u64,
    /// Why the machine's own program could not be executed: the command does not see it.
    pub(crate) unseen_program: Option<String>,
    /// The preset that it ran by.
    pub preset: Option<PresetUse>,
    /// What is not as one may expect.
    pub warnings: Vec<String>,
    /// Why it failed.
    pub error: Option<ErrorBody>,
    /// What it wrote could not be recorded and is set aside.
    pub recoverable: bool,
}

impl ExecutionResult {
    /// Of a request that was just made.
    pub fn new(id: Id, vault: &str) -> Self {
        Self {
            id,
            started_ms: id.time_ms(),
            state: ExecState::Validating,
            failed_in: None,
            vault: vault.to_owned(),
            workspace: None,
            forked: false,
            removed: false,
            mountpoint: None,
            cwd: None,
            terminal: false,
            names_network: false,
            joined: None,
            exit_code: None,
            signal: None,
            stdout: KeptOutput::default(),
            stderr: KeptOutput::default(),
            duration: Duration::ZERO,
            total: Duration::ZERO,
            checkpoint: None,
            before: None,
            after: None,
            read_only: false,
            rerun: None,
            changes: Vec::new(),
            patch: None,
            decision: None,
            approval: None,
            untried: None,
            approved_by: None,
            profile: None,
            timed_out: false,
            interrupted: false,
            limit_reached: None,
            driver: None,
            in_force: None,
            usage: Usage::default(),
            unreached: 0,
            egress: None,
            discarded: DiscardedFiles::default(),
            kept_bytes: 0,
            conflicts: 0,
            preset: None,
            unseen_program: None,
            warnings: Vec::new(),
            error: None,
            recoverable: false,
        }
    }

    /// Goes to the state that follows.
    pub(super) fn advance(&mut self) {
        self.state = self.state.next().unwrap_or(ExecState::Failed);
    }

    /// What decides about success and exit code.
    pub fn outcome(&self) -> ExecOutcome {
        ExecOutcome {
            state: self.state,
            exit_code: self.exit_code,
            signal: self.signal,
            timed_out: self.timed_out,
            interrupted: self.interrupted,
            failed: self.error.is_some(),
        }
    }

    /// The approval that it waits for, or waited for.
    pub fn pending_approval(&self) -> Option<&Approval> {
        self.approval.as_ref()?.approval.as_ref()
    }

    /// What was printed, as far as it is kept.
    pub fn stdout(&self) -> &[u8] {
        &self.stdout.bytes
    }

    /// What was printed on standard error, as far as it is kept.
    pub fn stderr(&self) -> &[u8] {
        &self.stderr.bytes
    }
}

/// A command that ran before, on a read-only mount, and was run again so that it could write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// Why.
    pub reason: RerunReason,
    /// What it returned the first time.
    pub exit_code: Option<i32>,
    /// The signal that ended it the first time.
    pub signal: Option<i32>,
    /// How long it ran the first time.
    pub duration: Duration,
}

/// Files that a command wrote or deleted outside the project and that are as before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscardedFiles {
    /// How many: files, links, and new directories with nothing in them.
    pub count: u64,
    /// Bytes of those files that are there; none of what was deleted.
    pub bytes: u64,
    /// Where the first of them are, those beside the project first. A new directory stands for all that is in it.
    pub paths: Vec<PathBuf>,
    /// A folder beside the project that holds some of them: bound to the vault, what commands write there would be kept.
    pub folder: Option<PathBuf>,
}

impl DiscardedFiles {
    /// At most so many paths are named.
    pub(super) const MOST_NAMED: usize = 20;

    /// A path with so many files, and their bytes.
    pub(super) fn at(path: PathBuf, count: u64, bytes: u64) -> Self {
        Self { count, bytes, paths: vec![path], folder: None }
    }

    /// Adds what was found elsewhere.
    pub(super) fn join(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.paths.extend(other.paths);
        self.paths.truncate(Self::MOST_NAMED);
        self.folder = self.folder.take().or(other.folder);
    }
}

/// A preset that a command ran by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetUse {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub origin: PresetOrigin,
    /// What became of its own sandbox.
    pub own_sandbox: OwnSandbox,
    /// Files that were kept equal to the user's.
    pub credentials: Vec<KeptCredential>,
    /// Directories of the user's own home that it wrote to.
    pub host_state: Vec<PathBuf>,
}

/// A file with a credential that was kept equal to the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCredential {
    /// Where it is below the home.
    pub path: String,
    /// How often what the agent wrote was written to the user's home.
    pub to_host: u64,
    /// How often the other way while it ran.
    pub from_host: u64,
}
