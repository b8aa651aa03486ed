//! What is known of a tool before it is called.

use std::time::Duration;

use serde_json::Value;

use crate::capability::Capability;
use crate::effects::Effects;

/// What is known of a tool before it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolContract {
    /// The name by which a model calls it.
    pub name: String,
    /// Which version of it this is; the highest is called unless another is pinned.
    pub version: u32,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments, which are an object.
    pub schema: Value,
    /// What it may do to the world.
    pub effects: Effects,
    /// What a call needs: all of them.
    pub capabilities: Vec<Capability>,
    /// What a call may cost.
    pub limits: CallLimits,
}

/// What a call may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// How long it may take; nothing for a tool that ends by itself.
    pub time: Option<Duration>,
    /// How many bytes of its text a model reads at once.
    pub output: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { time: Some(Duration::from_secs(60)), output: 24_000 }
    }
}
