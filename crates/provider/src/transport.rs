//! How requests travel.

mod network;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::error::ProviderError;
use crate::message::Fields;

pub(crate) use network::Network;

/// Sends requests to a server. It adds the address and the key, so that whoever stands before it sees neither.
pub trait Transport: Send + Sync {
    /// Sends a request, and waits until the answer begins.
    fn send(&self, request: WireRequest)
    -> BoxFuture<'static, Result<WireResponse, ProviderError>>;
}

/// A request, without the address of the server and without a credential.
#[derive(Clone, Debug, PartialEq)]
pub struct WireRequest {
    /// POST, or GET to look something up.
    pub method: Method,
    /// What follows the base address.
    pub path: String,
    /// The headers of the interface.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body. GET has none.
    pub body: Fields,
}

/// An answer that begins.
pub struct WireResponse {
    /// The status of HTTP.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it comes. Dropping it ends the exchange.
    pub body: BoxStream<'static, Result<Bytes, ProviderError>>,
}
