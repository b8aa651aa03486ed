//! The envelope of an exec: what was asked, what was decided, what happened and what changed.

mod confined;
mod listed;
mod part;

use offshoot_vocabulary::{
    CheckpointMode, DriverName, Durability, ExecState, Network, RerunReason, ResourceLimit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalDoc;
use crate::change::ChangeDoc;
use crate::document::{ErrorBody, SCHEMA_VERSION};
use crate::history::ActorDoc;
use crate::outcome::ExecOutcome;
use crate::policy::DecisionDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

pub use confined::*;
pub use listed::*;
pub use part::TruncatedDoc;
use part::is_zero;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<ExecListDoc>,
    schema::of::<ExecLogsDoc>,
    || schema::framed::<ExecEnvelopeDoc>("exec"),
    || schema::framed::<ExecEventDoc>("exec.event"),
];

/// The answer to every exec, whatever became of it. Fields may be added to version 1, never removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecEnvelopeDoc {
    /// The version of the format: 1.
    pub schema_version: u32,
    /// Always `exec`.
    pub kind: String,
    /// The command ran to its end, exited with 0, and its changes are kept.
    success: bool,
    /// What was asked for.
    pub request: ExecRequestDoc,
    /// What happened.
    pub result: ExecResultDoc,
    /// Things worth knowing that the command line adds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ExecEnvelopeDoc {
    /// The kind of the document.
    pub const KIND: &'static str = "exec";

    /// Frames a request and its result.
    pub fn new(request: ExecRequestDoc, result: ExecResultDoc) -> Self {
        let (schema_version, kind) = (SCHEMA_VERSION, Self::KIND.to_owned());
        let success = result.outcome().is_success();
        Self { schema_version, kind, success, request, result, notes: Vec::new() }
    }

    /// The command ran to its end, exited with 0, and its changes are kept.
    pub fn is_success(&self) -> bool {
        self.success
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecRequestDoc {
    /// The program and its arguments; for a shell text that text alone.
    pub command: Vec<Text>,
    /// Whether the command is a text for the shell.
    pub shell: bool,
    /// The directory to start in, as asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// The names of the variables that the command gets.
    pub env: Vec<Text>,
    /// The names of those that the caller set or passed on beyond the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_set: Vec<Text>,
    /// Whether the command gets something on its standard input.
    pub stdin: bool,
    /// How long it may take; none for as long as it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether it may change nothing.
    pub readonly: bool,
    /// What it may reach.
    pub net: Network,
    /// Hosts that were allowed with it, beside those of the profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// The workspace that was named; none where one was to be forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// What a new workspace was to be forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether the new workspace is thrown away when unused.
    pub ephemeral: bool,
    /// When to make a checkpoint.
    pub checkpoint: CheckpointMode,
    /// Who asked.
    pub actor: ActorDoc,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecResultDoc {
    /// The vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Whether the workspace was forked for this exec.
    pub forked: bool,
    /// Whether that workspace was removed again because the command changed nothing in it; `exec -w` with its name makes it anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workspace_removed: bool,
    /// The id of the exec.
    pub exec: String,
    /// Where the command saw the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mountpoint: Option<Text>,
    /// Where it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// Whether it had a terminal, as with `run`; all that it printed there is in `stdout`.
    #[serde(default)]
    pub terminal: bool,
    /// What was run, as one line for people.
    pub command: String,
    /// What it returned; 126 and 127 also where it could not be executed or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What it printed, up to the limit.
    pub stdout: Text,
    /// What it printed on its standard error, up to the limit.
    pub stderr: Text,
    /// What of the output is not kept.
    pub truncated: TruncatedDoc,
    /// Whether it could change nothing.
    pub readonly: bool,
    /// How long it ran.
    pub duration_ms: u64,
    /// How long everything took, with mounting, sealing and recording.
    pub total_ms: u64,
    /// The checkpoint to come back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// The snapshot it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_before: Option<String>,
    /// The snapshot it made; the one before where nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_after: Option<String>,
    /// What changed, by path. A directory whose entries alone changed is not listed.
    pub changed_files: Vec<ChangeDoc>,
    /// The changes as a patch; with `--diff`. Binary files are only named: `offshoot diff` has them as `git apply` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Text>,
    /// What was decided before it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionDoc>,
    /// The approval that it waits for or was given, where a person decides about it. One that holds for a session has the id of the
    /// exec that it was given for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalDoc>,
    /// How far it came: `completed`, `denied` or `pending_approval` where it did not run, or `failed` with `failed_in`.
    pub state: ExecState,
    /// Where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<ExecState>,
    /// Whether its time was over before it was.
    pub timed_out: bool,
    /// Whether the caller was interrupted, which ended it.
    pub interrupted: bool,
    /// The limit that it reached: Offshoot or the kernel ended it for that, or it could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_reached: Option<ResourceLimit>,
    /// That it was run a second time, and what became of the first; missing where it ran once. Everything else is about the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<RerunDoc>,
    /// Where what changed is.
    pub durability: Durability,
    /// How the workspace was made a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverName>,
    /// The profile that it ran by, or was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Whether that profile lets it see all of the host, as `none` does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfined: bool,
    /// What confined it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxDoc>,
    /// What it used.
    pub usage: ExecUsageDoc,
    /// What it could reach, and whether it tried to reach more; where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkDoc>,
    /// What it wrote outside the project and of which nothing stays; missing where there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded: Option<DiscardedDoc>,
    /// How many conflicts the workspace has to decide afterwards.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u64,
    /// The preset that it ran by; missing where it is no coding agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<ExecPresetDoc>,
    /// What is not as one may expect.
    pub warnings: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// What the command wrote could not be recorded and is set aside: `recover` keeps or drops it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recoverable: bool,
}

impl ExecResultDoc {
    /// What is said about a command that did not run, or of which nothing is known.
    pub fn unrun(exec: String, command: String, state: ExecState) -> Self {
        Self {
            vault: None,
            workspace: None,
            forked: false,
            workspace_removed: false,
            exec,
            mountpoint: None,
            cwd: None,
            terminal: false,
            command,
            exit_code: None,
            signal: None,
            stdout: Text::new(b""),
            stderr: Text::new(b""),
            truncated: TruncatedDoc::default(),
            readonly: false,
            duration_ms: 0,
            total_ms: 0,
            checkpoint: None,
            snapshot_before: None,
            snapshot_after: None,
            changed_files: Vec::new(),
            patch: None,
            decision: None,
            approval: None,
            state,
            failed_in: None,
            timed_out: false,
            interrupted: false,
            limit_reached: None,
            rerun: None,
            durability: Durability::None,
            driver: None,
            profile: None,
            unconfined: false,
            sandbox: None,
            usage: ExecUsageDoc::default(),
            network: None,
            discarded: None,
            conflicts: 0,
            preset: None,
            warnings: Vec::new(),
            error: None,
            recoverable: false,
        }
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
}

/// The first of two runs of a command. It changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerunDoc {
    /// Why there was a second.
    pub reason: RerunReason,
    /// What the first returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long the first took.
    pub duration_ms: u64,
}

/// An event of a running exec; with `--stream` one a line, and the envelope as the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum ExecEventDoc {
    /// The command is about to run.
    Started {
        /// The id of the exec.
        exec: String,
        /// The vault.
        vault: String,
        /// The workspace.
        workspace: String,
        /// Whether the workspace was forked for this exec.
        forked: bool,
    },
    /// It printed something.
    Stdout {
        /// What.
        data: Text,
    },
    /// It printed something on its standard error.
    Stderr {
        /// What.
        data: Text,
    },
    /// A person has to decide about it, and that is waited for.
    Pending {
        /// The id of the approval, which is that of the exec.
        approval: String,
    },
    /// It is over.
    Finished {
        /// All about it.
        envelope: Box<ExecEnvelopeDoc>,
    },
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;

    /// Version 1 may gain fields and never lose one: these were in its first release.
    const ENVELOPE: [&str; 5] = ["schema_version", "kind", "success", "request", "result"];
    const REQUEST: [&str; 13] = [
        "command",
        "shell",
        "cwd",
        "env",
        "stdin",
        "timeout_ms",
        "readonly",
        "net",
        "workspace",
        "from",
        "ephemeral",
        "checkpoint",
        "actor",
    ];
    const RESULT: [&str; 31] = [
        "vault",
        "workspace",
        "forked",
        "exec",
        "mountpoint",
        "cwd",
        "command",
        "exit_code",
        "signal",
        "stdout",
        "stderr",
        "truncated",
        "readonly",
        "duration_ms",
        "total_ms",
        "checkpoint",
        "snapshot_before",
        "snapshot_after",
        "changed_files",
        "patch",
        "decision",
        "state",
        "failed_in",
        "timed_out",
        "interrupted",
        "durability",
        "driver",
        "sandbox",
        "usage",
        "warnings",
        "error",
    ];

    fn assert_has(schema: &schemars::Schema, fields: &[&str]) {
        let properties = schema.get("properties").expect("an object has properties");
        for field in fields {
            assert!(properties.get(field).is_some(), "{field} is gone");
        }
    }

    #[test]
    fn version_1_of_the_envelope_loses_nothing() {
        assert_has(&schema_for!(ExecEnvelopeDoc), &ENVELOPE);
        assert_has(&schema_for!(ExecRequestDoc), &REQUEST);
        assert_has(&schema_for!(ExecResultDoc), &RESULT);
    }
}
