//! A server: it listens, and answers whoever may ask.

mod access;
mod answer;
mod cards;
mod error;
mod intake;
mod query;
mod reply;
mod rest;
mod rpc;
mod shared;
mod stream;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::agent::A2aAgent;
use crate::hub::Hub;
use crate::limits::A2aLimits;
use crate::push::Pusher;
use crate::reach::A2aAddressPolicy;
use crate::service::Service;
use crate::store::A2aTaskStore;
use crate::wire::{A2A_VERSION, A2aCard, A2aInterface, BINDING_JSONRPC, BINDING_REST};

pub use access::A2aAccess;
use access::Names;
pub use error::A2aServerError;
pub use shared::CARD_PATH;
use shared::{REST_PATH, RPC_PATH, Shared};

/// How long connections that are busy may go on when the server ends.
const GRACE: Duration = Duration::from_secs(2);

/// How a server listens and for whom.
pub struct A2aServerOptions {
    /// The address; port 0 is any that is free.
    pub address: SocketAddr,
    /// Whether an address other than loopback is meant.
    pub listen_anywhere: bool,
    /// Who may ask.
    pub access: A2aAccess,
    /// Names under which the server is reached, besides the loopback ones and its address.
    pub hosts: Vec<String>,
    /// The address that the card tells, if clients reach the server by another one, such as that of a proxy with TLS.
    pub public_url: Option<String>,
    /// The card for those who showed a token.
    pub extended_card: Option<A2aCard>,
    /// Which webhooks are called; none without it.
    pub push: Option<Arc<dyn A2aAddressPolicy>>,
    /// Everything that is bounded.
    pub limits: A2aLimits,
}

impl A2aServerOptions {
    /// A server on a free port of this machine that calls no webhooks.
    #[must_use]
    pub fn loopback(access: A2aAccess) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            listen_anywhere: false,
            access,
            hosts: Vec::new(),
            public_url: None,
            extended_card: None,
            push: None,
            limits: A2aLimits::default(),
        }
    }
}

/// A server that listens and does not answer yet.
///
/// ```
/// # use std::sync::Arc;
/// # use offshoot_a2a::*;
/// # struct Echo;
/// # impl A2aAgent for Echo {
/// #     async fn handle(&self, message: A2aMessage, work: A2aWork) -> Result<(), A2aTaskFailure> {
/// #         Ok(work.complete(message.text()).await?)
/// #     }
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let options = A2aServerOptions::loopback(A2aAccess::tokens([("tester", "0123456789abcdef")]));
/// let card = A2aCard::new("Echo", "Says what it hears", "1.0.0");
/// let store = Arc::new(A2aMemoryTasks::default());
/// let server = A2aServer::bind(options, card, Echo, store).await?;
/// let url = format!("http://{}", server.address());
/// let over = tokio_util::sync::CancellationToken::new();
/// let serving = tokio::spawn(server.serve(over.clone()));
///
/// let settings = A2aClientOptions::with_token("0123456789abcdef");
/// let client = A2aClient::connect(&url, settings).await?;
/// let A2aReply::Task(task) = client.send(A2aMessage::user(vec![A2aPart::text("hi")])).await? else {
///     panic!("every message is a task")
/// };
/// assert_eq!(task.status.state, A2aState::Completed);
/// over.cancel();
/// serving.await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct A2aServer {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    over: CancellationToken,
}

impl A2aServer {
    /// Listens. Tasks that a process left when it ended are taken up.
    ///
    /// # Errors
    ///
    /// If the address cannot or may not be listened on, a token is too short, or the store does not work.
    pub async fn bind(
        options: A2aServerOptions,
        card: A2aCard,
        agent: impl A2aAgent,
        store: Arc<dyn A2aTaskStore>,
    ) -> Result<Self, A2aServerError> {
        options.access.check()?;
        let wanted = options.address;
        if !wanted.ip().is_loopback() {
            if !options.listen_anywhere {
                return Err(A2aServerError::NotLoopback { address: wanted });
            }
            if options.access.is_open() {
                return Err(A2aServerError::OpenAnywhere { address: wanted });
            }
        }
        let failed = |source| A2aServerError::Listen { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let over = CancellationToken::new();
        let limits = options.limits;
        let pusher = Pusher::new(options.push, limits.push.clone(), over.clone());
        let streams = Arc::new(Semaphore::new(limits.streams.min(Semaphore::MAX_PERMITS)));
        let url = options.public_url.unwrap_or_else(|| format!("http://{address}"));
        let is_extended = options.extended_card.is_some() && !options.access.is_open();
        let complete = |card: A2aCard| {
            let mut card = at(card, &url);
            card.capabilities.streaming = Some(true);
            card.capabilities.push_notifications = Some(pusher.is_on());
            card.capabilities.extended_agent_card = Some(is_extended);
            options.access.describe(&mut card);
            card
        };
        let (card, extended) = (complete(card), options.extended_card.map(complete));
        let hub = Hub::new(Arc::new(agent), store, limits, Arc::clone(&pusher), over.clone());
        let extended = extended.filter(|_| is_extended).map(Arc::new);
        let service = Service { hub, card: Arc::new(card), extended };
        service.restart().await?;
        let shared = Shared {
            card: cards::Card::new(&service.card),
            service,
            access: options.access,
            names: Names::new(address, &options.hosts),
            streams,
            over: over.clone(),
        };
        Ok(Self { listener, address, shared: Arc::new(shared), over })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it says of itself.
    #[must_use]
    pub fn card(&self) -> &A2aCard {
        &self.shared.service.card
    }

    /// Answers until `over`. Tasks that are worked on then stay as they are in the store.
    pub async fn serve(self, over: CancellationToken) {
        let _ends = self.over.clone().drop_guard();
        let limits = &self.shared.service.hub.limits;
        let places = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        let arrival = limits.arrival;
        let mut connections = tokio::task::JoinSet::new();
        loop {
            // The permits are never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = over.cancelled() => break,
            };
            let Ok((stream, _)) = accepted else {
                // Too many open files, mostly: those that are there go on.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            while connections.try_join_next().is_some() {}
            let (shared, over) = (Arc::clone(&self.shared), self.over.clone());
            connections.spawn(async move {
                let answer = hyper::service::service_fn(move |request| {
                    let shared = Arc::clone(&shared);
                    async move { Ok::<_, Infallible>(answer::answer(&shared, request).await) }
                });
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(arrival);
                let mut connection =
                    std::pin::pin!(http.serve_connection(TokioIo::new(stream), answer));
                tokio::select! {
                    // A connection that breaks off is the client's own affair.
                    ended = &mut connection => drop(ended),
                    () = over.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        drop(tokio::time::timeout(GRACE, connection).await);
                    }
                }
                drop(place);
            });
        }
        self.over.cancel();
        while connections.join_next().await.is_some() {}
    }
}

/// The card with the places where this server answers.
fn at(mut card: A2aCard, url: &str) -> A2aCard {
    let url = url.trim_end_matches('/');
    let place = |binding: &str, path: &str| A2aInterface {
        url: format!("{url}{path}"),
        protocol_binding: binding.to_owned(),
        tenant: String::new(),
        protocol_version: A2A_VERSION.to_owned(),
    };
    card.supported_interfaces =
        vec![place(BINDING_JSONRPC, RPC_PATH), place(BINDING_REST, REST_PATH)];
    card
}
