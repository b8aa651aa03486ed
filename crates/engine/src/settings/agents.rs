//! Section `agents`.

use offshoot_protocol::CredentialMode;
use serde::{Deserialize, Serialize};

use super::value;

/// Section `agents`.
///
/// ```
/// use offshoot_engine::settings::{Config, CredentialMode};
///
/// assert_eq!(Config::default().agents.credentials, CredentialMode::Sync);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// What becomes of their logins.
    pub credentials: CredentialMode,
    /// Those whose keys stay outside, with commas between the names of their presets.
    pub inject: String,
    /// Those that share the state of the user's own, in the same way.
    pub host_state: String,
    /// Those that are trusted without `--trust-agent`, in the same way.
    pub trusted: String,
    /// How many bytes the caches of one agent may take in a vault.
    pub max_cache: u64,
}

impl AgentSettings {
    /// The presets that a list names.
    pub(crate) fn presets(list: &str) -> Vec<String> {
        value::names(list).map(str::to_owned).collect()
    }

    /// All lists, by key.
    pub(crate) fn lists(&self) -> [(&'static str, &str); 3] {
        [
            ("agents.inject", &self.inject),
            ("agents.host_state", &self.host_state),
            ("agents.trusted", &self.trusted),
        ]
    }

    /// Whether the key of an agent stays outside.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(!Config::default().agents.keeps_outside("claude"));
    /// ```
    pub fn keeps_outside(&self, preset: &str) -> bool {
        value::names(&self.inject).any(|name| name == preset)
    }

    /// Whether an agent shares the state of the user's own.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(!Config::default().agents.shares_state("claude"));
    /// ```
    pub fn shares_state(&self, preset: &str) -> bool {
        value::names(&self.host_state).any(|name| name == preset)
    }

    /// Whether an agent is trusted without being asked for.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(!Config::default().agents.trusts("claude"));
    /// ```
    pub fn trusts(&self, preset: &str) -> bool {
        value::names(&self.trusted).any(|name| name == preset)
    }
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            credentials: CredentialMode::Sync,
            inject: String::new(),
            host_state: String::new(),
            trusted: String::new(),
            max_cache: 2 << 30,
        }
    }
}
