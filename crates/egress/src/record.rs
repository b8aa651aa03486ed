//! What went through the proxy, and what did not.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use serde::Serialize;

use crate::host::{Host, shown};

/// How a connection came to the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// A request to a proxy of HTTP.
    Http,
    /// CONNECT to a proxy of HTTP.
    Connect,
    /// SOCKS5.
    Socks,
    /// From a program that knows nothing of the proxy.
    Direct,
    /// A question to the name server.
    Dns,
}

impl Route {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Connect => "connect",
            Self::Socks => "socks",
            Self::Direct => "direct",
            Self::Dns => "dns",
        }
    }
}

/// Why a connection was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "code", content = "detail")]
pub enum Refusal {
    /// No rule allows the host at that port.
    NotAllowed,
    /// A rule allows the host, and none of its rules the method and path.
    Request,
    /// The name leads to an address that no rule lists; what kind of address it is.
    Address(String),
    /// The request says two things.
    Disagrees(Disagreement),
    /// The request cannot be understood, or could be in two ways.
    Malformed(&'static str),
    /// A rule looks at methods or paths, and what is sent cannot be looked into.
    Opaque,
    /// A bound was reached.
    Limit(&'static str),
    /// The proxy does not do this: another command of SOCKS, another type of question.
    Unsupported(&'static str),
    /// The server could not be found or reached, or ended early.
    Upstream(String),
}

/// What does not agree in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// For people.
    pub what: String,
    /// The host that a rule would have to name for it to agree, where one would help.
    pub allow: Option<Host>,
}

impl From<&str> for Disagreement {
    fn from(what: &str) -> Self {
        Self { what: what.to_owned(), allow: None }
    }
}

impl Refusal {
    /// Whether the proxy would not let it pass, by its rules or because of two names that do not agree: no fault or limit.
    pub fn is_by_rule(&self) -> bool {
        matches!(
            self,
            Self::NotAllowed | Self::Request | Self::Address(_) | Self::Opaque | Self::Disagrees(_)
        )
    }

    /// The reason for people, about a host.
    pub fn message(&self, host: &str) -> String {
        match self {
            Self::NotAllowed => format!("{host} is not allowed"),
            Self::Request => format!(
                "this request to {host} is not allowed: see the methods and paths of its rule"
            ),
            Self::Address(what) => format!("{host} leads to {what}, which is not listed"),
            Self::Disagrees(Disagreement { what, .. }) => {
                format!("connection to {host} refused: {what}")
            }
            Self::Malformed(what) => format!("malformed request: {what}"),
            Self::Opaque => {
                format!(
                    "the rule for {host} limits methods or paths, and encrypted or unknown traffic cannot be checked"
                )
            }
            Self::Limit(what) => format!("limit reached: {what}"),
            Self::Unsupported(what) => format!("not supported: {what}"),
            Self::Upstream(what) => format!("cannot reach {host}: {what}"),
        }
    }
}

/// One connection, or one request of HTTP where requests are looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connection {
    /// When it came.
    pub at: SystemTime,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// How it came.
    pub route: Route,
    /// What it was meant for, where that could be told.
    pub host: Option<Host>,
    /// The port that it was meant for; 0 where there is none.
    pub port: u16,
    /// The address that it went to.
    pub address: Option<SocketAddr>,
    /// The method of HTTP, where known.
    pub method: Option<String>,
    /// The path of HTTP without its query, where known, cut to a length that can be shown.
    pub path: Option<String>,
    /// Bytes from the command.
    pub up: u64,
    /// Bytes to the command.
    pub down: u64,
    /// Why it was refused or failed; nothing if it was served.
    pub refusal: Option<Refusal>,
}

/// A host that was refused, however often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedHost {
    /// What was meant.
    pub host: Host,
    /// The first port that was tried; 0 if only its address was asked for. The usual ports of a host are told together.
    pub port: u16,
    /// How often.
    pub times: u64,
    /// Why the first time.
    pub refusal: Refusal,
    /// The option that would allow it, where one would.
    pub flag: Option<String>,
}

/// Everything that a command did with the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EgressReport {
    /// The connections in the order in which they ended, up to a limit.
    pub connections: Vec<Connection>,
    /// How many ended after the limit was reached.
    pub left_out: u64,
    /// The hosts that rules refused, up to a limit.
    pub refused: Vec<RefusedHost>,
    /// How many refusals of further hosts are not listed.
    pub refused_left_out: u64,
    /// Bytes from the command, of all connections.
    pub up: u64,
    /// Bytes to the command, of all connections.
    pub down: u64,
}

/// Told of every connection when it ends, from a thread of the proxy: it must not wait for anything.
pub type ConnectionListener = Arc<dyn Fn(&Connection) + Send + Sync>;

/// Where records are kept.
#[derive(Clone)]
pub(crate) struct Ledger {
    inner: Arc<Mutex<Inner>>,
    listener: Option<ConnectionListener>,
    limit: usize,
}

#[derive(Default)]
struct Inner {
    report: EgressReport,
    refused: BTreeMap<(Host, u16), RefusedHost>,
}

impl Ledger {
    pub(crate) fn new(limit: usize, listener: Option<ConnectionListener>) -> Self {
        Self { inner: Arc::default(), listener, limit }
    }

    /// Starts the record of a connection, which is kept when it is dropped.
    pub(crate) fn open(&self, route: Route, host: Option<Host>, port: u16) -> Record {
        let connection = Connection {
            at: SystemTime::now(),
            millis: 0,
            route,
            host,
            port,
            address: None,
            method: None,
            path: None,
            up: 0,
            down: 0,
            refusal: None,
        };
        let counters = Arc::default();
        Record { connection, counters, since: Instant::now(), ledger: self.clone(), kept: true }
    }

    /// All that was recorded so far.
    pub(crate) fn report(&self) -> EgressReport {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = inner.refused.values().cloned().collect();
        EgressReport { refused, ..inner.report.clone() }
    }

    fn keep(&self, connection: Connection) {
        if let Some(listener) = &self.listener {
            listener(&connection);
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *inner;
        inner.report.up += connection.up;
        inner.report.down += connection.down;
        let by_rule = connection.refusal.as_ref().filter(|refusal| refusal.is_by_rule());
        if let (Some(host), Some(refusal)) = (&connection.host, by_rule) {
            let key = (host.clone(), told_port(connection.port));
            if let Some(refused) = inner.refused.get_mut(&key) {
                refused.times += 1;
                if refused.port == 0 {
                    refused.port = connection.port;
                }
            } else if inner.refused.len() < self.limit {
                inner.refused.insert(key, refused(&connection, host, refusal));
            } else {
                inner.report.refused_left_out += 1;
            }
        }
        if inner.report.connections.len() < self.limit {
            inner.report.connections.push(connection);
        } else {
            inner.report.left_out += 1;
        }
    }
}

fn refused(connection: &Connection, host: &Host, refusal: &Refusal) -> RefusedHost {
    let (port, tried) = (told_port(connection.port), connection.port);
    let of = |host: &Host| if port == 0 { bare(host) } else { host.with_port(port) };
    let allowing = match refusal {
        Refusal::NotAllowed => Some(of(host)),
        Refusal::Address(_) => connection.address.map(|address| of(&address.ip().into())),
        Refusal::Disagrees(Disagreement { allow, .. }) => allow.as_ref().map(of),
        _ => None,
    };
    let flag = allowing.map(|allowing| format!("--net allow={allowing}"));
    RefusedHost { host: host.clone(), port: tried, times: 1, refusal: refusal.clone(), flag }
}

/// A port, or 0 if a rule without a port covers it.
fn told_port(port: u16) -> u16 {
    if crate::rules::DEFAULT_PORTS.contains(&port) { 0 } else { port }
}

/// A host without a port, as a rule names it.
fn bare(host: &Host) -> String {
    match host {
        Host::Address(address) if address.is_ipv6() => format!("[{address}]"),
        _ => host.to_string(),
    }
}

/// Bytes of a connection that goes on.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) up: AtomicU64,
    pub(crate) down: AtomicU64,
}

/// The record of a connection that goes on. It is kept when dropped, so that no connection is without one.
pub(crate) struct Record {
    pub(crate) connection: Connection,
    pub(crate) counters: Arc<Counters>,
    since: Instant,
    ledger: Ledger,
    kept: bool,
}

impl Record {
    /// Keeps nothing of it: what happens on the connection has records of its own.
    pub(crate) fn discard(mut self) {
        self.kept = false;
    }

    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        self.connection.refusal = Some(refusal);
    }

    pub(crate) fn request(&mut self, method: &str, path: &str) {
        self.connection.method = Some(shown(method));
        let path = path.split(['?', '#']).next().unwrap_or_default();
        self.connection.path = Some(shown(path));
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.kept {
            return;
        }
        self.connection.up += self.counters.up.load(Ordering::Relaxed);
        self.connection.down += self.counters.down.load(Ordering::Relaxed);
        let millis = self.since.elapsed().as_millis();
        self.connection.millis = u64::try_from(millis).unwrap_or(u64::MAX);
        self.ledger.keep(self.connection.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(ledger: &Ledger, host: &str, port: u16, refusal: Option<Refusal>) {
        let mut record = ledger.open(Route::Http, Some(Host::parse(host).unwrap()), port);
        record.connection.up = 1;
        record.connection.address = Some(SocketAddr::from(([10, 0, 0, 1], port)));
        record.connection.refusal = refusal;
    }

    #[test]
    fn refused_hosts_are_told_once_with_what_would_allow_them() {
        let ledger = Ledger::new(10, None);
        note(&ledger, "a.test", 0, Some(Refusal::NotAllowed));
        note(&ledger, "a.test", 443, Some(Refusal::NotAllowed));
        note(&ledger, "a.test", 443, Some(Refusal::NotAllowed));
        note(&ledger, "a.test", 80, Some(Refusal::NotAllowed));
        note(&ledger, "b.test", 8080, Some(Refusal::NotAllowed));
        note(&ledger, "c.test", 8080, Some(Refusal::Address("a private address".to_owned())));
        note(&ledger, "d.test", 80, Some(Refusal::Request));
        note(&ledger, "e.test", 80, Some(Refusal::Malformed("it is")));
        note(&ledger, "::1", 80, Some(Refusal::NotAllowed));
        note(&ledger, "f.test", 80, None);
        let report = ledger.report();
        assert_eq!(report.connections.len(), 10);
        assert_eq!(report.up, 10);
        let told: Vec<_> = report
            .refused
            .iter()
            .map(|r| (r.host.to_string(), r.port, r.times, r.flag.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("a.test".to_owned(), 443, 4, Some("--net allow=a.test")),
                ("b.test".to_owned(), 8080, 1, Some("--net allow=b.test:8080")),
                ("c.test".to_owned(), 8080, 1, Some("--net allow=10.0.0.1:8080")),
                ("d.test".to_owned(), 80, 1, None),
                ("::1".to_owned(), 80, 1, Some("--net allow=[::1]")),
            ]
        );
    }

    #[test]
    fn the_report_is_bounded() {
        let ledger = Ledger::new(3, None);
        for index in 0..10 {
            note(&ledger, &format!("h{index}.test"), 443, Some(Refusal::NotAllowed));
        }
        let report = ledger.report();
        assert_eq!((report.connections.len(), report.left_out), (3, 7));
        assert_eq!((report.refused.len(), report.refused_left_out), (3, 7));
    }
}
