//! What a conversation is started with.

use offshoot_provider::{CacheMark, Caching, ModelId, Reasoning, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::context::layers::PromptLayer;
use crate::limits::TurnLimits;

/// How a conversation goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnSettings {
    /// The model.
    pub model: ModelId,
    /// What it may spend.
    #[serde(default)]
    pub limits: TurnLimits,
    /// How many tokens the model reads at once.
    #[serde(default = "usual_window")]
    pub window: u64,
    /// How many tokens an answer may have.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// How much the model is to think.
    #[serde(default)]
    pub reasoning: Option<Reasoning>,
    /// What is cached of the prompt.
    #[serde(default)]
    pub caching: Caching,
}

/// What most models read at least.
fn usual_window() -> u64 {
    128_000
}

impl TurnSettings {
    /// The usual settings for a model.
    pub fn new(model: impl Into<ModelId>) -> Self {
        Self {
            model: model.into(),
            limits: TurnLimits::default(),
            window: usual_window(),
            max_output: None,
            reasoning: None,
            // Each request begins like the one before.
            caching: Caching::Automatic(CacheMark::Minutes),
        }
    }
}

/// What every request begins with: the layers of the system prompt, and the tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preamble {
    /// The layers of the system prompt.
    #[serde(default)]
    pub layers: Vec<PromptLayer>,
    /// The tools that the model may call.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
}
