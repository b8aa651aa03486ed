//! Who did something.

use serde::{Deserialize, Serialize};

use crate::error::{Result, VaultError};

/// Who did something: a person, and the agent and session that acted for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// The user's name.
    pub user: String,
    /// The agent, if one acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Actor {
    /// A person who acts alone.
    pub fn user(name: impl Into<String>) -> Self {
        Self { user: name.into(), ..Self::default() }
    }

    /// An agent that acts for this one in a session. Where this one is an agent already, both are named.
    ///
    /// ```
    /// use offshoot_vault::Actor;
    ///
    /// let person = Actor::user("ada");
    /// let agent = person.through("editor", "s-1");
    /// assert_eq!(agent.agent.as_deref(), Some("editor"));
    /// assert_eq!(agent.through("helper", "s-2").agent.as_deref(), Some("editor (helper)"));
    /// ```
    #[must_use]
    pub fn through(&self, agent: &str, session: &str) -> Self {
        let agent = match &self.agent {
            Some(own) => format!("{own} ({agent})"),
            None => agent.to_owned(),
        };
        Self { user: self.user.clone(), agent: Some(agent), session: Some(session.to_owned()) }
    }

    /// Refuses an agent. What only a person may do asks here, and says what that is.
    pub fn require_person(&self, what: &'static str) -> Result<()> {
        match &self.agent {
            Some(agent) => Err(VaultError::ForPeople { agent: agent.clone(), what }),
            None => Ok(()),
        }
    }
}
