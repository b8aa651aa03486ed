//! Rules as people write them: a text, or a table with more in it.

use serde::{Deserialize, Serialize};

use super::groups::{self, NetGroup};
use super::paths::PathGlobs;
use super::{NetRule, NetRules, Target};
use crate::host::{Host, parse_port, shown, split_port};
use crate::ranges::Cidr;

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot allow \"{}\": {problem}; {expected}", text.escape_debug())]
pub struct RuleError {
    /// The rule as it was given, cut to a length that can be shown.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
    /// What would be right.
    pub expected: String,
}

/// What would be right where nothing closer can be said.
const FORMS: &str = "write a host (example.com), *.example.com, HOST:PORT, an address or range (10.0.0.0/8:5432, \
                     [fd00::/8]:5432), or the name of a group";

/// One rule as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RuleForm {
    Text(String),
    Table(RuleTable),
}

/// A rule that says more than where to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    host: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    upgrade: bool,
}

impl TryFrom<Vec<RuleForm>> for NetRules {
    type Error = RuleError;

    fn try_from(forms: Vec<RuleForm>) -> Result<Self, RuleError> {
        let mut rules = Vec::new();
        for form in forms {
            let table = match form {
                RuleForm::Text(host) => RuleTable { host, ..RuleTable::default() },
                RuleForm::Table(table) => table,
            };
            rules.extend(expand(&table)?);
        }
        Ok(Self { rules })
    }
}

impl From<NetRules> for Vec<RuleForm> {
    fn from(rules: NetRules) -> Self {
        let form = |rule: NetRule| {
            let host = rule.to_string();
            if !rule.looks_at_requests() && !rule.upgrade {
                return RuleForm::Text(host);
            }
            let (methods, paths) = (rule.methods, rule.paths.texts().to_vec());
            RuleForm::Table(RuleTable { host, methods, paths, upgrade: rule.upgrade })
        };
        rules.rules.into_iter().map(form).collect()
    }
}

/// The rules that a table stands for: several if it names a group.
fn expand(table: &RuleTable) -> Result<Vec<NetRule>, RuleError> {
    let text = table.host.trim();
    let fail = |problem: String, expected: &str| RuleError {
        text: shown(text),
        problem,
        expected: expected.to_owned(),
    };
    for method in &table.methods {
        if method.is_empty()
            || !method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
        {
            let problem = format!("\"{}\" is not a method", method.escape_debug());
            return Err(fail(problem, "write methods in capitals (GET, HEAD)"));
        }
    }
    let paths = PathGlobs::new(&table.paths).map_err(|problem| {
        fail(problem, "write paths that start with a slash, with * for a part and ** for any rest")
    })?;
    // In the spelling of a host, so that no host is written like a group.
    let name = text.strip_suffix('.').unwrap_or(text);
    let group: Option<&NetGroup> =
        groups::groups().iter().find(|group| group.name.eq_ignore_ascii_case(name));
    if let Some(meant) = group.is_none().then(|| nearest_group(name)).flatten() {
        let expected = format!("did you mean {meant}? Write {}:443 if it is a host", shown(name));
        return Err(fail("it is not a group".to_owned(), &expected));
    }
    let hosts: Vec<&str> = match group {
        Some(group) => group.hosts.iter().map(String::as_str).collect(),
        None => vec![text],
    };
    let rule = |host: &str| {
        let (target, port) = parse(host)?;
        let (methods, paths) = (table.methods.clone(), paths.clone());
        Ok(NetRule { target, port, methods, paths, upgrade: table.upgrade })
    };
    hosts.into_iter().map(rule).collect()
}

/// The group whose name is a slip away from a word; no host that has a dot is meant as a group.
fn nearest_group(word: &str) -> Option<&'static str> {
    const MOST: usize = 2;
    let names = groups::groups().iter().map(|group| group.name.as_str());
    let near = names.filter(|name| strsim::osa_distance(word, name) <= MOST);
    near.min_by_key(|name| strsim::osa_distance(word, name)).filter(|_| word.len() > MOST + 1)
}

/// Reads target and port of a rule.
pub(super) fn parse(text: &str) -> Result<(Target, Option<u16>), RuleError> {
    let fail =
        |problem: String, expected: String| Err(RuleError { text: shown(text), problem, expected });
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return fail("it is a URL".to_owned(), format!("write only the host: {}", shown(host)));
    }
    if text == "*" || text == "*." {
        let expected = "list the hosts that are needed, or use `--net host` for all of the network";
        return fail("it would allow everything".to_owned(), expected.to_owned());
    }
    // A range of IPv6 without brackets has no port; all others have one behind their last colon.
    let (host, port) = split_port(text);
    let port = match port.map(parse_port) {
        Some(None) => {
            let expected = format!("write a port from 1 to 65535: {}:443", shown(host));
            return fail("the port is not a number from 1 to 65535".to_owned(), expected);
        }
        Some(port) => port,
        None => None,
    };
    if let Some(below) = host.strip_prefix("*.") {
        return match Host::parse(below) {
            Ok(Host::Name(name)) => Ok((Target::Below(name), port)),
            Ok(Host::Address(_)) => {
                fail("an address has no names below it".to_owned(), FORMS.to_owned())
            }
            Err(error) => fail(error.reason.to_owned(), FORMS.to_owned()),
        };
    }
    if host.contains('*') {
        let expected = "write *. once, at the start: *.example.com".to_owned();
        return fail("`*` stands for whole parts at the start".to_owned(), expected);
    }
    let bare = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host);
    if bare.contains('/') {
        return match bare.parse::<Cidr>() {
            Ok(range) => Ok((Target::Addresses(range), port)),
            Err(error) if bare.starts_with(|c: char| c.is_ascii_digit()) || bare.contains(':') => {
                fail(error.to_string(), FORMS.to_owned())
            }
            Err(_) => {
                let expected =
                    "write only the host; `paths` of a rule in the settings can limit paths";
                fail("it has a path".to_owned(), expected.to_owned())
            }
        };
    }
    match Host::parse(host) {
        Ok(Host::Name(name)) => Ok((Target::Name(name), port)),
        Ok(Host::Address(address)) => match Cidr::from_address(address) {
            Ok(range) => Ok((Target::Addresses(range), port)),
            Err(error) => fail(error.to_string(), FORMS.to_owned()),
        },
        Err(error) => fail(error.reason.to_owned(), FORMS.to_owned()),
    }
}
