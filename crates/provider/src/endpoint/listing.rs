//! Which models a server has: the smallest thing to ask, which costs nothing.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use http::{HeaderName, HeaderValue, Method};
use serde_json::Value;
use tokio::time::timeout;

use super::exchange::refused;
use super::{Endpoint, Shared};
use crate::error::{ErrorKind, ProviderError};
use crate::id::ModelId;
use crate::message::Fields;
use crate::transport::WireRequest;

/// Longer lists are none.
const LONGEST: usize = 16 * 1024 * 1024;

impl Endpoint {
    /// Asks which models the server has, which costs nothing. A server that tells that to anybody is first asked about the key. It may take as
    /// long as an answer may, or as its parts may together.
    pub fn models(&self) -> BoxFuture<'static, Result<Vec<ModelId>, ProviderError>> {
        let shared = Arc::clone(&self.shared);
        async move {
            let parts = shared.times.connect + shared.times.first_event + shared.times.idle;
            let most = shared.times.total.unwrap_or(parts);
            let listed = match timeout(most, shared.list()).await {
                Ok(listed) => listed,
                Err(_) => Err(late(most)),
            };
            listed.map_err(|error| shared.told_by(error))
        }
        .boxed()
    }
}

fn late(most: Duration) -> ProviderError {
    ProviderError::new(ErrorKind::Timeout, format!("no answer for {most:?}"))
}

impl Shared {
    async fn list(&self) -> Result<Vec<ModelId>, ProviderError> {
        let listing = self.wire.listing();
        if let (Some(path), Some(_)) = (&self.key_path, &self.key) {
            self.look_up(path, listing.headers.clone()).await?;
        }
        let body = self.look_up(listing.path, listing.headers).await?;
        let list = body.get(listing.list).and_then(Value::as_array).ok_or_else(|| {
            let message = "the answer is no list of models";
            ProviderError::new(ErrorKind::Protocol, message).with_hint("check the base address")
        })?;
        let names = list.iter().filter_map(|model| model.get(listing.name)?.as_str());
        let name = |text: &str| ModelId::from(text.strip_prefix(listing.prefix).unwrap_or(text));
        Ok(names.map(name).collect())
    }

    async fn look_up(
        &self,
        path: &str,
        mut headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Result<Value, ProviderError> {
        headers.extend(self.headers.iter().cloned());
        let (path, body) = (path.to_owned(), Fields::new());
        let request = WireRequest { method: Method::GET, path, headers, body };
        let response = self.transport.send(request).await?;
        if !(200..300).contains(&response.status) {
            return Err(refused(self, response).await);
        }
        let mut pieces = response.body;
        let mut body = Vec::new();
        while let Some(piece) = pieces.next().await {
            body.extend_from_slice(&piece?);
            if body.len() > LONGEST {
                let message = format!("the list of models has more than {LONGEST} bytes");
                return Err(ProviderError::new(ErrorKind::TooLarge, message));
            }
        }
        serde_json::from_slice(&body).map_err(|error| {
            let error = format!("the answer is no JSON: {error}");
            ProviderError::new(ErrorKind::Protocol, error).with_hint("check the base address")
        })
    }

    /// Says who was asked, and takes out the key if the server repeats it.
    fn told_by(&self, error: ProviderError) -> ProviderError {
        let error = error.by(&self.id);
        match &self.key {
            Some(key) => error.without(key.expose()),
            None => error,
        }
    }
}
