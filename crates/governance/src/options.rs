//! What is decided by.

use std::time::Duration;

use offshoot_policy::{NamedText, REGO_TIMEOUT};

use crate::decision::EscalationTerms;
use crate::word::words;

words! {
    /// Whose rules they are, from the widest to the narrowest.
    pub enum GovernanceLayer {
        /// What is always there.
        BuiltIn = "built_in",
        /// Those of the one whose agents they are. They alone widen.
        User = "user",
        /// The project's rules.
        Project = "project",
        /// The agent's own.
        Agent = "agent",
    }
}

/// A file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GovernanceSource {
    /// Whose it is; never what is built in.
    pub layer: GovernanceLayer,
    /// The rules as TOML.
    pub toml: Option<NamedText>,
    /// The rules as Rego.
    pub rego: Option<NamedText>,
}

impl GovernanceSource {
    /// A file of TOML.
    pub fn toml(layer: GovernanceLayer, name: &str, text: &str) -> Self {
        let toml = NamedText { name: name.to_owned(), text: text.to_owned() };
        Self { layer, toml: Some(toml), rego: None }
    }

    /// A module of Rego.
    pub fn rego(layer: GovernanceLayer, name: &str, text: &str) -> Self {
        let rego = NamedText { name: name.to_owned(), text: text.to_owned() };
        Self { layer, toml: None, rego: Some(rego) }
    }
}

/// What an engine decides by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GovernanceOptions {
    /// Files of rules, in any order. Several of one layer are one layer.
    pub sources: Vec<GovernanceSource>,
    /// What an escalation says where neither its rule nor its file does.
    pub escalation: EscalationTerms,
    /// How long a module of Rego may take for one decision.
    pub rego_timeout: Duration,
}

impl GovernanceOptions {
    /// These files, and otherwise what is usual.
    pub fn of(sources: Vec<GovernanceSource>) -> Self {
        Self { sources, escalation: EscalationTerms::default(), rego_timeout: REGO_TIMEOUT }
    }
}
