//! What the other side's messages do.

use std::future::Future;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use offshoot_mxp::FailureBody;

use crate::connection::PeerConnection;
use crate::error::failure;
use crate::message::{PeerBody, PeerMessage};
use crate::stream::PeerStream;

/// What the other side's calls, events and streams do.
///
/// The futures run on the task of the connection: spawn what computes for long. The future of a call is dropped when its deadline is over, when the
/// caller cancels, and when the connection is lost. `peer.name()` is the proven name.
///
/// ```
/// use offshoot_transport::{FailureBody, PeerBody, PeerConnection, PeerHandler, PeerMessage};
///
/// struct Echo;
///
/// impl PeerHandler for Echo {
///     async fn call(&self, _: &PeerConnection, request: PeerMessage) -> Result<PeerBody, FailureBody> {
///         Ok(request.payload.into())
///     }
/// }
/// ```
pub trait PeerHandler: Send + Sync + 'static {
    /// Answers a request: `Call`, `AgentRegister`, `AgentDiscover` or `AgentHeartbeat`.
    fn call(
        &self,
        peer: &PeerConnection,
        request: PeerMessage,
    ) -> impl Future<Output = Result<PeerBody, FailureBody>> + Send {
        let _unused = (peer, request);
        async { Err(failure("unsupported", "this agent takes no calls")) }
    }

    /// Handles an event. The next one comes when this one is done.
    fn event(
        &self,
        peer: &PeerConnection,
        event: PeerMessage,
    ) -> impl Future<Output = Result<(), FailureBody>> + Send {
        let _unused = (peer, event);
        async { Err(failure("unsupported", "this agent takes no events")) }
    }

    /// Serves a stream that the other side opened with a message.
    fn stream(
        &self,
        peer: &PeerConnection,
        open: PeerMessage,
        stream: PeerStream,
    ) -> impl Future<Output = Result<(), FailureBody>> + Send {
        let _unused = (peer, open, stream);
        async { Err(failure("unsupported", "this agent takes no streams")) }
    }
}

/// For sides that only ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHandler;

impl PeerHandler for NoHandler {}

/// A handler of any type.
pub(crate) trait AnyHandler: Send + Sync {
    fn call(
        self: Arc<Self>,
        peer: PeerConnection,
        request: PeerMessage,
    ) -> BoxFuture<'static, Result<PeerBody, FailureBody>>;

    fn event(
        self: Arc<Self>,
        peer: PeerConnection,
        event: PeerMessage,
    ) -> BoxFuture<'static, Result<(), FailureBody>>;

    fn stream(
        self: Arc<Self>,
        peer: PeerConnection,
        open: PeerMessage,
        stream: PeerStream,
    ) -> BoxFuture<'static, Result<(), FailureBody>>;
}

impl<H: PeerHandler> AnyHandler for H {
    fn call(
        self: Arc<Self>,
        peer: PeerConnection,
        request: PeerMessage,
    ) -> BoxFuture<'static, Result<PeerBody, FailureBody>> {
        async move { PeerHandler::call(&*self, &peer, request).await }.boxed()
    }

    fn event(
        self: Arc<Self>,
        peer: PeerConnection,
        event: PeerMessage,
    ) -> BoxFuture<'static, Result<(), FailureBody>> {
        async move { PeerHandler::event(&*self, &peer, event).await }.boxed()
    }

    fn stream(
        self: Arc<Self>,
        peer: PeerConnection,
        open: PeerMessage,
        stream: PeerStream,
    ) -> BoxFuture<'static, Result<(), FailureBody>> {
        async move { PeerHandler::stream(&*self, &peer, open, stream).await }.boxed()
    }
}
