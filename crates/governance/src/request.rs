//! What an agent wants to do.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::word::words;

/// How many bytes each text of a request may have.
pub const MAX_FIELD: usize = 8 * 1024;

/// How many labels a request may have.
pub const MAX_LABELS: usize = 64;

words! {
    /// What an agent does.
    pub enum GovernedAction {
        /// It uses a tool.
        UseTool = "use_tool",
        /// It asks a model.
        AskModel = "ask_model",
        /// It writes to a memory.
        WriteMemory = "write_memory",
        /// It sends a message to somebody.
        SendMessage = "send_message",
        /// It runs a step of a plan.
        RunStep = "run_step",
        /// It spends money or another budget.
        Spend = "spend",
    }
}

words! {
    /// How sensitive data is, from what everybody may see to what nobody else may.
    pub enum DataSensitivity {
        /// Everybody may see it.
        Public = "public",
        /// Everybody in the house may see it.
        Internal = "internal",
        /// Only those whom it concerns may see it.
        Confidential = "confidential",
        /// It gives access to something, such as a password.
        Secret = "secret",
    }
}

impl DataSensitivity {
    /// What a rule that allows covers where it does not say more.
    pub const COVERED: Self = Self::Internal;
}

/// What is asked for. It holds no data, only what is to be known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GovernanceRequest {
    /// Who wants to act.
    pub agent: String,
    /// What for.
    #[serde(default)]
    pub intent: String,
    /// What it wants to do.
    pub action: GovernedAction,
    /// The tool, the model, the memory, the receiver, the step or the account.
    pub target: String,
    /// Of the data involved.
    pub sensitivity: DataSensitivity,
    /// Words of the caller.
    #[serde(default)]
    pub labels: BTreeSet<String>,
    /// The estimated cost in millionths of a US dollar; none if it is not known.
    #[serde(default)]
    pub cost: Option<u64>,
}

impl GovernanceRequest {
    /// A request about internal data at an unknown cost.
    pub fn new(agent: &str, action: GovernedAction, target: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            intent: String::new(),
            action,
            target: target.to_owned(),
            sensitivity: DataSensitivity::Internal,
            labels: BTreeSet::new(),
            cost: None,
        }
    }

    /// With what it is for.
    pub fn with_intent(mut self, intent: &str) -> Self {
        self.intent = intent.to_owned();
        self
    }

    /// With the sensitivity of its data.
    pub fn with_sensitivity(mut self, sensitivity: DataSensitivity) -> Self {
        self.sensitivity = sensitivity;
        self
    }

    /// With one more label.
    pub fn with_label(mut self, label: &str) -> Self {
        self.labels.insert(label.to_owned());
        self
    }

    /// With an estimated cost in millionths of a US dollar.
    pub fn with_cost(mut self, cost: u64) -> Self {
        self.cost = Some(cost);
        self
    }

    /// What the request is recognised by: two have one digest only if they are the same.
    pub fn digest(&self) -> GovernanceDigest {
        let mut hasher = blake3::Hasher::new_derive_key("offshoot governance request 1");
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        for text in [
            self.agent.as_str(),
            &self.intent,
            self.action.as_str(),
            &self.target,
            self.sensitivity.as_str(),
            &self.cost.map_or_else(String::new, |cost| cost.to_string()),
        ] {
            add(text);
        }
        for label in &self.labels {
            add(label);
        }
        GovernanceDigest(*hasher.finalize().as_bytes())
    }

    /// What is longer than a request may be.
    pub(crate) fn excess(&self) -> Option<String> {
        let texts = [("agent", &self.agent), ("intent", &self.intent), ("target", &self.target)];
        let labels = self.labels.iter().map(|label| ("label", label));
        let long = texts.into_iter().chain(labels).find(|(_, text)| text.len() > MAX_FIELD);
        if let Some((field, text)) = long {
            return Some(format!(
                "its {field} has {} bytes, and {MAX_FIELD} is the most",
                text.len()
            ));
        }
        let count = self.labels.len();
        (count > MAX_LABELS).then(|| format!("it has {count} labels, and {MAX_LABELS} is the most"))
    }
}

/// What a request is recognised by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GovernanceDigest([u8; 32]);

impl fmt::Display for GovernanceDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        blake3::Hash::from_bytes(self.0).fmt(f)
    }
}

impl fmt::Debug for GovernanceDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GovernanceDigest({self})")
    }
}

impl From<GovernanceDigest> for String {
    fn from(digest: GovernanceDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for GovernanceDigest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match blake3::Hash::from_hex(&text) {
            Ok(hash) => Ok(Self(*hash.as_bytes())),
            Err(error) => Err(format!("no digest of a request: {error}")),
        }
    }
}
