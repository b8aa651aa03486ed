//! What `--help --json` prints.

use offshoot_vocabulary::ArgumentKindDoc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<HelpDoc>];

/// A command, its options and everything below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelpDoc {
    /// The version of `offshoot`.
    pub version: String,
    /// The command that help was asked for.
    pub command: CommandDoc,
}

impl Kind for HelpDoc {
    const KIND: &'static str = "help";
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandDoc {
    /// How it is called, such as `offshoot workspace list`.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Its form.
    pub usage: String,
    /// Other words for the last one of its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Its options and arguments.
    pub arguments: Vec<ArgumentDoc>,
    /// Examples and what else is to be known, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<String>,
    /// The commands below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandDoc>,
}

/// An option or an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArgumentDoc {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ArgumentKindDoc,
    /// Its short form, such as `-w`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    /// Its long form, such as `--workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<String>,
    /// What its value is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it can be given without a value; a value then follows `=`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub value_optional: bool,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Whether it has to be given.
    pub required: bool,
    /// Whether it can be given several times, or takes several values.
    pub repeatable: bool,
    /// Whether every command takes it.
    pub global: bool,
    /// What holds without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The values that it can have; any where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<PossibleValueDoc>,
}

/// A value that an argument can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PossibleValueDoc {
    /// The value.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}
