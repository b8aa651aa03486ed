//! What was decided, by which rule, and what would have allowed it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decision::GovernanceDecision;
use crate::options::GovernanceLayer;
use crate::pattern::Pattern;
use crate::request::{GovernanceDigest, GovernanceRequest};

/// A rule that decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernanceRule {
    /// Whose it is.
    pub layer: GovernanceLayer,
    /// Its name: as it was given, `defaults.ACTION` for a default, `data.offshoot.governance.NAME` for Rego.
    pub name: String,
    /// The file that it is in, as it was called; none for what is built in.
    pub file: Option<Arc<str>>,
    /// Its reason, where it gives one.
    pub reason: Option<String>,
}

impl GovernanceRule {
    /// A rule that is always there.
    pub(crate) fn built_in(name: &str, reason: String) -> Arc<Self> {
        let (layer, name) = (GovernanceLayer::BuiltIn, name.to_owned());
        Arc::new(Self { layer, name, file: None, reason: Some(reason) })
    }
}

/// What would have allowed a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceRemedy {
    /// The smallest rule that allows it.
    Add {
        /// The layers that need it.
        layers: Vec<GovernanceLayer>,
        /// The rule as TOML, with an example.
        rule: String,
    },
    /// No further rule can, because these stop it.
    Stopped {
        /// All rules that stop it.
        by: Vec<Arc<GovernanceRule>>,
    },
}

/// What was decided about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernanceVerdict {
    /// The decision.
    pub decision: GovernanceDecision,
    /// The rule that made it.
    pub rule: Arc<GovernanceRule>,
    /// Why, for people.
    pub reason: String,
    /// What was decided about.
    pub request: GovernanceDigest,
    /// What would have allowed it; none where it is allowed.
    pub remedy: Option<GovernanceRemedy>,
}

/// The smallest rule that allows a request.
pub(crate) fn allowing(request: &GovernanceRequest) -> String {
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let pattern = |value: &str| text(&Pattern::escaped(value));
    let labels: Vec<String> = request.labels.iter().map(|label| text(label)).collect();
    let labels = labels.join(", ");
    let digest = request.digest().to_string();
    let mut rule = format!("[[rule]]\nname = \"allow-{}\"\ndecision = \"allow\"\n", &digest[..8]);
    rule += &format!("action = \"{}\"\n", request.action);
    for (key, value) in
        [("agent", &request.agent), ("intent", &request.intent), ("target", &request.target)]
    {
        if !value.is_empty() {
            rule += &format!("{key} = {}\n", pattern(value));
        }
    }
    if !labels.is_empty() {
        rule += &format!("labels = [{labels}]\n");
    }
    rule += &format!("max_sensitivity = \"{}\"\n", request.sensitivity);
    if let Some(cost) = request.cost {
        rule += &format!("max_cost = {cost}\n");
    }
    let cost = request.cost.map_or_else(|| "\"unknown\"".to_owned(), |cost| cost.to_string());
    rule += &format!(
        "matches = [{{ action = \"{}\", agent = {}, intent = {}, target = {}, sensitivity = \"{}\", labels = [{labels}], cost = {cost} }}]\n",
        request.action,
        text(&request.agent),
        text(&request.intent),
        text(&request.target),
        request.sensitivity,
    );
    rule
}
