//! Documents about Offshoot itself.

use offshoot_vocabulary::{DoctorState, ExitCode, ProjectRule, Shell};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<ProgramVersionDoc>,
    schema::of::<CompletionsDoc>,
    schema::of::<ManDoc>,
    schema::of::<ConfigDoc>,
    schema::of::<ConfigSetDoc>,
    schema::of::<DoctorDoc>,
];

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDoc {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: serde_json::Value,
    /// Where the value comes from.
    pub origin: String,
    /// What a project's file may do with it.
    pub project: ProjectRule,
}

/// The version of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramVersionDoc {
    /// The version.
    pub version: String,
}

impl Kind for ProgramVersionDoc {
    const KIND: &'static str = "version";
}

/// What makes a shell ask for completions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionsDoc {
    /// The shell.
    pub shell: Shell,
    /// What the shell is to run.
    pub script: String,
}

impl Kind for CompletionsDoc {
    const KIND: &'static str = "completions";
}

/// Manual pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManDoc {
    /// The page of `offshoot`, in roff; none where pages were written to a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The directory that pages were written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Text>,
    /// How many pages there are.
    pub pages: u64,
}

impl Kind for ManDoc {
    const KIND: &'static str = "man";
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigDoc {
    /// The settings by key.
    pub settings: Vec<SettingDoc>,
}

impl Kind for ConfigDoc {
    const KIND: &'static str = "config";
}

/// A key that was set in a configuration file, or taken out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigSetDoc {
    /// The key.
    pub key: String,
    /// Its value in the file now; none where it is not set there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// The file.
    pub file: Text,
    /// Whether the file is other than before.
    pub changed: bool,
}

impl Kind for ConfigSetDoc {
    const KIND: &'static str = "config.set";
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheckDoc {
    /// What was looked at.
    pub name: String,
    /// How it is.
    pub state: DoctorState,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether this machine is fit for Offshoot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorDoc {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The version of Offshoot.
    pub version: String,
    /// Where vaults are kept.
    pub home: Text,
    /// What was looked at.
    pub checks: Vec<DoctorCheckDoc>,
}

impl Kind for DoctorDoc {
    const KIND: &'static str = "doctor";

    fn exit_code(&self) -> ExitCode {
        if self.ok { ExitCode::Success } else { ExitCode::Failure }
    }
}
