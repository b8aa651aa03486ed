//! What a client gets of an envelope: how the command ended and what came of it. What the client asked for itself, and what is as it
//! usually is, is left out, because a model may have to read all of it. The resource of the command has the whole envelope.

use offshoot_protocol::{
    ApprovalDoc, ChangeDoc, ChangeKindDoc, DecisionDoc, DiscardedDoc, ErrorBody, ExecEnvelopeDoc,
    ExecState, RefusedHostDoc, RerunDoc, ResourceLimit, Text, TruncatedDoc,
};
use schemars::JsonSchema;
use serde::Serialize;

/// More changes are counted.
const MOST_CHANGES: usize = 200;
/// More output than this of one stream is left out; the resource of the command has it.
const MOST_OUTPUT: usize = 64 << 10;

/// What came of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct BriefDoc {
    /// The command ran to its end, exited with 0, and its changes are kept.
    success: bool,
    /// What happened; each field has the meaning that it has in the envelope.
    result: BriefResultDoc,
    /// Things worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
struct BriefResultDoc {
    /// The id of the exec: `offshoot://exec/ID` has the envelope.
    exec: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    workspace_removed: bool,
    state: ExecState,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_in: Option<ExecState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "is_false")]
    timed_out: bool,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_reached: Option<ResourceLimit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rerun: Option<RerunDoc>,
    duration_ms: u64,
    #[serde(skip_serializing_if = "is_empty")]
    stdout: Text,
    #[serde(skip_serializing_if = "is_empty")]
    stderr: Text,
    #[serde(skip_serializing_if = "is_whole")]
    truncated: TruncatedDoc,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed_files: Vec<BriefChangeDoc>,
    /// How many changes are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    changed_left_out: u64,
    #[serde(skip_serializing_if = "is_zero")]
    conflicts: u64,
    /// What was decided; only if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionDoc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalDoc>,
    #[serde(skip_serializing_if = "is_false")]
    unconfined: bool,
    /// What it tried to reach in vain.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<BriefNetworkDoc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded: Option<DiscardedDoc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    #[serde(skip_serializing_if = "is_false")]
    recoverable: bool,
}

/// A path that changed.
#[derive(Debug, Serialize, JsonSchema)]
struct BriefChangeDoc {
    path: Text,
    kind: ChangeKindDoc,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Text>,
}

/// What a command tried to reach in vain.
#[derive(Debug, Serialize, JsonSchema)]
struct BriefNetworkDoc {
    attempted: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedHostDoc>,
}

impl BriefDoc {
    pub(super) fn new(envelope: ExecEnvelopeDoc) -> Self {
        let success = envelope.is_success();
        let ExecEnvelopeDoc { result, notes, .. } = envelope;
        let mut truncated = result.truncated;
        let has_run = !matches!(result.state, ExecState::Denied | ExecState::PendingApproval);
        let network = result.network.filter(|it| it.attempted > 0 || !it.refused.is_empty());
        let result = BriefResultDoc {
            exec: result.exec,
            workspace: result.workspace,
            workspace_removed: result.workspace_removed,
            state: result.state,
            failed_in: result.failed_in,
            exit_code: result.exit_code,
            signal: result.signal,
            timed_out: result.timed_out,
            interrupted: result.interrupted,
            limit_reached: result.limit_reached,
            rerun: result.rerun,
            duration_ms: result.duration_ms,
            stdout: beginning(result.stdout, &mut truncated.stdout_bytes),
            stderr: beginning(result.stderr, &mut truncated.stderr_bytes),
            truncated,
            checkpoint: result.checkpoint,
            changed_left_out: result.changed_files.len().saturating_sub(MOST_CHANGES) as u64,
            changed_files: result
                .changed_files
                .into_iter()
                .take(MOST_CHANGES)
                .map(change)
                .collect(),
            conflicts: result.conflicts,
            decision: result.decision.filter(|_| !has_run),
            approval: result.approval,
            unconfined: result.unconfined,
            network: network.map(|network| BriefNetworkDoc {
                attempted: network.attempted,
                refused: network.refused,
            }),
            discarded: result.discarded,
            warnings: result.warnings,
            error: result.error,
            recoverable: result.recoverable,
        };
        Self { success, result, notes }
    }
}

fn change(change: ChangeDoc) -> BriefChangeDoc {
    BriefChangeDoc { path: change.path, kind: change.kind, from: change.from }
}

/// The beginning of a stream; how much is missing is added to what was missing before.
fn beginning(stream: Text, missing: &mut u64) -> Text {
    match stream.to_bytes().filter(|bytes| bytes.len() > MOST_OUTPUT) {
        None => stream,
        Some(bytes) => {
            *missing += (bytes.len() - MOST_OUTPUT) as u64;
            Text::new(&bytes[..MOST_OUTPUT])
        }
    }
}

fn is_false(is: &bool) -> bool {
    !is
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_empty(text: &Text) -> bool {
    text.as_str().is_empty()
}

fn is_whole(truncated: &TruncatedDoc) -> bool {
    *truncated == TruncatedDoc::default()
}
