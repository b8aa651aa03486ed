//! One request to a server and its answer, both passed on as they come.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::Ordering;

use tokio::time::timeout;

use super::Origin;
use super::body::{BodyCopy, Fault, same_name};
use super::head::{Framing, HeadWriter, Request, Response, parse_response};
use crate::limits::EgressLimits;
use crate::record::{Counters, Record, Refusal};
use crate::state::State;
use crate::wire::{BoxWrite, Duplex, Source, send};

/// A connection to a server, kept for the next request.
pub(super) struct Link {
    pub(super) server: Duplex,
    origin: Origin,
    address: SocketAddr,
    /// Whether an answer has come over it already: the server may have closed it since.
    used: bool,
}

/// What comes after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Request,
    End,
    /// Another protocol.
    Switched,
}

/// A request that may be sent, and where to.
pub(super) struct Exchange<'a> {
    pub(super) state: &'a State,
    pub(super) client: &'a mut Duplex,
    pub(super) request: &'a Request,
    pub(super) origin: Origin,
}

/// What stopped an exchange.
enum Failure {
    /// Nothing came from the server, and nothing went to the client: it can be tried again.
    Unheard(io::Error),
    /// The server sent something that cannot be passed on; nothing went to the client.
    Answer(String),
    /// The client sent something that is no body.
    Body,
    /// Either side is gone in the midst of it.
    Lost(io::Error),
}

impl Exchange<'_> {
    pub(super) async fn run(
        mut self,
        link: &mut Option<Link>,
        dialled: &mut Option<(Duplex, SocketAddr)>,
        record: &mut Record,
    ) -> Result<After, Refusal> {
        let mut kept = link.take().filter(|link| link.origin == self.origin);
        if let Some(link) = &mut kept
            && !is_quiet(link).await
        {
            kept = None;
        }
        loop {
            let mut current = match kept.take() {
                Some(link) => link,
                None => connect(self.state, &self.origin, dialled, record).await?,
            };
            record.connection.address = Some(current.address);
            let head = self.head();
            let counters = std::sync::Arc::clone(&record.counters);
            counters.up.fetch_add(head.len() as u64, Ordering::Relaxed);
            let reused = current.used;
            match self.attempt(&mut current, &head, &counters).await {
                Ok((after, reusable)) => {
                    current.used = true;
                    if reusable || after == After::Switched {
                        *link = Some(current);
                    }
                    return Ok(after);
                }
                // A server may close a connection that waits; what has no body was not even begun then.
                Err(Failure::Unheard(_)) if reused && self.request.framing == Framing::Empty => {}
                Err(Failure::Unheard(error)) => return Err(Refusal::Upstream(error.to_string())),
                Err(Failure::Answer(problem)) => return Err(Refusal::Upstream(problem)),
                Err(Failure::Body) => {
                    return Err(Refusal::Malformed("the body of the request is not whole"));
                }
                Err(Failure::Lost(error)) => {
                    record.refuse(Refusal::Upstream(format!("the answer was cut short: {error}")));
                    return Ok(After::End);
                }
            }
        }
    }

    /// The head as the server gets it.
    fn head(&self) -> Vec<u8> {
        let Self { state, request, origin, .. } = self;
        let mut head = HeadWriter::new(&format!("{} {} HTTP/1.1", request.method, request.path));
        let usual = origin.port == if origin.encrypted { 443 } else { 80 };
        // The client may know the name of a server that is only known by its address here.
        let named = request.host.as_ref().map_or(&origin.host, |(host, _)| host);
        let host = match (usual, named.with_port(origin.port).rsplit_once(':')) {
            (true, Some((bare, _))) => bare.to_owned(),
            _ => named.with_port(origin.port),
        };
        head.header("Host", host.as_bytes());
        let added: Vec<_> =
            state.credentials.of(&origin.host, origin.port, origin.encrypted).collect();
        for (name, value) in &request.headers {
            let is_same = |own: &str| same_name(own.as_bytes(), name.as_bytes());
            if !added.iter().any(|credential| is_same(&credential.header)) {
                head.header(name, value);
            }
        }
        for credential in added {
            head.header(&credential.header, credential.value.reveal().as_bytes());
        }
        if request.websocket {
            head.header("Connection", b"Upgrade");
            head.header("Upgrade", b"websocket");
        }
        head.framing(request.framing);
        head.finish()
    }

    /// Sends the request and passes on the answer; says also whether the server can be asked again.
    async fn attempt(
        &mut self,
        link: &mut Link,
        head: &[u8],
        counters: &Counters,
    ) -> Result<(After, bool), Failure> {
        let limits = &self.state.limits;
        let Duplex { read: client_read, write: client_write } = &mut *self.client;
        let Duplex { read: server_read, write: server_write } = &mut link.server;
        let request = self.request;
        let Origin { host, port, encrypted } = &self.origin;
        let added = self.state.credentials.of(host, *port, *encrypted);
        let own: Vec<&str> = added.map(|credential| credential.header.as_str()).collect();
        let upload = async {
            send(server_write, head, limits.idle).await.map_err(Fault::To)?;
            let counter = &counters.up;
            let (from, to, idle) = (client_read, server_write, limits.idle);
            BodyCopy { from, to, counter, idle, chunks: true, own: &own }.run(request.framing).await
        };
        let download = Download { state: self.state, request, counters, client: client_write };
        let download = download.run(server_read);
        let (mut upload, mut download) = (pin!(upload), pin!(download));
        let mut sent = None;
        let (after, reusable) = loop {
            tokio::select! {
                biased;
                result = &mut upload, if sent.is_none() => match result {
                    Ok(()) => sent = Some(true),
                    Err(Fault::From(_)) => return Err(Failure::Body),
                    // A server that wants no more may answer all the same.
                    Err(Fault::To(_)) => sent = Some(false),
                },
                result = &mut download => break result?,
            }
        };
        // What is left of a request that was answered early would be taken for the next one.
        match (after, sent) {
            (After::Request, Some(true)) => Ok((After::Request, reusable)),
            (After::Request, _) => Ok((After::End, false)),
            (after, sent) => Ok((after, reusable && sent == Some(true))),
        }
    }
}

/// Gets a connection to a server, by TLS where it speaks that.
async fn connect(
    state: &State,
    origin: &Origin,
    dialled: &mut Option<(Duplex, SocketAddr)>,
    record: &mut Record,
) -> Result<Link, Refusal> {
    let Origin { host, port, encrypted } = origin;
    // What was dialled before leads to the port of the connection, not to where an upgrade goes.
    let ready = dialled.take().filter(|(_, address)| address.port() == *port);
    let (server, address) = match ready {
        Some(ready) => ready,
        None => {
            let stream = state.dial(host, *port, record).await?;
            let address =
                stream.peer_addr().map_err(|error| Refusal::Upstream(error.to_string()))?;
            (Duplex::from(stream), address)
        }
    };
    record.connection.address = Some(address);
    let server = match (encrypted, &state.client) {
        (false, _) => server,
        (true, None) => return Err(Refusal::Unsupported("https from the proxy itself")),
        (true, Some(client)) => {
            let limit = state.limits.connect_time;
            match timeout(limit, client.connect(host, server)).await {
                Ok(Ok(server)) => server,
                Ok(Err(error)) => return Err(Refusal::Upstream(error.to_string())),
                Err(_) => {
                    return Err(Refusal::Upstream("the greeting of TLS timed out".to_owned()));
                }
            }
        }
    };
    Ok(Link { server, origin: origin.clone(), address, used: false })
}

/// Whether a kept connection is open and has nothing to say: what nobody asked for would be taken for the next answer.
async fn is_quiet(link: &mut Link) -> bool {
    let nothing_ahead = link.server.read.ahead().is_empty();
    tokio::select! {
        biased;
        _ = link.server.read.fill() => false,
        () = std::future::ready(()) => nothing_ahead,
    }
}

/// The way of an answer to the client.
struct Download<'a> {
    state: &'a State,
    request: &'a Request,
    counters: &'a Counters,
    client: &'a mut BoxWrite,
}

impl Download<'_> {
    async fn run(mut self, server: &mut Source) -> Result<(After, bool), Failure> {
        let answer = loop {
            let answer = read_head(server, &self.state.limits).await?;
            match answer.status {
                101 if self.request.websocket => {
                    let first = [("Connection", "Upgrade"), ("Upgrade", "websocket")];
                    self.write_head(&answer, Framing::Empty, &first).await?;
                    return Ok((After::Switched, false));
                }
                101 => {
                    return Err(Failure::Answer(
                        "it changes to another protocol unasked".to_owned(),
                    ));
                }
                100..200 if self.request.old => {}
                100..200 => self.write_head(&answer, Framing::Empty, &[]).await?,
                _ => break answer,
            }
        };
        let bodiless = self.request.method == "HEAD" || matches!(answer.status, 204 | 304);
        let framing = match (bodiless, answer.chunked, answer.length) {
            (true, ..) => Framing::Empty,
            (false, true, _) => Framing::Chunked,
            (false, false, Some(length)) => Framing::Length(length),
            (false, false, None) => Framing::UntilClose,
        };
        let chunks = !self.request.old;
        let ends = framing == Framing::UntilClose
            || framing == Framing::Chunked && !chunks
            || self.request.last;
        let connection: &[(&str, &str)] = if ends { &[("Connection", "close")] } else { &[] };
        let shown = match (framing, chunks, answer.length) {
            (Framing::Chunked, false, _) => Framing::UntilClose,
            // The length that there would be.
            (Framing::Empty, _, Some(length)) if answer.status != 204 => Framing::Length(length),
            _ => framing,
        };
        self.write_head(&answer, shown, connection).await?;
        let (to, counter, idle) = (self.client, &self.counters.down, self.state.limits.idle);
        let copied =
            BodyCopy { from: server, to, counter, idle, chunks, own: &[] }.run(framing).await;
        copied.map_err(|fault| match fault {
            Fault::From(error) | Fault::To(error) => Failure::Lost(error),
        })?;
        let reusable = !answer.last && framing != Framing::UntilClose;
        Ok((if ends { After::End } else { After::Request }, reusable))
    }

    async fn write_head(
        &mut self,
        answer: &Response,
        framing: Framing,
        more: &[(&str, &str)],
    ) -> Result<(), Failure> {
        let mut head = HeadWriter::new(&format!("HTTP/1.1 {} {}", answer.status, answer.reason));
        answer.headers.iter().for_each(|(name, value)| head.header(name, value));
        more.iter().for_each(|(name, value)| head.header(name, value.as_bytes()));
        head.framing(framing);
        let head = head.finish();
        self.counters.down.fetch_add(head.len() as u64, Ordering::Relaxed);
        send(self.client, &head, self.state.limits.idle).await.map_err(Failure::Lost)
    }
}

/// Reads the head of an answer.
async fn read_head(server: &mut Source, limits: &EgressLimits) -> Result<Response, Failure> {
    let mut searched = 0;
    loop {
        let ahead = server.ahead();
        // Servers that end lines in other ways are not helped: nothing that is usual does so.
        let end = ahead.get(searched..).and_then(|rest| find(rest, b"\r\n\r\n"));
        let end = end.map(|end| searched + end + 4);
        if end.unwrap_or(ahead.len()) > limits.head_size {
            return Err(Failure::Answer("the head of its answer is too long".to_owned()));
        }
        if let Some(end) = end {
            let answer = parse_response(&ahead[..end]);
            let answer = answer.map_err(|problem| Failure::Answer(problem.to_owned()))?;
            server.consume(end);
            return Ok(answer);
        }
        searched = ahead.len().saturating_sub(3);
        let heard = !ahead.is_empty();
        let lost = |error| {
            if heard {
                Failure::Answer(format!("its answer ends early: {error}"))
            } else {
                Failure::Unheard(error)
            }
        };
        match server.fill_within(limits.idle).await {
            Ok(true) => {}
            Ok(false) => return Err(lost(io::Error::other("it closed the connection"))),
            Err(error) => return Err(lost(error)),
        }
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
