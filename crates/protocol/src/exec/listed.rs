//! Execs that are over: in lists, and what they printed.

use offshoot_vocabulary::ExecState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::TruncatedDoc;
use crate::document::Kind;
use crate::history::ActorDoc;
use crate::text::Text;

/// One exec of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecSummaryDoc {
    /// Its id.
    pub exec: String,
    /// The workspace it ran in; its id where that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// When it started.
    pub started: String,
    /// How long it took, with everything around it.
    pub total_ms: u64,
    /// How far it came.
    pub state: ExecState,
    /// What was run.
    pub command: String,
    /// What it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How many paths it changed.
    pub changed: u64,
    /// Who ran it.
    pub actor: ActorDoc,
}

/// The execs of a vault or of a workspace, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecListDoc {
    /// The execs.
    pub execs: Vec<ExecSummaryDoc>,
    /// Whether there are older ones.
    pub more: bool,
}

impl Kind for ExecListDoc {
    const KIND: &'static str = "execs";
}

/// What a command printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecLogsDoc {
    /// The exec.
    pub exec: String,
    /// What it printed, as far as it was kept.
    pub stdout: Text,
    /// What it printed on its standard error, as far as it was kept.
    pub stderr: Text,
    /// What was not kept.
    pub truncated: TruncatedDoc,
}

impl Kind for ExecLogsDoc {
    const KIND: &'static str = "logs";
}
