//! What is decided by.

use std::time::Duration;

use crate::layer::Layer;

/// How long a file of Rego may take for one decision, where nothing else is said.
pub const REGO_TIMEOUT: Duration = Duration::from_millis(100);

/// What a policy decides by.
#[derive(Clone, Debug)]
pub struct PolicyOptions {
    /// Files of rules, in any order. Several of one layer are one layer.
    pub layers: Vec<LayerSource>,
    /// How long a file of Rego may take for one decision.
    pub rego_timeout: Duration,
}

impl Default for PolicyOptions {
    fn default() -> Self {
        Self { layers: Vec::new(), rego_timeout: REGO_TIMEOUT }
    }
}

/// Rules of one layer.
#[derive(Clone, Debug)]
pub struct LayerSource {
    /// Whose they are; never what is built in.
    pub layer: Layer,
    /// The rules as TOML.
    pub toml: Option<NamedText>,
    /// The rules as Rego.
    pub rego: Option<NamedText>,
}

/// The text of a file and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedText {
    /// What to call it: a path as people know it.
    pub name: String,
    /// What is in it.
    pub text: String,
}
