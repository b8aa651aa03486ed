//! Documents about coding agents that run outside and use Offshoot for their commands.

use offshoot_vocabulary::{
    ExitCode, IntegratedAgent, IntegrationPart, IntegrationScope, IntegrationState,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Kind, Question};
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<IntegrateDoc>,
    schema::of::<IntegrateListDoc>,
    schema::of::<IntegrateInstructionsDoc>,
];

/// What was done to one file of an agent's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegratedFileDoc {
    /// What it is about.
    pub part: IntegrationPart,
    /// The file.
    pub path: Text,
    /// Whether it is there now.
    pub state: IntegrationState,
    /// Whether the file was changed, made or removed.
    pub changed: bool,
    /// What went (`-`) and what came (`+`); empty where nothing changed.
    pub diff: String,
}

/// The configuration of an agent, changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrateDoc {
    /// The agent.
    pub agent: IntegratedAgent,
    /// Whose configuration.
    pub scope: IntegrationScope,
    /// The files.
    pub files: Vec<IntegratedFileDoc>,
}

impl Kind for IntegrateDoc {
    const KIND: &'static str = "integrate";
}

/// A part of the configuration of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationDoc {
    /// The agent.
    pub agent: IntegratedAgent,
    /// Whose configuration.
    pub scope: IntegrationScope,
    /// What it is about.
    pub part: IntegrationPart,
    /// The file.
    pub path: Text,
    /// Whether it is there.
    pub state: IntegrationState,
    /// What is wrong with the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Which agents use Offshoot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrateListDoc {
    /// Each part, for each agent and scope.
    pub integrations: Vec<IntegrationDoc>,
}

impl Kind for IntegrateListDoc {
    const KIND: &'static str = "integrate.list";
}

impl Question for IntegrateListDoc {
    fn answer(&self) -> ExitCode {
        match self.integrations.iter().all(|one| one.state == IntegrationState::Present) {
            true => ExitCode::Success,
            false => ExitCode::Failure,
        }
    }
}

/// What to tell an agent, for its `AGENTS.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrateInstructionsDoc {
    /// Markdown.
    pub text: String,
}

impl Kind for IntegrateInstructionsDoc {
    const KIND: &'static str = "integrate.instructions";
}
