//! What commands reach by the network proxy, as people write it: rules of hosts, credentials, and whose TLS is looked into.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A host that is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a host is a text, or a table of host, methods, paths and upgrade")]
pub enum HostRule {
    /// Hosts alone, with commas between them.
    Text(String),
    /// A host, and which requests it may be sent.
    Table(HostTable),
}

/// A host, and which requests it may be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTable {
    /// The host, with a port or without.
    pub host: String,
    /// The methods of HTTP that are allowed; all where there are none.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Which paths are allowed; all where there are none.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Plain requests go on as https.
    #[serde(default)]
    pub upgrade: bool,
}

impl From<&str> for HostRule {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for HostRule {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostTable { host, methods, paths, upgrade } = match self {
            Self::Text(text) => return f.write_str(text),
            Self::Table(table) => table,
        };
        f.write_str(host)?;
        let limits = [methods, paths].into_iter().filter(|list| !list.is_empty());
        let mut limits: Vec<String> = limits.map(|list| list.join(" ")).collect();
        limits.extend(upgrade.then(|| "as https".to_owned()));
        if limits.is_empty() { Ok(()) } else { write!(f, " ({})", limits.join("; ")) }
    }
}

/// A header that the proxy adds to requests for one host, so that commands never hold it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialRule {
    /// The host, with a port or without.
    pub host: String,
    /// The name of the header.
    #[serde(default = "authorization")]
    pub header: String,
    /// What stands before the value, such as `Bearer`.
    pub scheme: Option<String>,
    /// Where the value is found. It is never written in the file itself.
    pub value_from: ValueSource,
    /// It may be sent without TLS.
    #[serde(default)]
    pub plain_http: bool,
    /// The line of the file where it begins.
    #[serde(skip)]
    pub line: usize,
}

fn authorization() -> String {
    "Authorization".to_owned()
}

/// Where a value is found on the host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSource {
    /// In a variable of the user.
    Env(String),
    /// In a file: an absolute path, `~/NAME` or `$VARIABLE/NAME`.
    File(String),
    /// In what a program prints.
    Command(Vec<String>),
}

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "variable {name}"),
            Self::File(path) => write!(f, "file {path}"),
            // Its arguments are nobody's business: one may be a secret.
            Self::Command(command) => {
                write!(f, "command {}", command.first().map_or("", String::as_str))
            }
        }
    }
}

/// Which TLS connections the proxy looks into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsRules {
    /// The hosts.
    #[serde(default)]
    pub inspect: Vec<String>,
}
