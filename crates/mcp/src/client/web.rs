//! Servers that run elsewhere: the streamable HTTP of the protocol, on hyper and rustls.

mod address;
mod events;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::request::Builder;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use offshoot_engine::text::{bytes, line};
use offshoot_engine::tool_server::{ToolServerHeader, ToolServerUrl};
use offshoot_engine::{Error, Offshoot, Result};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

use self::address::Address;
use super::lines::LONGEST;

/// So much of an answer is told that is none of the protocol.
const SHOWN: usize = 200;

type Failed = StreamableHttpError<io::Error>;

/// The way to a server.
pub(super) fn transport(
    server: &ToolServerUrl,
    engine: &Offshoot,
) -> Result<StreamableHttpClientTransport<WebClient>> {
    let address = Address::new(&server.url, server.plain_http)?;
    let header = server.header.as_ref().map(|header| credential(header, engine)).transpose()?;
    let client = WebClient { address: Arc::new(address), header };
    let config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str())
        .max_sse_event_size(LONGEST);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The header that every request has.
fn credential(header: &ToolServerHeader, engine: &Offshoot) -> Result<(HeaderName, HeaderValue)> {
    let unusable = |what: String| Error::usage(format!("mcp.toml: `header`: {what}"));
    let name: HeaderName = header
        .name
        .parse()
        .map_err(|_| unusable(format!("{:?} is no name of a header", header.name)))?;
    let value = engine
        .options()
        .variable(&header.env)
        .ok_or_else(|| unusable(format!("the variable {} is not set", line(&header.env))))?;
    let text = value.to_str().map(str::trim).unwrap_or_default();
    let text = match &header.scheme {
        Some(scheme) => format!("{scheme} {text}"),
        None => text.to_owned(),
    };
    // The value itself is never told.
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        unusable(format!("the variable {} has characters that no header has", line(&header.env)))
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Sends the requests of one connection to a server.
#[derive(Clone)]
pub(super) struct WebClient {
    address: Arc<Address>,
    /// What every request has.
    header: Option<(HeaderName, HeaderValue)>,
}

impl WebClient {
    fn request(&self, method: Method, headers: HashMap<HeaderName, HeaderValue>) -> Builder {
        let mut request = Request::builder()
            .method(method)
            .uri(self.address.path())
            .header(HOST, self.address.authority());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some((name, value)) = &self.header {
            request = request.header(name, value);
        }
        request
    }

    /// Sends a request, on a connection of its own. No redirect is followed: it would take the credential elsewhere.
    async fn send(
        &self,
        request: Builder,
        body: Vec<u8>,
    ) -> std::result::Result<Response<Incoming>, Failed> {
        let request = request.body(Full::new(Bytes::from(body))).map_err(client)?;
        let stream = self.address.connect().await.map_err(Failed::Client)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(client)?;
        tokio::spawn(async move {
            // Whoever waits for an answer on it is told.
            drop(connection.await);
        });
        sender.send_request(request).await.map_err(client)
    }
}

impl StreamableHttpClient for WebClient {
    type Error = io::Error;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> std::result::Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let expects_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        let mut request = self
            .request(Method::POST, headers)
            .header(CONTENT_TYPE, JSON_MIME_TYPE)
            .header(ACCEPT, format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}"));
        if let Some(session) = &session {
            request = request.header(HEADER_SESSION_ID, &**session);
        }
        let response = self.send(request, body).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(Failed::SessionExpired);
        }
        if !status.is_success() {
            return Err(refused(response).await);
        }
        let session = text_of(response.headers(), HEADER_SESSION_ID);
        match kind(response.headers()) {
            Content::Events => {
                let events = events::bounded(response.into_body(), LONGEST);
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            Content::Json => {
                let body = whole(response.into_body()).await?;
                match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
                    Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                    Err(_) if !expects_answer => Ok(StreamableHttpPostResponse::Accepted),
                    Err(_) => {
                        Err(no_answer(&format!("its answer is no message: {}", shown(&body))))
                    }
                }
            }
            Content::Other(_) if !expects_answer => Ok(StreamableHttpPostResponse::Accepted),
            Content::Other(kind) => {
                Err(no_answer(&format!("its answer is {kind}, and neither JSON nor events")))
            }
        }
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> std::result::Result<(), Failed> {
        let request = self.request(Method::DELETE, headers).header(HEADER_SESSION_ID, &*session);
        let response = self.send(request, Vec::new()).await?;
        match response.status() {
            status if status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            _ => Err(refused(response).await),
        }
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> std::result::Result<BoxStream<'static, std::result::Result<Sse, SseError>>, Failed> {
        let mut request = self.request(Method::GET, headers).header(ACCEPT, EVENT_STREAM_MIME_TYPE);
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, &*session);
        }
        if let Some(last) = last_event {
            request = request.header(HEADER_LAST_EVENT_ID, last);
        }
        let response = self.send(request, Vec::new()).await?;
        match (response.status(), kind(response.headers())) {
            (StatusCode::METHOD_NOT_ALLOWED, _) => Err(Failed::ServerDoesNotSupportSse),
            (status, Content::Events) if status.is_success() => {
                Ok(events::bounded(response.into_body(), LONGEST))
            }
            (status, _) if status.is_success() => Err(Failed::ServerDoesNotSupportSse),
            _ => Err(refused(response).await),
        }
    }
}

/// What an answer consists of.
enum Content {
    Json,
    Events,
    Other(String),
}

fn kind(headers: &HeaderMap) -> Content {
    let named = text_of(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let is =
        |mime: &str| named.get(..mime.len()).is_some_and(|start| start.eq_ignore_ascii_case(mime));
    match () {
        () if is(EVENT_STREAM_MIME_TYPE) => Content::Events,
        () if is(JSON_MIME_TYPE) => Content::Json,
        () if named.is_empty() => Content::Other("of no type".to_owned()),
        () => Content::Other(line(&named)),
    }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// An answer as a whole, if it is not too large.
async fn whole(body: Incoming) -> std::result::Result<Bytes, Failed> {
    let read = Limited::new(body, LONGEST).collect().await;
    read.map(http_body_util::Collected::to_bytes).map_err(|error| {
        match error.is::<http_body_util::LengthLimitError>() {
            true => no_answer(&format!("its answer has more than {}", bytes(LONGEST as u64))),
            false => Failed::Client(io::Error::other(error)),
        }
    })
}

/// Why a server does not answer, in its words.
async fn refused(response: Response<Incoming>) -> Failed {
    let status = response.status();
    let small = text_of(response.headers(), CONTENT_LENGTH.as_str())
        .is_none_or(|length| length.parse().is_ok_and(|length: usize| length <= LONGEST));
    let way_out = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; a token goes to mcp.toml: header = { env = \"VARIABLE\" }"
        }
        status if status.is_redirection() => {
            "; redirects are not followed: give the address that it leads to"
        }
        _ => "",
    };
    let body = match small {
        true => whole(response.into_body()).await.unwrap_or_default(),
        false => Bytes::new(),
    };
    no_answer(&format!("HTTP {status} {}{way_out}", shown(&body)))
}

fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * SHOWN)]);
    line(&text.trim().chars().take(SHOWN).collect::<String>())
}

fn no_answer(what: &str) -> Failed {
    Failed::UnexpectedServerResponse(Cow::Owned(what.to_owned()))
}

fn client(error: impl std::error::Error + Send + Sync + 'static) -> Failed {
    Failed::Client(io::Error::other(error))
}
