//! HTTP/1: each request is checked anew, and passed on with a head of the proxy's own.

mod body;
mod exchange;
pub(crate) mod head;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};

use crate::host::Host;
use crate::opaque::{self, Way};
use crate::record::{Record, Refusal, Route};
use crate::state::State;
use crate::tunnel;
use crate::wire::{Duplex, send};
use exchange::{After, Exchange, Link};
use head::{Form, Request, end_of_head, parse_request};

/// A server, as a request names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Whether TLS is spoken with it.
    pub(crate) encrypted: bool,
}

/// What the client takes the proxy for.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    /// A proxy: each request names its server.
    Proxy,
    /// A server.
    Server(Origin),
}

/// A connection of HTTP.
pub(crate) struct Session {
    pub(crate) state: Arc<State>,
    pub(crate) client: Duplex,
    pub(crate) mode: Mode,
    pub(crate) route: Route,
    /// A connection to the server that was made before anything of HTTP was seen.
    pub(crate) dialled: Option<(Duplex, SocketAddr)>,
}

impl Session {
    /// Serves requests until either side has enough.
    pub(crate) async fn serve(mut self) {
        let mut link: Option<Link> = None;
        let mut first = true;
        loop {
            let request = match self.read_request(first).await {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(refusal) => {
                    let mut record = match &self.mode {
                        Mode::Proxy => self.state.ledger.open(self.route, None, 0),
                        Mode::Server(origin) => self.state.ledger.open(
                            self.route,
                            Some(origin.host.clone()),
                            origin.port,
                        ),
                    };
                    self.refuse(refusal, true, &mut record).await;
                    return self.linger().await;
                }
            };
            first = false;
            if let (Mode::Proxy, Form::Authority { host, port }) = (&self.mode, &request.form) {
                let meant = (host.clone(), *port);
                // A tunnel may turn out to hold requests again.
                return Box::pin(self.connect(meant, &request)).await;
            }
            match self.request(&request, &mut link).await {
                Next::Request => {}
                Next::End => return self.linger().await,
                Next::Done => return,
            }
        }
    }

    /// The head of the next request; nothing if the client has none.
    async fn read_request(&mut self, first: bool) -> Result<Option<Request>, Refusal> {
        let limits = &self.state.limits;
        let source = &mut self.client.read;
        if source.ahead().is_empty() {
            let wait = if first { limits.head_time } else { limits.keep_alive };
            match source.fill_within(wait).await {
                Ok(true) => {}
                Ok(false) | Err(_) => return Ok(None),
            }
        }
        let until = Instant::now() + limits.head_time;
        let mut searched = 0;
        loop {
            let ahead = source.ahead();
            let end = end_of_head(ahead, searched).map_err(Refusal::Malformed)?;
            if end.unwrap_or(ahead.len()) > limits.head_size {
                return Err(Refusal::Limit(HEAD_SIZE));
            }
            if let Some(end) = end {
                let request = parse_request(&ahead[..end]);
                source.consume(end);
                return match request {
                    Ok(request) => Ok(Some(request)),
                    Err(head::TOO_MANY) => Err(Refusal::Limit(HEAD_SIZE)),
                    Err(problem) => Err(Refusal::Malformed(problem)),
                };
            }
            searched = ahead.len();
            match timeout_at(until, source.fill()).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false) | Err(_)) => {
                    return Err(Refusal::Malformed("it ends within its head"));
                }
                Err(_) => return Err(Refusal::Limit(HEAD_TIME)),
            }
        }
    }

    /// Makes a tunnel.
    async fn connect(mut self, (host, port): (Host, u16), request: &Request) {
        let state = Arc::clone(&self.state);
        let mut record = state.ledger.open(Route::Connect, Some(host.clone()), port);
        let said = request.host.as_ref();
        let agrees = said.is_none_or(|(said, at)| *said == host && at.is_none_or(|at| at == port));
        let has_body = request.framing != head::Framing::Empty;
        let dialled = if !agrees {
            Err(Refusal::Disagrees("CONNECT and the Host header name different hosts".into()))
        } else if has_body {
            Err(Refusal::Malformed("CONNECT has a body"))
        } else {
            state.dial(&host, port, &mut record).await
        };
        let server = match dialled {
            Ok(server) => server,
            Err(refusal) => {
                self.refuse(refusal, true, &mut record).await;
                return self.linger().await;
            }
        };
        let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
        if send(&mut self.client.write, established, state.limits.idle).await.is_ok() {
            let way = Way { host, port, route: Route::Connect };
            opaque::serve(state, self.client, server, way, record).await;
        }
    }

    /// One request and its answer.
    async fn request(&mut self, request: &Request, link: &mut Option<Link>) -> Next {
        let state = Arc::clone(&self.state);
        let named = match (&self.mode, &request.form) {
            (Mode::Server(origin), _) => origin.clone(),
            (Mode::Proxy, Form::Absolute { host, port }) => {
                Origin { host: host.clone(), port: *port, encrypted: false }
            }
            (Mode::Proxy, _) => {
                let host = request.host.as_ref().map(|(host, _)| host.clone());
                let mut record = state.ledger.open(self.route, host, 80);
                let refusal = Refusal::Malformed("a request to a proxy needs the whole URL");
                self.refuse(refusal, true, &mut record).await;
                return Next::End;
            }
        };
        let mut record = state.ledger.open(self.route, Some(named.host.clone()), named.port);
        record.request(&request.method, &request.path);
        let exchange = match self.check(request, &named) {
            Ok(origin) => {
                let dialled = &mut self.dialled;
                let client = &mut self.client;
                let exchange = Exchange { state: &state, client, request, origin };
                exchange.run(link, dialled, &mut record).await
            }
            Err(refusal) => Err(refusal),
        };
        match exchange {
            Ok(After::Request) => Next::Request,
            Ok(After::End) => Next::End,
            Ok(After::Switched) => {
                if let Some(link) = link {
                    let counters = Arc::clone(&record.counters);
                    let patience = state.patience();
                    // How a tunnel ends says nothing that its byte counts do not.
                    drop(
                        tunnel::carry(&mut self.client, &mut link.server, &counters, patience)
                            .await,
                    );
                }
                Next::Done
            }
            Err(refusal) => {
                // What is left of the body would be taken for the next request.
                let ends = request.last || request.framing != head::Framing::Empty;
                let told = self.refuse(refusal, ends, &mut record).await;
                if told && !ends { Next::Request } else { Next::End }
            }
        }
    }

    /// Whether a request may go where it says, and which server that is in the end.
    fn check(&self, request: &Request, named: &Origin) -> Result<Origin, Refusal> {
        let state = &self.state;
        let default = if named.encrypted { 443 } else { 80 };
        if let Form::Absolute { host, port } = &request.form
            && (*host != named.host || *port != named.port)
            && state.walls.names_agree
        {
            let what = "the URL names another host than the connection";
            return Err(Refusal::Disagrees(what.into()));
        }
        if let Form::Authority { .. } = &request.form {
            return Err(Refusal::Malformed("CONNECT within a connection"));
        }
        if let Some((said, port)) = &request.host {
            let same = match self.mode {
                Mode::Proxy => *said == named.host,
                Mode::Server(_) => state.agrees(&named.host, said, named.port),
            };
            if !same && state.walls.names_agree {
                let what = "the Host header names another host";
                return Err(state.disagreement(what, &named.host, said, named.port));
            }
            if port.unwrap_or(default) != named.port && state.walls.names_agree {
                return Err(Refusal::Disagrees("the Host header names another port".into()));
            }
        }
        state.permits(&named.host, named.port)?;
        let path = request.path.split('?').next().unwrap_or_default();
        let mut rules = state
            .rules
            .matching(&named.host, named.port)
            .filter(|rule| rule.allows_request(&request.method, path));
        let Some(rule) = rules.next() else { return Err(Refusal::Request) };
        if request.method == "TRACE" {
            return Err(Refusal::Unsupported("TRACE, which sends back what the proxy adds"));
        }
        let upgrade = rule.upgrade || rules.any(|rule| rule.upgrade);
        if upgrade && !named.encrypted {
            let port = if named.port == 80 { 443 } else { named.port };
            state.permits(&named.host, port)?;
            return Ok(Origin { host: named.host.clone(), port, encrypted: true });
        }
        Ok(named.clone())
    }

    /// Answers with a refusal, and says whether the connection ends with it. False if the client is gone.
    async fn refuse(&mut self, refusal: Refusal, ends: bool, record: &mut Record) -> bool {
        let host = match &record.connection.host {
            Some(host) => host.with_port(record.connection.port),
            None => "the host".to_owned(),
        };
        let status = status(&refusal);
        let text = format!("offshoot: {}\n", refusal.message(&host));
        let connection = if ends { "Connection: close\r\n" } else { "" };
        record.refuse(refusal);
        let length = text.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{connection}\r\n{text}"
        );
        send(&mut self.client.write, answer.as_bytes(), self.state.limits.head_time).await.is_ok()
    }

    /// Ends a connection on which bytes may still come: if they were left unread, the answer could be lost on its way.
    async fn linger(mut self) {
        if self.client.write.shutdown().await.is_err() {
            return;
        }
        let until = Instant::now() + LINGER;
        for _ in 0..64 {
            self.client.read.consume(usize::MAX);
            match timeout_at(until, self.client.read.fill()).await {
                Ok(Ok(true)) => {}
                _ => return,
            }
        }
    }
}

/// How long a client has to read the last answer.
const LINGER: std::time::Duration = std::time::Duration::from_millis(500);
const HEAD_SIZE: &str = "the size of a head";
const HEAD_TIME: &str = "the time for a head";

/// What comes after a request.
enum Next {
    Request,
    End,
    Done,
}

fn status(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NotAllowed
        | Refusal::Request
        | Refusal::Address(_)
        | Refusal::Opaque
        | Refusal::Disagrees(_) => "403 Forbidden",
        Refusal::Malformed(_) => "400 Bad Request",
        Refusal::Limit(HEAD_SIZE) => "431 Request Header Fields Too Large",
        Refusal::Limit(_) => "408 Request Timeout",
        Refusal::Unsupported(_) => "501 Not Implemented",
        Refusal::Upstream(_) => "502 Bad Gateway",
    }
}
