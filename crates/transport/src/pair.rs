//! Two ends in one process.

use std::sync::Arc;

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::connection::PeerConnection;
use crate::driver::Driver;
use crate::handler::PeerHandler;
use crate::limits::PeerLimits;
use crate::name::PeerName;
use crate::pipe::Pipe;
use crate::session::{PeerSession, PeerSide};

/// Bytes that one end may write before the other one reads.
const BUFFER: usize = 256 << 10;

/// One end of a pair. Dropping it ends the session of both.
#[derive(Debug)]
pub struct PeerEnd {
    connection: PeerConnection,
    _stop: DropGuard,
}

impl std::ops::Deref for PeerEnd {
    type Target = PeerConnection;

    fn deref(&self) -> &PeerConnection {
        &self.connection
    }
}

/// Joins two agents of one process. Each is given with its name, its limits and its handler; the other end gets the name as a proven one.
///
/// ```
/// use std::time::Duration;
/// use offshoot_transport::{
///     FailureBody, MessageKind, NoHandler, PeerBody, PeerConnection, PeerHandler, PeerLimits,
///     PeerMessage, PeerName, pair,
/// };
///
/// struct Echo;
///
/// impl PeerHandler for Echo {
///     async fn call(&self, _: &PeerConnection, request: PeerMessage) -> Result<PeerBody, FailureBody> {
///         Ok(request.payload.into())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let limits = PeerLimits::default();
/// let asks = (PeerName::parse("asks")?, limits.clone(), NoHandler);
/// let answers = (PeerName::parse("answers")?, limits, Echo);
/// let (client, _server) = pair(asks, answers);
/// let response = client.call(MessageKind::Call, "hello", Duration::from_secs(5)).await?;
/// assert_eq!(&response.payload[..], b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|error| std::io::Error::other(error.to_string()))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn pair(
    client: (PeerName, PeerLimits, impl PeerHandler),
    server: (PeerName, PeerLimits, impl PeerHandler),
) -> (PeerEnd, PeerEnd) {
    let (one, other) = tokio::io::duplex(BUFFER);
    let offered = (client.1.offered(), server.1.offered());
    let make = |side, name, limits, handler, bytes, peer| {
        let (connection, ends) = PeerConnection::new(Some(name));
        let session = PeerSession::new(side, limits);
        let mut driver = Driver::new(session, handler, connection.clone(), ends);
        let stop = CancellationToken::new();
        let mut pipe = Pipe::new(Box::new(bytes), driver.session.offered().message);
        driver.attach(true, 0, peer);
        let stopped = stop.clone();
        drop(tokio::spawn(async move {
            // Whatever ends it, there is no other connection for this session.
            drop(driver.run(Some(&mut pipe), stopped.cancelled()).await);
            driver.close();
        }));
        PeerEnd { connection, _stop: stop.drop_guard() }
    };
    let (client_name, client_limits, client_handler) = client;
    let (server_name, server_limits, server_handler) = server;
    (
        make(
            PeerSide::Client,
            server_name,
            client_limits,
            Arc::new(client_handler) as Arc<dyn crate::handler::AnyHandler>,
            one,
            offered.1,
        ),
        make(
            PeerSide::Server,
            client_name,
            server_limits,
            Arc::new(server_handler) as Arc<dyn crate::handler::AnyHandler>,
            other,
            offered.0,
        ),
    )
}
