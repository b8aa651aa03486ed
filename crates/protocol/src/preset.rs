//! Documents about presets of coding agents.

use offshoot_vocabulary::{CredentialFormat, ExitCode, HomeKeep, OwnSandbox, PresetOrigin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] =
    &[schema::of::<PresetListDoc>, schema::of::<PresetShowDoc>, schema::of::<PresetCheckDoc>];

/// A preset in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetSummaryDoc {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub origin: PresetOrigin,
    /// The agent; none where the file cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Names of programs by which `run` and `exec` know it.
    pub programs: Vec<String>,
    /// Why it cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// All presets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetListDoc {
    /// By name.
    pub presets: Vec<PresetSummaryDoc>,
    /// The directory that the user's own belong in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Text>,
}

impl Kind for PresetListDoc {
    const KIND: &'static str = "presets.list";
}

/// What becomes of paths of an agent's home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetHomeDoc {
    /// The paths below the home.
    pub paths: Vec<String>,
    /// What becomes of them.
    pub keep: HomeKeep,
    /// What a credential must be to be written to the user's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<CredentialFormat>,
    /// Values that are taken from the user's file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub take: Vec<String>,
    /// Values that are given back to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub give: Vec<String>,
}

/// Hosts of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetHostsDoc {
    /// What it reaches: what it needs, what its login needs, and what variables of the caller name.
    pub allowed: Vec<String>,
    /// What is refused without a word: the agent goes on without it.
    pub refused: Vec<String>,
    /// Variables that hold the address of a server, which is allowed too.
    pub from: Vec<String>,
}

/// Arguments of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetArgumentsDoc {
    /// Those that are always added.
    pub always: Vec<String>,
    /// Those that are added at a terminal.
    pub interactive: Vec<String>,
    /// Those that are added without one.
    pub headless: Vec<String>,
    /// Those that `--trust-agent` adds.
    pub trusted: Vec<String>,
    /// Those by which work is lost.
    pub lost: Vec<String>,
}

/// A key of an agent that can stay outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetKeyDoc {
    /// The variable of the user that holds it.
    pub variable: String,
    /// The host that gets it.
    pub host: String,
    /// The header that it is sent in.
    pub header: String,
}

/// A preset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetShowDoc {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub origin: PresetOrigin,
    /// The file that it is written in.
    pub file: Text,
    /// The agent.
    pub summary: String,
    /// Where the agent comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Names of programs by which `run` and `exec` know it.
    pub programs: Vec<String>,
    /// The command by which it speaks to editors, which `acp` runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acp: Vec<String>,
    /// Variables that are passed on where the caller has them.
    pub env_pass: Vec<String>,
    /// Variables that are set, as `NAME=VALUE`.
    pub env_set: Vec<String>,
    /// What becomes of the agent's own sandbox.
    pub own_sandbox: OwnSandbox,
    /// Arguments.
    pub arguments: PresetArgumentsDoc,
    /// Hosts.
    pub hosts: PresetHostsDoc,
    /// Keys that the network proxy can add to requests, so that the agent never holds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<PresetKeyDoc>,
    /// Variables that move the agent's directories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
    /// What becomes of paths of the home, the first that fits; everything else is thrown away.
    pub home: Vec<PresetHomeDoc>,
    /// Whether somebody seems to be logged in; none where the preset does not say how to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged_in: Option<bool>,
    /// How to log in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
}

impl Kind for PresetShowDoc {
    const KIND: &'static str = "presets.show";
}

/// Whether one preset can be used here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetCheckedDoc {
    /// What it is called.
    pub name: String,
    /// Where its program is; none where it is not installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Text>,
    /// Whether somebody seems to be logged in; none where the preset does not say how to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged_in: Option<bool>,
    /// Why its file cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Whether presets can be used here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresetCheckDoc {
    /// Each of them.
    pub presets: Vec<PresetCheckedDoc>,
}

impl Kind for PresetCheckDoc {
    const KIND: &'static str = "presets.check";

    fn exit_code(&self) -> ExitCode {
        match self.presets.iter().all(|preset| preset.problem.is_none()) {
            true => ExitCode::Success,
            false => ExitCode::Failure,
        }
    }
}
