//! Keys of coding agents that stay outside: the network proxy adds them to requests, as the preset says.

use std::borrow::Cow;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;

use offshoot_profile::{CredentialRule, Preset, PresetKey, Profiles};
use offshoot_protocol::Network;

use super::outlet::{check_hosts, contains};
use super::request::ExecutionRequest;
use super::runtime::ProxyRuntime;
use super::sight::Viewer;
use crate::error::{Result, ServiceError};

impl ProxyRuntime<'_> {
    /// The profiles for a request, with what the proxy adds by the preset of its agent. Where it adds a key, the command has something else in its place.
    /// To do so twice is to do it once.
    pub(super) fn proxied(&self, request: &mut ExecutionRequest) -> Result<Cow<'_, Profiles>> {
        let profiles = &self.options.profiles.profiles;
        match self.preset_of(request)? {
            Some(preset) if self.options.agents.injects(&preset.name) => {
                keep_outside(&preset, &self.options.viewer, profiles, request).map(Cow::Owned)
            }
            _ => Ok(Cow::Borrowed(profiles)),
        }
    }
}

/// Takes the keys of an agent out of a request, and has the proxy add those that the user has.
fn keep_outside(
    preset: &Preset,
    viewer: &Viewer,
    profiles: &Profiles,
    request: &mut ExecutionRequest,
) -> Result<Profiles> {
    let name = &preset.name;
    let refused = |problem: String| {
        let otherwise = "`-c agents.inject=` gives the agent its key";
        Err(ServiceError::Request(format!(
            "the key of {name} cannot stay outside: {problem}; {otherwise}"
        )))
    };
    if preset.inject.is_empty() {
        return refused(format!("{} has no [[inject]]", preset.file));
    }
    if request.reach() == Network::Host {
        return refused("the network proxy adds it, and --net host does without that".to_owned());
    }
    let mut added: Vec<CredentialRule> = Vec::new();
    let mut shown: Vec<&PresetKey> = Vec::new();
    for key in &preset.inject {
        let (host, plain, variable) = address(key, request);
        let rule = key.credential(&host, plain);
        let is_same = |other: &CredentialRule| {
            other.host == rule.host && other.header.eq_ignore_ascii_case(&rule.header)
        };
        // The user's own rule counts more, and of two keys for one header the first.
        if profiles.credentials().iter().any(is_same) {
            shown.push(key);
        } else if viewer.variable(&key.variable).is_some() && !added.iter().any(is_same) {
            if plain && !is_loopback(&host) {
                return refused(format!(
                    "{} is an address with http://, by which {} would go to {host} in the clear: give it with https://",
                    variable.unwrap_or_default(),
                    key.variable
                ));
            }
            shown.push(key);
            added.push(rule);
        }
    }
    if shown.is_empty() && request.reach() == Network::Proxy {
        let names: Vec<&str> = preset.inject.iter().map(|key| key.variable.as_str()).collect();
        return refused(format!("none of these variables is set: {}", names.join(", ")));
    }
    withhold(preset, viewer, request);
    for key in shown {
        request.environment.push(((&key.variable).into(), (&key.placeholder).into()));
        let is_named = request.set_by_caller.iter().any(|set| *set == key.variable.as_str());
        if !is_named {
            request.set_by_caller.push((&key.variable).into());
        }
    }
    let inspect = added.iter().filter(|rule| !rule.plain_http).map(|rule| rule.host.clone());
    let inspect = inspect.collect();
    Ok(profiles.with_credentials(added, inspect))
}

/// Takes away all variables that say who somebody is to the agent's servers, and all that hold the same.
fn withhold(preset: &Preset, viewer: &Viewer, request: &mut ExecutionRequest) {
    let login = preset.login.iter().flat_map(|login| &login.variables);
    let names: Vec<&String> = preset.inject.iter().map(|key| &key.variable).chain(login).collect();
    let values: Vec<&[u8]> = names
        .iter()
        .filter_map(|name| viewer.variable(name))
        .map(OsStrExt::as_bytes)
        .map(<[u8]>::trim_ascii)
        .collect();
    request.environment.retain(|(name, value)| {
        !names.iter().any(|taken| *name == taken.as_str())
            && !values.iter().any(|secret| contains(value.as_bytes(), secret))
    });
    request.set_by_caller.retain(|set| !names.iter().any(|taken| *set == taken.as_str()));
}

/// The host that gets a key, whether it is reached without TLS, and the variable that names it: one of the command's, or the preset's own host.
fn address<'k>(key: &'k PresetKey, request: &ExecutionRequest) -> (String, bool, Option<&'k str>) {
    let named = key.from.iter().find_map(|name| {
        let mut set = request.environment.iter().rev();
        let address = set.find(|(set, _)| *set == name.as_str())?.1.to_str()?;
        Some((host_of(address)?, is_plain(address), Some(name.as_str())))
    });
    named.unwrap_or_else(|| (key.host.clone(), false, None))
}

fn is_plain(address: &str) -> bool {
    address.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http"))
}

/// Whether a host, with its port or without, is this machine: what is sent there is on no wire.
fn is_loopback(host: &str) -> bool {
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => host,
    };
    let bare = bare.trim_start_matches('[').trim_end_matches(']');
    let is_address = |address: IpAddr| address.is_loopback();
    bare.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(is_address)
}

/// The host in an address, with its port where it has one: as a rule of the proxy takes it.
///
/// ```
/// use offshoot_workspace::host_of;
///
/// assert_eq!(host_of("https://user:secret@example.com:8443/x").as_deref(), Some("example.com:8443"));
/// ```
pub fn host_of(address: &str) -> Option<String> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    (!host.is_empty() && check_hosts(host).is_ok()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_this_machine() {
        for host in
            ["localhost", "LOCALHOST:80", "127.0.0.1", "127.9.9.9:8080", "[::1]", "[::1]:80"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["other.example", "localhost.example", "10.0.0.1:80", "[fd00::1]:80", "127.example"]
        {
            assert!(!is_loopback(host), "{host}");
        }
        assert!(is_plain("http://a") && is_plain("HTTP://a"));
        assert!(!is_plain("https://a") && !is_plain("a:80"));
    }
}
