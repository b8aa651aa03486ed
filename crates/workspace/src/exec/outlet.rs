//! The way of a command to the hosts that were allowed.

mod certificates;
mod credentials;

pub(super) use credentials::{contains, withhold};

use std::ffi::OsString;
use std::sync::Arc;

use offshoot_egress::{
    Credentials, Egress, EgressError, EgressLimits, EgressOptions, EgressReport, EgressSockets,
    Inspection, NetRules,
};
use offshoot_policy::Verdict;
use offshoot_profile::{HostRule, Preset, Profile, Profiles};
use offshoot_protocol::Network;
use offshoot_sandbox::{NetworkSockets, ProxyPorts};
use rustix::process::{Resource, getrlimit};

use super::environment::try_again_soon;
use super::hosts;
use super::request::ExecutionRequest;
use super::sight::{Sight, Viewer};
use crate::error::{Result, ServiceError};

/// Variables that name the proxy. Those in lower case are what most programs look at first.
const PROXIES: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];
/// The variable that names what needs no proxy, and what that is: the command's own servers.
const DIRECT: (&str, &str) = ("no_proxy", "localhost,127.0.0.1,::1");
/// Descriptors that the rest of this process may need.
const OTHER_FILES: u64 = 256;

/// What a command may connect to, and where it finds the proxy that lets it.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    rules: NetRules,
    ports: ProxyPorts,
    /// Hosts whose TLS is looked into.
    inspect: NetRules,
    credentials: Vec<credentials::Needed>,
}

/// A proxy that has all it needs to serve a command.
#[derive(Clone, Debug)]
pub(super) struct EquippedOutlet {
    options: EgressOptions,
    ports: ProxyPorts,
    /// The variables by which programs know of it. None holds a secret.
    variables: Vec<(String, String)>,
}

impl Outlet {
    /// Of a command that runs by a profile; none where it needs no proxy.
    pub(super) fn of(profile: &Profile, profiles: &Profiles) -> Result<Option<Self>> {
        if profile.network != Network::Proxy {
            return Ok(None);
        }
        let rules = rules(&profile.allow).map_err(|problem| {
            ServiceError::Request(format!("profile {}: {problem}", profile.name))
        })?;
        let inspect = check(&profiles.tls().inspect.join(",")).map_err(ServiceError::Request)?;
        let credentials = credentials::needed(profiles, &rules, &inspect)?;
        let ports = ProxyPorts::new(&rules.ports())?;
        Ok(Some(Self { rules, ports, inspect, credentials }))
    }

    /// Reads credentials, makes certificates, and tells programs of both and of the proxy. Whoever set one of these
    /// variables knows better.
    pub(super) fn equip(
        self,
        viewer: &Viewer,
        request: &mut ExecutionRequest,
        sight: &mut Sight,
    ) -> Result<EquippedOutlet> {
        let mut variables = self.announce(request);
        let refused = |error: EgressError| ServiceError::Request(error.to_string());
        let added = credentials::read(&self.credentials, viewer, request)?;
        let mut options = EgressOptions::new(self.rules);
        options.limits = limits();
        options.credentials = Credentials::new(added).map_err(refused)?;
        if !self.inspect.is_empty() {
            let inspection = Inspection::new(self.inspect).map_err(refused)?;
            sight.written.extend(certificates::files(inspection.certificate(), viewer)?);
            for (name, path) in certificates::variables() {
                variables.extend(set(request, name, [name.to_owned()], path));
            }
            options.inspect = Some(Arc::new(inspection));
        }
        Ok(EquippedOutlet { options, ports: self.ports, variables })
    }

    fn announce(&self, request: &mut ExecutionRequest) -> Vec<(String, String)> {
        // Programs that know HTTP know a proxy of that for everything; one of SOCKS is an error to some.
        let proxy = format!("http://127.0.0.1:{}", self.ports.proxy());
        let variables = PROXIES.map(|name| (name, proxy.as_str()));
        let mut all = Vec::new();
        for (name, value) in variables.into_iter().chain([DIRECT]) {
            all.extend(set(request, name, [name.to_owned(), name.to_ascii_uppercase()], value));
        }
        try_again_soon(&mut request.environment);
        all
    }
}

/// Sets a variable, in some spellings, unless the caller did; what was set.
fn set<const N: usize>(
    request: &mut ExecutionRequest,
    name: &str,
    spellings: [String; N],
    value: &str,
) -> Vec<(String, String)> {
    let is_name = |set: &OsString| set.eq_ignore_ascii_case(name);
    if request.set_by_caller.iter().any(is_name) {
        return Vec::new();
    }
    request.environment.retain(|(set, _)| !is_name(set));
    let all = spellings.map(|name| (name, value.to_owned()));
    request.environment.extend(all.iter().map(|(name, value)| (name.into(), value.into())));
    all.to_vec()
}

impl EquippedOutlet {
    /// Where the command finds the proxy.
    pub(super) fn ports(&self) -> ProxyPorts {
        self.ports.clone()
    }

    /// The variables by which programs know of it.
    pub(super) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Serves the sockets of a command.
    pub(super) fn open(self, sockets: NetworkSockets) -> Result<OpenOutlet> {
        let NetworkSockets { proxy, direct, names, names_tcp } = sockets;
        let sockets = EgressSockets { proxy, direct, names, names_tcp };
        let egress = Egress::start(sockets, self.options)
            .map_err(|error| ServiceError::Internal(error.to_string()))?;
        Ok(OpenOutlet(egress))
    }
}

/// A proxy that serves a command.
#[derive(Debug)]
pub(super) struct OpenOutlet(Egress);

impl OpenOutlet {
    /// Ends all connections, and tells what they were: those of a command that was judged so.
    pub(super) fn close(self, verdict: Option<&Verdict>) -> EgressReport {
        let mut report = self.0.finish();
        if let Some(verdict) = verdict {
            hosts::name_ports(&mut report, verdict);
        }
        report
    }
}

/// As many connections as this process has descriptors for: each needs two.
fn limits() -> EgressLimits {
    let usual = EgressLimits::default();
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = usize::try_from(files.saturating_sub(OTHER_FILES) / 2).unwrap_or(usize::MAX);
    EgressLimits { connections: usual.connections.min(most.max(16)), ..usual }
}

/// Whether a text is a list of rules of hosts; what is wrong with it where it is not.
///
/// ```
/// assert!(offshoot_workspace::check_hosts("registries,*.example.com:8443").is_ok());
/// assert!(offshoot_workspace::check_hosts("https://example.com/").is_err());
/// ```
pub fn check_hosts(text: &str) -> Result<(), String> {
    check(text).map(drop)
}

/// Whether these can be the hosts of a profile, or what is wrong with them.
pub fn check_rules(allow: &[HostRule]) -> Result<(), String> {
    rules(allow).map(drop)
}

/// Whether the proxy can do what a preset asks of it, or what is wrong there.
pub fn check_preset(preset: &Preset) -> Result<(), String> {
    for host in preset.allowed() {
        check(host).map_err(|problem| format!("[hosts]: {problem}"))?;
    }
    for key in &preset.inject {
        credentials::check(&key.credential(&key.host, false))
            .map_err(|problem| format!("[[inject]]: {problem}"))?;
    }
    Ok(())
}

/// Whether the proxy can do what the user's file asks of it for whatever profile, or what is wrong there.
pub fn check_proxied(profiles: &Profiles) -> Result<(), String> {
    for rule in profiles.credentials() {
        credentials::check(rule)
            .map_err(|problem| format!("line {}: [[credential]]: {problem}", rule.line))?;
    }
    let inspect = profiles.tls().inspect.join(",");
    check(&inspect).map(drop).map_err(|problem| format!("[tls]: `inspect`: {problem}"))
}

/// The rules of a profile.
fn rules(allow: &[HostRule]) -> Result<NetRules, String> {
    let mut all = NetRules::default();
    for rule in allow {
        all.extend(match rule {
            HostRule::Text(text) => check(text)?,
            HostRule::Table(_) => {
                let value = serde_json::to_value([rule]).map_err(|error| error.to_string())?;
                serde_json::from_value(value).map_err(|error| error.to_string())?
            }
        });
    }
    Ok(all)
}

fn check(text: &str) -> Result<NetRules, String> {
    NetRules::parse(text).map_err(|error| error.to_string())
}
