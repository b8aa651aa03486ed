//! What is decided.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::word::words;

/// How long somebody may be given to answer: 30 days.
pub const LONGEST_ESCALATION_S: u64 = 30 * 24 * 60 * 60;

/// The longest name of somebody who is asked.
const LONGEST_NAME: usize = 256;

words! {
    /// What holds if nobody answers in time; the stricter is the last.
    pub enum EscalationFallback {
        /// It is allowed, once.
        Allow = "allow",
        /// It is denied.
        Deny = "deny",
    }
}

/// Who is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EscalationTarget {
    /// A governance agent.
    Agent(String),
    /// A person, or a group of which anybody may answer.
    Person(String),
}

impl EscalationTarget {
    /// Reads `person:NAME` or `agent:NAME`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        let is_name = !name.trim().is_empty() && name.len() <= LONGEST_NAME;
        match kind {
            "person" if is_name => Some(Self::Person(name.to_owned())),
            "agent" if is_name => Some(Self::Agent(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for EscalationTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::Person(name) => write!(f, "person:{name}"),
        }
    }
}

impl From<EscalationTarget> for String {
    fn from(target: EscalationTarget) -> Self {
        target.to_string()
    }
}

impl TryFrom<String> for EscalationTarget {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
            .ok_or_else(|| format!("`{text}` is neither `person:NAME` nor `agent:NAME`"))
    }
}

/// Who is asked, for how long, and what holds otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationTerms {
    /// Who is asked.
    pub ask: EscalationTarget,
    /// How many seconds there are to answer.
    pub within_s: u64,
    /// What holds if nobody does.
    pub fallback: EscalationFallback,
}

impl Default for EscalationTerms {
    fn default() -> Self {
        Self {
            ask: EscalationTarget::Person("owner".to_owned()),
            within_s: 60 * 60,
            fallback: EscalationFallback::Deny,
        }
    }
}

impl EscalationTerms {
    /// The same, as strict as `other` in fallback and time.
    pub(crate) fn tightened(mut self, other: &Self) -> Self {
        self.within_s = self.within_s.min(other.within_s);
        self.fallback = self.fallback.max(other.fallback);
        self
    }
}

/// Whether an agent may do what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceDecision {
    /// It may.
    Allow,
    /// It may if somebody says so.
    Escalate(EscalationTerms),
    /// It may not.
    Deny,
}

impl GovernanceDecision {
    /// Whether it may act now.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow)
    }

    /// The name of the decision.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Escalate(_) => "escalate",
            Self::Deny => "deny",
        }
    }

    /// How strict it is: 0 for what is allowed, 3 for what is denied; an escalation that is denied without an answer is stricter than one that is
    /// allowed then.
    pub fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Escalate(terms) => match terms.fallback {
                EscalationFallback::Allow => 1,
                EscalationFallback::Deny => 2,
            },
            Self::Deny => 3,
        }
    }
}
