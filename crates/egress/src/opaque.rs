//! A connection that says where it goes and not what it holds: its first bytes tell.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use crate::host::Host;
use crate::http::{Mode, Origin, Session};
use crate::record::{Record, Refusal, Route};
use crate::state::State;
use crate::tls::{Hello, Inspection, parse_hello};
use crate::tunnel;
use crate::wire::Duplex;

/// Where a connection goes and how it came.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) route: Route,
}

/// What the first bytes of a client say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// More bytes are needed.
    Unclear,
    /// TLS, and the name that it asks for.
    Tls(Option<Host>),
    Http,
    /// Anything else.
    Raw,
    Malformed(&'static str),
}

/// Serves a connection for which a server has been dialled.
pub(crate) async fn serve(
    state: Arc<State>,
    mut client: Duplex,
    server: TcpStream,
    way: Way,
    mut record: Record,
) {
    let Ok(address) = server.peer_addr() else {
        return record.refuse(Refusal::Upstream("it closed the connection".to_owned()));
    };
    let mut server = Duplex::from(server);
    match decide(&state, &mut client, &mut server, &way).await {
        Ok(Plan::Carry) => {
            let counters = Arc::clone(&record.counters);
            let carried =
                tunnel::carry(&mut client, &mut server, &counters, state.patience()).await;
            if carried.is_err_and(|error| error.kind() == std::io::ErrorKind::TimedOut) {
                record.refuse(Refusal::Limit("the time without traffic"));
            }
        }
        Ok(Plan::Http) => {
            record.discard();
            hand_over(state, client, (server, address), way, false).await;
        }
        Ok(Plan::Inspect) => {
            let Some(client) = greet(&state, client, &way.host, &mut record).await else { return };
            record.discard();
            hand_over(state, client, (server, address), way, true).await;
        }
        Err(refusal) => record.refuse(refusal),
    }
}

/// What to do with a connection.
enum Plan {
    Carry,
    Http,
    Inspect,
}

async fn decide(
    state: &State,
    client: &mut Duplex,
    server: &mut Duplex,
    way: &Way,
) -> Result<Plan, Refusal> {
    let anything = state.permits_anything(&way.host, way.port);
    match first_words(client, server, state.limits.idle, state.limits.head_time).await? {
        Content::Tls(name) => {
            if let Some(name) = name.filter(|name| !state.agrees(&way.host, name, way.port)) {
                let what = "TLS asks for another server than the connection is for";
                return Err(state.disagreement(what, &way.host, &name, way.port));
            }
            let inspects = |inspect: &Arc<Inspection>| inspect.covers(&way.host, way.port);
            match (state.inspect.as_ref().is_some_and(inspects), anything) {
                (true, _) => Ok(Plan::Inspect),
                (false, true) => Ok(Plan::Carry),
                (false, false) => Err(Refusal::Opaque),
            }
        }
        Content::Http => Ok(Plan::Http),
        Content::Raw | Content::Unclear if anything => Ok(Plan::Carry),
        Content::Raw | Content::Unclear => Err(Refusal::Opaque),
        Content::Malformed(problem) => Err(Refusal::Malformed(problem)),
    }
}

/// Waits until the client has said enough to tell what it speaks, or the server has spoken first: no server of HTTP or TLS
/// does.
async fn first_words(
    client: &mut Duplex,
    server: &mut Duplex,
    idle: Duration,
    limit: Duration,
) -> Result<Content, Refusal> {
    if client.read.ahead().is_empty() {
        let either = async {
            tokio::select! {
                biased;
                said = client.read.fill() => said.map(|said| (said, false)),
                said = server.read.fill() => said.map(|said| (said, true)),
            }
        };
        match timeout(idle, either).await {
            Ok(Ok((true, false))) => {}
            Ok(Ok(_)) => return Ok(Content::Raw),
            Ok(Err(error)) => return Err(Refusal::Upstream(error.to_string())),
            Err(_) => return Err(Refusal::Limit("the time without traffic")),
        }
    }
    let until = Instant::now() + limit;
    loop {
        match classify(client.read.ahead()) {
            Content::Unclear => {}
            clear => return Ok(clear),
        }
        match timeout_at(until, client.read.fill()).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false) | Err(_)) => return Ok(Content::Raw),
            Err(_) => return Err(Refusal::Limit("the time for the first bytes")),
        }
    }
}

/// What the first bytes are.
pub(crate) fn classify(bytes: &[u8]) -> Content {
    /// The longest method that is looked for.
    const METHOD: usize = 24;
    match bytes {
        [] => return Content::Unclear,
        // Servers of TLS and of HTTP both ignore nothing else at the start than empty lines.
        [22, ..] => {
            return match parse_hello(bytes) {
                Hello::Partial => Content::Unclear,
                Hello::Whole(name) => Content::Tls(name),
                Hello::Malformed(problem) => Content::Malformed(problem),
            };
        }
        [b'\r' | b'\n', ..] => return Content::Http,
        _ => {}
    }
    let method = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let target = bytes.get(method + 1..).unwrap_or_default();
    let starts = |text: &[u8]| {
        let count = target.len().min(text.len());
        target[..count].eq_ignore_ascii_case(&text[..count])
    };
    match bytes.get(method) {
        _ if method == 0 || method > METHOD => Content::Raw,
        None => Content::Unclear,
        Some(b' ' | b'\t') if target.is_empty() => Content::Unclear,
        Some(b' ' | b'\t') if [b'/', b'*', b' ', b'\t'].contains(&target[0]) => Content::Http,
        Some(b' ') if starts(b"http://") || starts(b"https://") => {
            if target.len() < b"http://".len() { Content::Unclear } else { Content::Http }
        }
        _ => Content::Raw,
    }
}

/// Is the server of a host for a client of TLS.
async fn greet(state: &State, client: Duplex, host: &Host, record: &mut Record) -> Option<Duplex> {
    let config = match state.inspect.as_ref().map(|inspect| inspect.server(host)) {
        Some(Ok(config)) => config,
        Some(Err(_)) | None => {
            record.refuse(Refusal::Unsupported("a certificate for this host"));
            return None;
        }
    };
    let accepted = timeout(state.limits.head_time, TlsAcceptor::from(config).accept(client)).await;
    match accepted {
        Ok(Ok(stream)) => Some(Duplex::of(stream)),
        Ok(Err(_)) => {
            record.refuse(Refusal::Malformed(
                "the client did not accept the certificate of the proxy",
            ));
            None
        }
        Err(_) => {
            record.refuse(Refusal::Limit("the time for the greeting of TLS"));
            None
        }
    }
}

/// Goes on with requests of HTTP, which have records of their own.
async fn hand_over(
    state: Arc<State>,
    client: Duplex,
    dialled: (Duplex, SocketAddr),
    way: Way,
    encrypted: bool,
) {
    let origin = Origin { host: way.host, port: way.port, encrypted };
    let session = Session {
        state,
        client,
        mode: Mode::Server(origin),
        route: way.route,
        dialled: Some(dialled),
    };
    session.serve().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::greeting;

    #[test]
    fn requests_are_told_from_other_protocols() {
        for text in [
            "GET / HTTP/1.1",
            "get /",
            "OPTIONS * HTTP/1.1",
            "GET http://a.test/ HTTP/1.1",
            "\r\nGET /",
            "GET  /",
            "GET\t/",
        ] {
            assert_eq!(classify(text.as_bytes()), Content::Http, "{text}");
        }
        for text in [
            "SSH-2.0-OpenSSH",
            "HELO host.test",
            "0032git-upload-pack /x",
            "\0\0\0\x08",
            "EHLO x\r\n",
            "QUIT\r\n",
            "*1\r\n$4\r\nPING",
        ] {
            assert_eq!(classify(text.as_bytes()), Content::Raw, "{text}");
        }
        for text in ["", "G", "GET", "GET ", "GET ht", "GET http:/"] {
            assert_eq!(classify(text.as_bytes()), Content::Unclear, "{text}");
        }
        let hello = greeting(&["a.test"], 100);
        assert_eq!(classify(&hello), Content::Tls(Some(Host::parse("a.test").unwrap())));
        assert_eq!(classify(&hello[..20]), Content::Unclear);
        assert!(matches!(classify(&[22, 1, 1, 1, 1, 1]), Content::Malformed(_)));
    }
}
