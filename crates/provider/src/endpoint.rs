//! A provider that makes one attempt over HTTP.

mod exchange;
mod listing;

use std::sync::Arc;

use futures::{StreamExt, stream};
use http::{HeaderName, HeaderValue};

use self::exchange::Exchange;
use crate::address::Address;
use crate::catalog::ModelCatalog;
use crate::error::{ErrorKind, ProviderError};
use crate::id::{ModelApi, ProviderId};
use crate::key::ApiKey;
use crate::limits::{AnswerLimits, TimeLimits};
use crate::provider::{EventStream, Provider};
use crate::recorder::Recorder;
use crate::request::Request;
use crate::transport::{Network, Transport};
use crate::wire::Wire;

/// How a provider is reached.
#[derive(Clone)]
pub struct EndpointOptions {
    /// Its name in the catalog.
    pub provider: ProviderId,
    /// The catalog.
    pub catalog: Arc<ModelCatalog>,
    /// The key, if it wants one.
    pub key: Option<ApiKey>,
    /// Another base address than that of the catalog.
    pub base: Option<String>,
    /// Further headers of every request. Credentials are none of them.
    pub headers: Vec<(String, String)>,
    /// Whether a server on another machine may be asked without TLS, which it is without a key alone.
    pub plain_http: bool,
    /// How large answers may be.
    pub limits: AnswerLimits,
    /// How long they may take.
    pub times: TimeLimits,
    /// Another way to send requests than the network, such as a replay.
    pub transport: Option<Arc<dyn Transport>>,
    /// Writes down what is sent and answered.
    pub recorder: Option<Recorder>,
}

impl EndpointOptions {
    /// The options for a provider of the built-in catalog, with no key.
    pub fn new(provider: impl Into<ProviderId>) -> Self {
        Self {
            provider: provider.into(),
            catalog: Arc::new(ModelCatalog::built_in()),
            key: None,
            base: None,
            headers: Vec::new(),
            plain_http: false,
            limits: AnswerLimits::default(),
            times: TimeLimits::default(),
            transport: None,
            recorder: None,
        }
    }
}

/// A provider that makes one attempt over HTTP. [`Resilient`](crate::Resilient) makes more of it.
///
/// ```
/// use offshoot_provider::{Endpoint, EndpointOptions};
///
/// let mut options = EndpointOptions::new("llama-cpp");
/// options.base = Some("http://127.0.0.1:9090/v1".to_owned());
/// let endpoint = Endpoint::new(options)?;
/// # Ok::<(), offshoot_provider::ProviderError>(())
/// ```
#[derive(Clone)]
pub struct Endpoint {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    id: ProviderId,
    api: ModelApi,
    catalog: Arc<ModelCatalog>,
    wire: Box<dyn Wire>,
    headers: Vec<(HeaderName, HeaderValue)>,
    limits: AnswerLimits,
    times: TimeLimits,
    transport: Arc<dyn Transport>,
    /// Where the server tells about a key.
    key_path: Option<String>,
    /// What no error may show.
    key: Option<ApiKey>,
}

impl Endpoint {
    /// Prepares a provider. Nothing is sent.
    pub fn new(options: EndpointOptions) -> Result<Self, ProviderError> {
        let info = options.catalog.provider(&options.provider)?.clone();
        let wire = info.api.wire(&info.quirks);
        let headers = options.headers.iter().map(header).collect::<Result<_, _>>()?;
        let transport: Arc<dyn Transport> = match options.transport {
            Some(transport) => transport,
            None => {
                let base = options.base.as_deref().unwrap_or(&info.base);
                let mut address = Address::new(base, options.plain_http)?;
                if options.key.is_some() {
                    address = address.with_key()?;
                }
                let key = options.key.as_ref().map(|key| wire.key_header(key));
                Arc::new(Network::new(address, key, options.times.connect)?)
            }
        };
        let transport = match &options.recorder {
            Some(recorder) => recorder.record(transport, options.key.clone()),
            None => transport,
        };
        let shared = Shared {
            id: options.provider,
            api: info.api,
            catalog: options.catalog,
            wire,
            headers,
            limits: options.limits,
            times: options.times,
            transport,
            key_path: info.key_path,
            key: options.key,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The interface that is spoken.
    pub fn api(&self) -> ModelApi {
        self.shared.api
    }
}

impl Provider for Endpoint {
    fn id(&self) -> &ProviderId {
        &self.shared.id
    }

    fn stream(&self, request: &Request) -> EventStream {
        let exchange = Exchange::new(Arc::clone(&self.shared), request);
        stream::unfold(exchange, |mut exchange| async move {
            let event = exchange.next().await?;
            Some((event, exchange))
        })
        .boxed()
    }
}

/// A header that a caller wants to have.
fn header((name, value): &(String, String)) -> Result<(HeaderName, HeaderValue), ProviderError> {
    const SECRET: [&str; 6] = [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "cookie",
    ];
    let wrong = |what: &str| {
        let name = crate::error::shown(name);
        ProviderError::new(
            ErrorKind::BadRequest,
            format!("the header {name} cannot be used: {what}"),
        )
    };
    if SECRET.contains(&name.to_lowercase().as_str()) {
        return Err(wrong("it has a credential").with_hint("give the key by itself"));
    }
    let name: HeaderName = name.parse().map_err(|_| wrong("it is no name of a header"))?;
    let value = value.parse().map_err(|_| wrong("its value has characters that no header has"))?;
    Ok((name, value))
}
