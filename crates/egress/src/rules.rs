//! The allow-list: what a command may connect to.

mod form;
mod groups;
mod paths;

pub use form::RuleError;
pub use groups::{NetGroup, groups};

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::ranges::{self, Cidr};
use form::RuleForm;
use paths::PathGlobs;

/// The ports of a rule that names none: those of HTTP and of HTTPS.
pub const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// What one rule is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// One name.
    Name(String),
    /// All names below one, and not that one itself: `*.example.com`.
    Below(String),
    /// Addresses, also special ones if the range lies within one of the special ranges.
    Addresses(Cidr),
}

/// One entry of the allow-list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetRule {
    pub(crate) target: Target,
    /// The one port, or [`DEFAULT_PORTS`].
    pub(crate) port: Option<u16>,
    /// The methods of HTTP that are allowed; all where there are none.
    pub(crate) methods: Vec<String>,
    /// Which paths are allowed; all where there are none.
    pub(crate) paths: PathGlobs,
    /// Whether plain HTTP to this host goes on as HTTPS: at port 443 if it came for port 80, else at the same port.
    pub(crate) upgrade: bool,
}

/// The allow-list of one command: what nothing in it allows is refused.
///
/// ```
/// use offshoot_egress::NetRules;
///
/// let rules = NetRules::parse("registries,*.example.com,db.internal:5432,10.0.0.0/8:5432").unwrap();
/// assert_eq!(rules.ports(), [80, 443, 5432]);
/// assert!(NetRules::parse("https://example.com/").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<RuleForm>", into = "Vec<RuleForm>")]
pub struct NetRules {
    rules: Vec<NetRule>,
}

impl NetRules {
    /// Reads a list as it stands on the command line: rules and names of groups, with commas between them.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Self::try_from(items.map(|item| RuleForm::Text(item.to_owned())).collect::<Vec<_>>())
    }

    /// Adds the rules of another list.
    pub fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules.
    pub fn iter(&self) -> impl Iterator<Item = &NetRule> {
        self.rules.iter()
    }

    /// All ports that a rule allows, in order: where the namespace of the command has to listen.
    pub fn ports(&self) -> Vec<u16> {
        let all: BTreeSet<u16> = self.rules.iter().flat_map(NetRule::ports).copied().collect();
        all.into_iter().collect()
    }

    /// The rules about a host: at a port if one is given, where a rule that names no port is about any.
    pub fn about<'a>(
        &'a self,
        host: &'a Host,
        port: Option<u16>,
    ) -> impl Iterator<Item = &'a NetRule> {
        self.rules.iter().filter(move |rule| {
            let same_port = port.is_none() || rule.port.is_none() || rule.port == port;
            same_port && rule.target.is_about(host)
        })
    }

    /// The rules that allow a host and port.
    pub(crate) fn matching<'a>(
        &'a self,
        host: &'a Host,
        port: u16,
    ) -> impl Iterator<Item = &'a NetRule> {
        self.rules.iter().filter(move |rule| rule.has_port(port) && rule.target.is_about(host))
    }

    /// Whether a name is allowed at any port, so that its address may be asked for.
    pub(crate) fn knows_name(&self, host: &Host) -> bool {
        host.name().is_some() && self.rules.iter().any(|rule| rule.target.is_about(host))
    }

    /// Whether a connection to `host` may use an address that it was resolved to, or the reason why not.
    pub(crate) fn may_reach(
        &self,
        host: &Host,
        address: IpAddr,
        port: u16,
    ) -> Result<(), &'static str> {
        let Some(special) = ranges::special(address) else { return Ok(()) };
        let loopback = address.is_loopback() && host.name() == Some("localhost");
        let listed = || {
            self.rules.iter().any(|rule| match &rule.target {
                Target::Addresses(range) => {
                    rule.has_port(port) && range.contains(address) && special.range.covers(range)
                }
                Target::Name(_) | Target::Below(_) => false,
            })
        };
        if loopback || listed() { Ok(()) } else { Err(special.what) }
    }
}

impl NetRule {
    /// What it is about.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The ports that it allows.
    pub fn ports(&self) -> &[u16] {
        self.port.as_ref().map_or(&DEFAULT_PORTS, std::slice::from_ref)
    }

    /// Whether plain HTTP goes on as HTTPS.
    pub fn upgrades(&self) -> bool {
        self.upgrade
    }

    fn has_port(&self, port: u16) -> bool {
        self.ports().contains(&port)
    }

    /// Whether requests have to be looked at before it allows them.
    pub(crate) fn looks_at_requests(&self) -> bool {
        !self.methods.is_empty() || !self.paths.is_empty()
    }

    /// Whether it allows a request of HTTP.
    pub(crate) fn allows_request(&self, method: &str, path: &str) -> bool {
        let method_fits = self.methods.is_empty() || self.methods.iter().any(|own| own == method);
        method_fits && self.paths.fit(path)
    }
}

impl Target {
    fn is_about(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Name(own), Host::Name(name)) => own == name,
            (Self::Below(own), Host::Name(name)) => {
                name.strip_suffix(own.as_str()).is_some_and(|start| start.ends_with('.'))
            }
            (Self::Addresses(range), Host::Address(address)) => range.contains(*address),
            _ => false,
        }
    }
}

impl fmt::Display for NetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Name(name) => f.write_str(name)?,
            Target::Below(name) => write!(f, "*.{name}")?,
            Target::Addresses(range) if self.port.is_some() && range.to_string().contains(':') => {
                write!(f, "[{range}]")?;
            }
            Target::Addresses(range) => range.fmt(f)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests;
