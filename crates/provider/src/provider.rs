//! What every provider can do.

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::completion::Completion;
use crate::error::ProviderError;
use crate::event::AnswerEvent;
use crate::id::ProviderId;
use crate::request::Request;

/// The events of one answer. After an error nothing follows. Dropping it ends the request.
pub type EventStream = BoxStream<'static, Result<AnswerEvent, ProviderError>>;

/// Answers requests. It keeps nothing of a conversation, so that any number of them may use it at once.
pub trait Provider: Send + Sync {
    /// Its name.
    fn id(&self) -> &ProviderId;

    /// Answers as the words come. Nothing is sent before the stream is polled.
    fn stream(&self, request: &Request) -> EventStream;

    /// Answers all at once.
    fn complete(&self, request: &Request) -> BoxFuture<'static, Result<Completion, ProviderError>> {
        Completion::of(self.stream(request)).boxed()
    }
}

impl<P: Provider + ?Sized> Provider for std::sync::Arc<P> {
    fn id(&self) -> &ProviderId {
        (**self).id()
    }

    fn stream(&self, request: &Request) -> EventStream {
        (**self).stream(request)
    }
}
