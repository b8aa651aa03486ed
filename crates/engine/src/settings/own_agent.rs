//! Section `agent`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{duration, value};

/// Section `agent`: which models the agent of Offshoot asks, and how much it may take.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().agent.max_turns, 100);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnAgentSettings {
    /// The model, as `PROVIDER/MODEL`; empty for none.
    pub model: String,
    /// Those that a project may choose instead, with commas between them.
    pub models: String,
    /// Those that answer when it cannot, in this order, in the same way.
    pub failover: String,
    /// How many requests are sent at most for one answer.
    pub attempts: u32,
    /// Servers of `mcp.toml` whose tools it has, with commas between them.
    pub mcp: String,
    /// What a run may cost, in millionths of a US dollar; 0 for no limit.
    pub max_cost: u64,
    /// How many answers a run may ask for; 0 for no limit.
    pub max_turns: u64,
    /// How long a run may take; zero for as long as it wants.
    #[serde(with = "duration")]
    pub max_time: Duration,
}

impl OwnAgentSettings {
    /// The model; none where none is set.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert_eq!(Config::default().agent.model(), None);
    /// ```
    pub fn model(&self) -> Option<&str> {
        Some(self.model.trim()).filter(|name| !name.is_empty())
    }

    /// Those that answer when the model cannot, in this order.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(Config::default().agent.failover().is_empty());
    /// ```
    pub fn failover(&self) -> Vec<String> {
        value::names(&self.failover).map(str::to_owned).collect()
    }

    /// The servers whose tools it has.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(Config::default().agent.mcp().is_empty());
    /// ```
    pub fn mcp(&self) -> Vec<String> {
        value::names(&self.mcp).map(str::to_owned).collect()
    }
}

impl Default for OwnAgentSettings {
    fn default() -> Self {
        Self {
            model: String::new(),
            models: String::new(),
            failover: String::new(),
            attempts: 4,
            mcp: String::new(),
            max_cost: 0,
            max_turns: 100,
            max_time: Duration::ZERO,
        }
    }
}
