//! Keys of an agent that can stay outside.

use serde::{Deserialize, Serialize};

use crate::hosts::{CredentialRule, ValueSource};

/// A key of an agent that the network proxy can add to requests, so that the agent never holds it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PresetKey {
    /// The variable of the user that holds it.
    pub variable: String,
    /// The host that gets it.
    pub host: String,
    /// Variables with the address of a server that gets it in place of that host.
    #[serde(default)]
    pub from: Vec<String>,
    /// The name of the header.
    pub header: String,
    /// What stands before the key, such as `Bearer`.
    pub scheme: Option<String>,
    /// What the agent has under the variable's name.
    pub placeholder: String,
}

impl PresetKey {
    /// The same as the user's own file of profiles would say it, for the host that gets the key.
    pub fn credential(&self, host: &str, plain_http: bool) -> CredentialRule {
        CredentialRule {
            host: host.to_owned(),
            header: self.header.clone(),
            scheme: self.scheme.clone(),
            value_from: ValueSource::Env(self.variable.clone()),
            plain_http,
            line: 0,
        }
    }

    /// What is wrong with it, as far as that can be told here.
    pub(super) fn problem(&self) -> Option<String> {
        let empty = [
            ("variable", &self.variable),
            ("host", &self.host),
            ("header", &self.header),
            ("placeholder", &self.placeholder),
        ];
        let (name, _) = empty.into_iter().find(|(_, text)| text.trim().is_empty())?;
        Some(format!("[[inject]]: `{name}` is empty"))
    }
}
