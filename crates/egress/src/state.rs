//! What all connections of one proxy share, and how each of them gets to a server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::credentials::Credentials;
use crate::host::{Host, shown};
use crate::limits::EgressLimits;
use crate::lookup::NameLookup;
use crate::made_up::MadeUp;
use crate::record::{Disagreement, Ledger, Record, Refusal};
use crate::rules::NetRules;
use crate::tls::{Client, Inspection};
use crate::tunnel::Patience;
use crate::walls::EgressWalls;

/// How many addresses of a name are tried.
const TRIED: usize = 6;
/// How long each of them has but the last.
const FIRST_TRIES: Duration = Duration::from_secs(3);

/// What all connections share. Nothing of it changes but the records and the made-up addresses.
pub(crate) struct State {
    pub(crate) rules: NetRules,
    pub(crate) credentials: Credentials,
    pub(crate) limits: EgressLimits,
    pub(crate) ledger: Ledger,
    pub(crate) made_up: MadeUp,
    pub(crate) lookup: Arc<dyn NameLookup>,
    pub(crate) walls: EgressWalls,
    /// Makes certificates, if connections of TLS are to be looked into.
    pub(crate) inspect: Option<Arc<Inspection>>,
    /// Speaks TLS to servers, where that is needed.
    pub(crate) client: Option<Client>,
}

impl State {
    pub(crate) fn patience(&self) -> Patience {
        Patience { idle: self.limits.idle, half_closed: self.limits.half_closed }
    }

    /// Whether a rule allows a host and port at all.
    pub(crate) fn permits(&self, host: &Host, port: u16) -> Result<(), Refusal> {
        match self.rules.matching(host, port).next() {
            Some(_) => Ok(()),
            None => Err(Refusal::NotAllowed),
        }
    }

    /// Whether a rule allows a host and port whatever is sent.
    pub(crate) fn permits_anything(&self, host: &Host, port: u16) -> bool {
        self.rules.matching(host, port).any(|rule| !rule.looks_at_requests())
    }

    /// Whether a name that a connection carries may stand for what it is meant for: the same host, another name of this
    /// machine's loopback interface, or an allowed name where only an address is known.
    pub(crate) fn agrees(&self, meant: &Host, carried: &Host, port: u16) -> bool {
        if !self.walls.names_agree {
            return true;
        }
        let named = matches!(meant, Host::Address(_)) && self.permits(carried, port).is_ok();
        let same = meant == carried || meant.is_usual_loopback() && carried.is_usual_loopback();
        same || named && carried.name().is_some()
    }

    /// The refusal of a connection that carries another name than it is meant for, with the rule that would let it: one for
    /// that name helps where only an address is known.
    pub(crate) fn disagreement(
        &self,
        what: &str,
        meant: &Host,
        carried: &Host,
        port: u16,
    ) -> Refusal {
        let helps = matches!(meant, Host::Address(_))
            && carried.name().is_some()
            && !self.agrees(meant, carried, port);
        let what = format!("{what}, {}", shown(&carried.to_string()));
        Refusal::Disagrees(Disagreement { what, allow: helps.then(|| carried.clone()) })
    }

    /// What a host means: a made-up address means its name.
    pub(crate) fn meant(&self, host: Host) -> Host {
        match host {
            Host::Address(address) => match self.made_up.name_of(address) {
                Some(name) => Host::Name(name),
                None => Host::Address(address),
            },
            Host::Name(_) => host,
        }
    }

    /// The same at a port where the command can have no server of its own: the loopback address is that of this machine if the
    /// rules allow that by its name, and one of the two usual addresses is the other if they allow that alone: who connects
    /// to `localhost` takes either.
    pub(crate) fn meant_at(&self, host: Host, port: u16) -> Host {
        let is_allowed = |host: &Host| self.permits(host, port).is_ok();
        let localhost = Host::Name("localhost".to_owned());
        match self.meant(host) {
            Host::Address(address) if address.is_loopback() && is_allowed(&localhost) => localhost,
            host if host.is_usual_loopback() && !is_allowed(&host) => {
                let usual = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                usual.map(Host::Address).into_iter().find(is_allowed).unwrap_or(host)
            }
            other => other,
        }
    }

    /// Connects to a host: its name is resolved once, all its addresses are checked, and one of those is used.
    pub(crate) async fn dial(
        &self,
        host: &Host,
        port: u16,
        record: &mut Record,
    ) -> Result<TcpStream, Refusal> {
        self.permits(host, port)?;
        let until = Instant::now() + self.limits.connect_time;
        let found = match timeout_at(until, self.addresses(host)).await {
            Ok(found) => found.map_err(|error| Refusal::Upstream(error.to_string()))?,
            Err(_) => return Err(Refusal::Upstream("looking up its address timed out".to_owned())),
        };
        for address in &found {
            if let Err(what) = self.rules.may_reach(host, *address, port)
                && self.walls.special_addresses
            {
                record.connection.address = Some(SocketAddr::new(*address, port));
                return Err(Refusal::Address(format!("{address}, {what}")));
            }
        }
        let mut failure = Refusal::Upstream("it has no address".to_owned());
        let count = found.len().min(TRIED);
        for (index, address) in found.into_iter().take(TRIED).enumerate() {
            let address = SocketAddr::new(address, port);
            record.connection.address = Some(address);
            // An address that does not answer must not use up the time of those behind it.
            let left = until.saturating_duration_since(Instant::now());
            let last = index + 1 == count;
            let share = if last { left } else { (left / 2).min(FIRST_TRIES) };
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Small messages wait for nothing; without it they are only slower.
                    drop(stream.set_nodelay(true));
                    return Ok(stream);
                }
                Ok(Err(error)) => failure = Refusal::Upstream(error.to_string()),
                Err(_) => failure = Refusal::Upstream("connecting timed out".to_owned()),
            }
        }
        Err(failure)
    }

    async fn addresses(&self, host: &Host) -> io::Result<Vec<IpAddr>> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name.clone(),
        };
        let lookup = Arc::clone(&self.lookup);
        let found = tokio::task::spawn_blocking(move || lookup.lookup(&name)).await;
        let mut found = found.map_err(io::Error::other)??;
        found.iter_mut().for_each(|address| *address = address.to_canonical());
        Ok(found)
    }
}
