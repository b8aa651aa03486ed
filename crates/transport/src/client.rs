//! The side that connects, and connects again.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::address::{PeerAddress, PeerWay};
use crate::backoff::Backoff;
use crate::connect::Connector;
use crate::connection::PeerConnection;
use crate::control::HANDSHAKE_MESSAGE;
use crate::driver::{Driver, Turn};
use crate::error::{ConnectionEnd, IdentityError, PeerConnectError};
use crate::handler::PeerHandler;
use crate::handshake::{ClientHandshake, PeerSessionId, WelcomedPeer};
use crate::identity::{PeerIdentity, PeerTrust, client_config};
use crate::limits::{OfferedLimits, PeerLimits};
use crate::name::PeerName;
use crate::pipe::{Channel, Pipe, PipeError};
use crate::session::{PeerSession, PeerSide};
use crate::token::PeerToken;

/// How a client connects.
#[derive(Clone, Debug)]
pub struct PeerClientOptions {
    /// Where the server is.
    pub address: PeerAddress,
    /// The name in the server's certificate; the host of the address by default.
    pub server_name: Option<String>,
    /// Which servers are trusted.
    pub trust: PeerTrust,
    /// The own certificate.
    pub identity: Option<PeerIdentity>,
    /// The own name and token.
    pub token: Option<(PeerName, PeerToken)>,
    /// Whether plain TCP may be used, on loopback.
    pub allow_plain: bool,
    /// Limits.
    pub limits: PeerLimits,
    /// How long connecting and the handshake may take.
    pub handshake_time: Duration,
    /// The least and the longest wait before another attempt.
    pub backoff: (Duration, Duration),
    /// The seed of these waits; by default another one each time.
    pub seed: Option<u64>,
}

impl PeerClientOptions {
    /// For a server, with nothing trusted yet.
    pub fn new(address: PeerAddress) -> Self {
        Self {
            address,
            server_name: None,
            trust: PeerTrust::default(),
            identity: None,
            token: None,
            allow_plain: false,
            limits: PeerLimits::default(),
            handshake_time: Duration::from_secs(10),
            backoff: (Duration::from_secs(1), Duration::from_secs(30)),
            seed: None,
        }
    }

    fn connector(&self) -> Result<Connector, IdentityError> {
        let is_plain = self.address.way == PeerWay::Plain;
        if is_plain && !self.allow_plain {
            return Err(IdentityError::PlainNotAllowed);
        }
        if is_plain && self.token.is_none() {
            return Err(IdentityError::Missing("plain TCP needs a token on both sides"));
        }
        if self.identity.is_none() && self.token.is_none() {
            return Err(IdentityError::Missing("a client needs a certificate or a token"));
        }
        let tls = match is_plain {
            true => None,
            false => Some(client_config(self.identity.as_ref(), &self.trust)?),
        };
        let server_name = self.server_name.clone().unwrap_or_else(|| self.address.host.clone());
        let pins = self.trust.pins.clone();
        Ok(Connector { address: self.address.clone(), server_name, tls, pins })
    }
}

/// A session with a server that outlasts its connections. Dropping it ends the session.
///
/// Calls wait for a connection, up to their deadline. Acknowledged events are kept until the server has handled them.
#[derive(Debug)]
pub struct PeerClient {
    connection: PeerConnection,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
    last: Arc<Mutex<Option<String>>>,
}

impl PeerClient {
    /// Connects, and fails if the first attempt does.
    pub async fn connect(
        options: PeerClientOptions,
        handler: impl PeerHandler,
    ) -> Result<Self, PeerConnectError> {
        let (first, result) = oneshot::channel();
        let client = Self::spawn(options, handler, Some(first))?;
        result.await.unwrap_or(Err(PeerConnectError::Closed))?;
        Ok(client)
    }

    /// Starts to connect, and goes on until it succeeds. Options that can never succeed are an error.
    pub fn start(
        options: PeerClientOptions,
        handler: impl PeerHandler,
    ) -> Result<Self, PeerConnectError> {
        Self::spawn(options, handler, None)
    }

    fn spawn(
        options: PeerClientOptions,
        handler: impl PeerHandler,
        first: Option<oneshot::Sender<Result<(), PeerConnectError>>>,
    ) -> Result<Self, PeerConnectError> {
        let connector = options.connector()?;
        let (connection, ends) = PeerConnection::new(None);
        let session = PeerSession::new(PeerSide::Client, options.limits.clone());
        let driver = Driver::new(session, Arc::new(handler), connection.clone(), ends);
        let (stop, last) = (CancellationToken::new(), Arc::default());
        let client = ClientTask {
            options,
            connector,
            session: PeerSessionId(random()?),
            stop: stop.clone(),
            last: Arc::clone(&last),
        };
        let task = Some(tokio::spawn(client.run(driver, first)));
        Ok(Self { connection, stop, task, last })
    }

    /// A handle of the session.
    pub fn connection(&self) -> &PeerConnection {
        &self.connection
    }

    /// Why there is no connection, or why the one before ended.
    pub fn last_error(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until nothing is open and everything is acknowledged, for so long at most, and ends the session.
    pub async fn close(mut self, time: Duration) {
        self.connection.drain(time);
        if let Some(task) = self.task.take() {
            // When the time is over, the session ends all the same.
            drop(timeout(time, task).await);
        }
        self.stop.cancel();
    }
}

impl Drop for PeerClient {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl std::ops::Deref for PeerClient {
    type Target = PeerConnection;

    fn deref(&self) -> &PeerConnection {
        &self.connection
    }
}

struct ClientTask {
    options: PeerClientOptions,
    connector: Connector,
    session: PeerSessionId,
    stop: CancellationToken,
    last: Arc<Mutex<Option<String>>>,
}

impl ClientTask {
    async fn run(
        self,
        mut driver: Driver,
        mut first: Option<oneshot::Sender<Result<(), PeerConnectError>>>,
    ) {
        let (least, longest) = self.options.backoff;
        let seed = self.options.seed.unwrap_or_else(|| fastrand::u64(..));
        let mut backoff = Backoff::new(least, longest, seed);
        while !self.stop.is_cancelled() {
            let connecting = self.attempt(driver.session.received(), driver.session.offered());
            let Some(connected) = self.unless_stopped(&mut driver, connecting).await else { break };
            let wait = match connected {
                Ok((mut pipe, welcomed)) => {
                    let began = Instant::now();
                    driver.handle().set_name(welcomed.name.clone());
                    driver.attach(welcomed.resumed, welcomed.received, welcomed.limits);
                    if let Some(first) = first.take() {
                        // Whoever waited may have gone; then the session is stopped.
                        drop(first.send(Ok(())));
                    }
                    let end = match driver.run(Some(&mut pipe), self.stop.cancelled()).await {
                        Turn::Until(()) => ConnectionEnd::Closed,
                        Turn::Ended(reason) => reason,
                    };
                    if matches!(end, ConnectionEnd::Closed) {
                        driver.session.end(end.clone());
                        driver.flush(&mut pipe);
                    }
                    driver.detach();
                    self.note(end.to_string());
                    drop(tokio::spawn(pipe.finish()));
                    if self.stop.is_cancelled() {
                        break;
                    }
                    backoff.lasted(began.elapsed());
                    backoff.next_wait()
                }
                Err(error) => {
                    self.note(error.to_string());
                    let is_final = error.is_final();
                    if let Some(first) = first.take() {
                        drop(first.send(Err(error)));
                        break;
                    }
                    // It may be put right at the other side, so the client does not give up; but there is no hurry.
                    let wait = backoff.next_wait();
                    if is_final { longest } else { wait }
                }
            };
            if driver.is_done() {
                break;
            }
            if self.unless_stopped(&mut driver, sleep(wait)).await.is_none() {
                break;
            }
        }
        driver.close();
    }

    /// Works without a connection until something is done; none if the client is closed meanwhile.
    async fn unless_stopped<F: Future>(&self, driver: &mut Driver, until: F) -> Option<F::Output> {
        match driver.run(None, self.stop.run_until_cancelled(until)).await {
            Turn::Until(output) => output,
            Turn::Ended(_) => None,
        }
    }

    fn note(&self, error: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// One connection and its handshake. It does not hold on to the driver.
    fn attempt(
        &self,
        received: u64,
        limits: OfferedLimits,
    ) -> impl Future<Output = Result<(Pipe, WelcomedPeer), PeerConnectError>> + Send + 'static {
        let (connector, session) = (self.connector.clone(), self.session);
        let (time, token) = (self.options.handshake_time, self.options.token.clone());
        async move {
            let all = async {
                let channel = connector.connect().await?;
                let mut hello = ClientHandshake::new(
                    random()?,
                    session,
                    channel.proof.clone(),
                    received,
                    limits,
                );
                if let Some((name, token)) = token {
                    (hello.name, hello.token) = (Some(name), Some(token));
                }
                shake(channel, hello).await.map_err(|error| match error {
                    ShakeError::Connect(error) => error,
                    ShakeError::Pipe(PipeError::Io(error)) => connector.broken(error),
                    ShakeError::Pipe(PipeError::Message(error)) => {
                        PeerConnectError::Protocol(error.to_string())
                    }
                })
            };
            timeout(time, all).await.unwrap_or(Err(PeerConnectError::Slow(time)))
        }
    }
}

enum ShakeError {
    Connect(PeerConnectError),
    Pipe(PipeError),
}

impl From<PeerConnectError> for ShakeError {
    fn from(error: PeerConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<PipeError> for ShakeError {
    fn from(error: PipeError) -> Self {
        Self::Pipe(error)
    }
}

async fn shake(
    channel: Channel,
    mut handshake: ClientHandshake,
) -> Result<(Pipe, WelcomedPeer), ShakeError> {
    let mut pipe = Pipe::new(channel.bytes, HANDSHAKE_MESSAGE);
    let greeting = pipe.receive().await?;
    let hello = handshake.hello(&greeting)?;
    pipe.send(&hello).await?;
    let welcome = pipe.receive().await?;
    let welcomed = handshake.welcome(&welcome)?;
    pipe.allow(handshake.limits.message);
    Ok((pipe, welcomed))
}

/// Numbers that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], PeerConnectError> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled
        .map_err(|_error| PeerConnectError::Protocol("there are no random numbers".to_owned()))?;
    Ok(bytes)
}
