//! The way in for clients that come over HTTP.

mod door;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::door::{Door, Guest};
use crate::server::Server;
use crate::shared::Shared;

/// Where it answers.
pub(crate) const PATH: &str = "/mcp";
/// The last revision that has sessions, and `initialize`.
const SESSIONS: &str = "2025-11-25";
/// A request for something that was removed is read so far.
const REMOVED_BYTES: usize = 64 << 10;
/// A session that nobody uses is kept so long: people go home.
const SESSION: Duration = Duration::from_secs(24 * 60 * 60);
/// So long a client may take to say what it wants next.
const HEADERS: Duration = Duration::from_secs(30);
/// So long anybody may take to show the token.
const STRANGER: Duration = Duration::from_secs(10);

/// Where and for whom a server listens.
#[derive(Clone)]
pub struct McpListen {
    /// The address; port 0 is any that is free.
    pub address: SocketAddr,
    /// What every request has to have as bearer token.
    pub token: String,
    /// Names under which the server is reached, besides the loopback ones and its address.
    pub hosts: Vec<String>,
}

impl std::fmt::Debug for McpListen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpListen").field("address", &self.address).finish_non_exhaustive()
    }
}

type Body = BoxBody<Bytes, Infallible>;
type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Answers until `over`.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    listen: &McpListen,
    over: CancellationToken,
) {
    let service = service(shared, &listener, listen, &over);
    let token: Arc<str> = listen.token.as_str().into();
    let door = Door::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = over.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, mostly: those that are there go on.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (service, token) = (service.clone(), Arc::clone(&token));
        let guest = door.enter(over.child_token());
        tokio::spawn(async move {
            let coming = Arc::clone(&guest);
            let answer = hyper::service::service_fn(move |request| {
                let (service, token) = (service.clone(), Arc::clone(&token));
                let guest = Arc::clone(&coming);
                async move { Ok::<_, Infallible>(answer(&service, &token, &guest, request).await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
            let connection = http.serve_connection(TokioIo::new(stream), answer);
            let patience = async {
                tokio::time::sleep(STRANGER).await;
                guest.ask_to_leave();
                guest.leaves.cancelled().await;
            };
            tokio::select! {
                // A connection that breaks off is the client's own affair.
                ended = connection => drop(ended),
                () = guest.leaves.cancelled() => {}
                () = patience => {}
            }
        });
    }
}

fn service(
    shared: Arc<Shared>,
    listener: &TcpListener,
    listen: &McpListen,
    over: &CancellationToken,
) -> Service {
    let bound = listener.local_addr().unwrap_or(listen.address);
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    names.push(listen.address.ip().to_string());
    names.extend(listen.hosts.iter().cloned());
    let origins = names.iter().flat_map(|name| {
        let name = if name.contains(':') { format!("[{name}]") } else { name.clone() };
        ["http", "https"].map(|scheme| format!("{scheme}://{name}:{}", bound.port()))
    });
    let origins: Vec<String> = origins.collect();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_cancellation_token(over.child_token());
    let mut sessions = LocalSessionManager::default();
    let mut kept = SessionConfig::default();
    kept.keep_alive = Some(SESSION);
    sessions.session_config = kept;
    let make = move || Ok(Server::new(Arc::clone(&shared), true));
    StreamableHttpService::new(make, Arc::new(sessions), config)
}

async fn answer(
    service: &Service,
    token: &str,
    guest: &Guest,
    request: Request<Incoming>,
) -> Response<Body> {
    let given = request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
    let given = given.and_then(|given| given.strip_prefix(b"Bearer "));
    if !given.is_some_and(|given| is_same(given, token.as_bytes())) {
        let mut refused = short(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong\n");
        let scheme = http::HeaderValue::from_static("Bearer");
        refused.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        return refused;
    }
    guest.is_known().await;
    if request.uri().path() != PATH {
        return short(StatusCode::NOT_FOUND, "only /mcp answers\n");
    }
    if asks_for_removed(&request) {
        return removed(request).await;
    }
    let kind = request.headers().get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    let is_json = kind.is_some_and(|kind| kind.starts_with(b"application/json"));
    let mut answer = service.handle(request).await;
    // The library says the same of JSON that is no message as of what is no JSON by its type.
    if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        *answer.status_mut() = StatusCode::BAD_REQUEST;
    }
    answer
}

/// Whether a client of a later revision asks for what the last one with sessions had. The library would take it for a message of that one.
fn asks_for_removed(request: &Request<Incoming>) -> bool {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    // Revisions are dates.
    let is_later = header("mcp-protocol-version").is_some_and(|revision| revision > SESSIONS);
    is_later && header("mcp-method") == Some("initialize")
}

/// Says that there is no such method, to the request that asked for it.
async fn removed(request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), REMOVED_BYTES).collect().await;
    let asked = body.ok().and_then(|body| serde_json::from_slice::<Value>(&body.to_bytes()).ok());
    let id = asked.and_then(|asked| asked.get("id").cloned()).unwrap_or_default();
    let error = json!({ "code": -32601, "message": "Method not found: initialize" });
    let text = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    *response.status_mut() = StatusCode::NOT_FOUND;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn short(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Compares in a time that says nothing about where they differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let differs = given.iter().zip(token).fold(0, |differs, (one, other)| differs | (one ^ other));
    given.len() == token.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        assert!(is_same(b"abc", b"abc"));
        for wrong in [&b""[..], b"ab", b"abcd", b"abd", b"ABC"] {
            assert!(!is_same(wrong, b"abc"));
        }
    }
}
