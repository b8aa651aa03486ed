//! Documents about what waits for a person to decide.

use offshoot_vocabulary::{ApprovalScope, ApprovalState, ExitCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::document::{ErrorBody, Kind};
use crate::exec::ExecEnvelopeDoc;
use crate::git::RepositoryNoteDoc;
use crate::hint::SuggestedCommand;
use crate::history::ActorDoc;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<ApprovalListDoc>,
    schema::of::<ApprovalShowDoc>,
    schema::of::<ApprovalDecidedDoc>,
];

/// A request that a person decides about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDoc {
    /// Its id, which is that of the exec that it was asked for: `show` has the envelope.
    pub id: String,
    /// How far it came.
    pub state: ApprovalState,
    /// The command line, for people.
    pub command: String,
    /// Why a person has to decide.
    pub reason: String,
    /// Who asked.
    pub asked_by: ActorDoc,
    /// When it was asked for.
    pub created: String,
    /// When it is too late to decide.
    pub expires: String,
    /// Whether it was tried: then the envelope says what it would change, and approving makes that real without running anything.
    pub tried: bool,
    /// How many paths the trial would change: as many as its envelope lists while it waits, directories that are added, deleted, moved or
    /// get another mode among them. Missing where it was not tried, and in approvals of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
    /// Why it was not tried; approving runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// The network that it was asked with, as `--net` has it; missing in approvals of older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The snapshot that it starts from: that of its workspace, or what one that is not there yet would be made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_before: Option<String>,
    /// The snapshot that the trial left; the one before where it changed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_tried: Option<String>,
    /// What the request is recognised by.
    pub digest: String,
    /// Who decided, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ApprovalDecisionDoc>,
    /// How a person grants it, while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<SuggestedCommand>,
}

/// Who decided about an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDecisionDoc {
    /// Who.
    pub by: ActorDoc,
    /// When.
    pub time: String,
    /// What they said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it holds for.
    pub scope: ApprovalScope,
}

/// Approvals, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalListDoc {
    /// One for each request.
    pub approvals: Vec<ApprovalListItemDoc>,
}

/// One approval of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalListItemDoc {
    /// The approval.
    #[serde(flatten)]
    pub approval: ApprovalDoc,
    /// The workspace that it is about, which may not be there yet; missing where a new one would be made that nobody named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Whether a process waits for the decision.
    pub awaited: bool,
}

/// An approval in detail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalShowDoc {
    /// The approval.
    #[serde(flatten)]
    pub item: ApprovalListItemDoc,
    /// The envelope of the command: what was asked, and what the trial did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecEnvelopeDoc>,
    /// What the trial would change, as a patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Text>,
    /// The variables that were set for the command beyond the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<ApprovalVariableDoc>,
    /// What has changed since the command was asked for, while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<ApprovalMovedDoc>,
    /// Why the rules as they are now keep it from being approved, while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A variable that was set for a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalVariableDoc {
    /// Its name.
    pub name: Text,
    /// Its value; missing where it seems to be a secret, and for a command that was tried, whose values are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Text>,
}

/// What has changed since a command was asked for: its workspace or, where that was not there, what it would be made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalMovedDoc {
    /// Where it stands now: `approvals approve --seen` approves of a command that was not tried in this state.
    pub snapshot: String,
    /// How many files are others.
    pub files: u64,
    /// Whether the workspace was not there when the command was asked for, and was made by somebody since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
    /// What changed, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub told: String,
    /// The paths that both the workspace and a trial changed, so that approving of the trial is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

/// What came of deciding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDecidedDoc {
    /// One for each approval that was decided about.
    pub decided: Vec<ApprovalOutcomeDoc>,
    /// One for each of several that could not be decided about; the others were all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<ApprovalFailureDoc>,
}

/// An approval that could not be decided about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalFailureDoc {
    /// Its id.
    pub id: String,
    /// The command line, for people.
    pub command: String,
    /// Why not.
    pub error: ErrorBody,
}

/// What came of deciding about one approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalOutcomeDoc {
    /// The approval as it is now.
    pub approval: ApprovalDoc,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Whether the workspace had moved, so that what was tried was merged with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// The checkpoint to come back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What changed in the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<ChangeDoc>,
    /// What became of repositories that both the trial and the workspace changed: what of them was not taken says why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<RepositoryNoteDoc>,
    /// The envelope of the command, where approving ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<Box<ExecEnvelopeDoc>>,
    /// The rule that was added to the user's policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Kind for ApprovalListDoc {
    const KIND: &'static str = "approvals.list";
}

impl Kind for ApprovalShowDoc {
    const KIND: &'static str = "approvals.show";
}

impl Kind for ApprovalDecidedDoc {
    const KIND: &'static str = "approvals.decided";

    /// That of the first that could not be decided about. A command that approving ran may fail; what it returned is in its envelope.
    fn exit_code(&self) -> ExitCode {
        if let Some(first) = self.failed.first() {
            return first.error.code();
        }
        let failed =
            |one: &ApprovalOutcomeDoc| one.exec.as_ref().is_some_and(|exec| !exec.is_success());
        if self.decided.iter().any(failed) { ExitCode::Failure } else { ExitCode::Success }
    }
}
