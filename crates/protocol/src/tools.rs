//! Documents about Offshoot itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::text::Text;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDoc {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: serde_json::Value,
    /// Where the value comes from.
    pub origin: String,
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

    fn succeeded(&self) -> bool {
        self.ok
    }
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DoctorState {
    /// As it should be.
    Ok,
    /// Works, but something is missing.
    Warning,
    /// Does not work.
    Problem,
}
