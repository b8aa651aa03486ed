//! What a command did not get to, in words for the model: the network that it tried, and what it wrote where nothing stays.

use offshoot_protocol::{
    ExecEnvelopeDoc, ExecResultDoc, Network, NetworkDoc, RefusedHostDoc, Text,
};

use super::Report;
use crate::text::{bytes, count, line};

/// At most so many hosts or paths are named.
const MOST_NAMED: usize = 5;
/// What allows a host that was refused, before its name.
const ALLOWING: &str = "--net allow=";
/// What programs print that find no name or no network, in small letters.
const UNREACHED: [&str; 9] = [
    "could not resolve",
    "couldn't resolve",
    "name resolution",
    "name or service not known",
    "failed to lookup address",
    "eai_again",
    "enotfound",
    "no such host",
    "network is unreachable",
];

/// One line about a network that a command tried and did not have, and how it gets it.
pub(super) fn network(envelope: &ExecEnvelopeDoc, report: &Report<'_>) -> Option<String> {
    let hosts = report.hosts;
    let network = envelope.result.network.as_ref()?;
    let what = tried(&envelope.result, network)?;
    let refused = network.refused.iter();
    let allowing: Vec<&str> =
        refused.filter_map(|one| one.option.as_deref()?.strip_prefix(ALLOWING)).collect();
    // An address that no rule can allow is refused whatever the call says.
    if allowing.is_empty() && !network.refused.is_empty() {
        return Some(format!("network: {what}"));
    }
    let asked = &envelope.request.allow;
    let has = |all: &[String], host: &str| all.iter().any(|one| one.eq_ignore_ascii_case(host));
    let open = || hosts.iter().filter(|host| !has(asked, host)).map(String::as_str);
    let fitting = open().filter(|host| allowing.iter().any(|one| one.eq_ignore_ascii_case(host)));
    let fitting: Vec<&str> = fitting.collect();
    let open: Vec<&str> = if fitting.is_empty() { open().collect() } else { fitting };
    let missing: Vec<&str> =
        allowing.iter().copied().filter(|host| !has(hosts, host)).take(MOST_NAMED).collect();
    let mut ways = Vec::new();
    if !open.is_empty() {
        ways.push(format!("call again with allow_hosts: {}", listed(open.into_iter())));
    }
    if ways.is_empty() || !missing.is_empty() {
        let missing = if missing.is_empty() { "HOST".to_owned() } else { missing.join(",") };
        let allows = report.allows.replace("{hosts}", &missing);
        ways.push(format!("{allows}, and allow_hosts asks for it"));
    }
    Some(line(&format!("network: {what}; {}", ways.join("; else "))))
}

/// What it tried in vain; nothing if it does not seem to have missed anything.
fn tried(result: &ExecResultDoc, network: &NetworkDoc) -> Option<String> {
    if !network.refused.is_empty() {
        return Some(listed(network.refused.iter().map(|one: &RefusedHostDoc| &*one.reason)));
    }
    let (tried, failed) = (network.attempted > 0, result.exit_code != Some(0));
    match network.mode {
        // Whatever a shell does next may hide the exit code.
        Network::None if tried && failed || (tried || failed) && says_unreached(result) => {
            Some("off, and the command tried to reach it".to_owned())
        }
        Network::Proxy if tried && failed => {
            Some("the command tried ports that no rule names (HOST:PORT)".to_owned())
        }
        _ => None,
    }
}

/// Whether something printed that it found no name or no network.
fn says_unreached(result: &ExecResultDoc) -> bool {
    let printed = result.stderr.as_str().to_ascii_lowercase();
    UNREACHED.iter().any(|words| printed.contains(words))
}

/// One line about what a command wrote where nothing of it stays.
pub(super) fn discarded(envelope: &ExecEnvelopeDoc) -> Option<String> {
    let discarded = envelope.result.discarded.as_ref()?;
    let were = if discarded.count == 1 { "was" } else { "were" };
    let paths = listed(discarded.paths.iter().map(Text::as_str));
    Some(line(&format!(
        "{} outside the project ({}) {were} not kept: {paths}; only files in the project are kept",
        count(discarded.count, "change"),
        bytes(discarded.bytes),
    )))
}

/// The first of them.
fn listed<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut all = all.peekable();
    let mut named: Vec<&str> = all.by_ref().take(MOST_NAMED).collect();
    if all.peek().is_some() {
        named.push("...");
    }
    named.join(", ")
}
