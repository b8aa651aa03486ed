//! Several providers, of which the next answers when one cannot.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};

use crate::error::{ErrorKind, ProviderError};
use crate::event::{AnswerEvent, Restarted};
use crate::id::{ModelId, ProviderId};
use crate::provider::{EventStream, Provider};
use crate::request::Request;

/// Several providers, of which the next answers when one cannot.
#[derive(Clone)]
pub struct Failover {
    id: ProviderId,
    members: Arc<[Member]>,
}

/// A provider, and the model to ask it for.
#[derive(Clone)]
pub struct Member {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// Its model, if it has another one than the request names.
    pub model: Option<ModelId>,
}

impl Failover {
    /// Asks providers in this order.
    pub fn new(id: impl Into<ProviderId>, members: impl IntoIterator<Item = Member>) -> Self {
        Self { id: id.into(), members: members.into_iter().collect() }
    }
}

impl Provider for Failover {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn stream(&self, request: &Request) -> EventStream {
        let chain = Chain {
            members: Arc::clone(&self.members),
            request: request.clone(),
            next: 0,
            stream: None,
            is_done: false,
        };
        stream::unfold(chain, |mut chain| async move {
            let event = chain.next().await?;
            Some((event, chain))
        })
        .boxed()
    }
}

/// One answer, by whoever gives it.
struct Chain {
    members: Arc<[Member]>,
    request: Request,
    /// Who is asked next.
    next: usize,
    stream: Option<EventStream>,
    is_done: bool,
}

impl Chain {
    async fn next(&mut self) -> Option<Result<AnswerEvent, ProviderError>> {
        if self.is_done {
            return None;
        }
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let Some(member) = self.members.get(self.next) else {
                    self.is_done = true;
                    let message = "there is no provider to ask";
                    return Some(Err(ProviderError::new(ErrorKind::NotFound, message)));
                };
                let mut request = self.request.clone();
                if let Some(model) = &member.model {
                    request.model = model.clone();
                }
                self.next += 1;
                self.stream.insert(member.provider.stream(&request))
            }
        };
        let event = stream.next().await.unwrap_or_else(|| Err(ProviderError::cut_short()));
        Some(match event {
            Ok(event) => {
                self.is_done = matches!(event, AnswerEvent::Stopped(_));
                Ok(event)
            }
            Err(why) => match self.members.get(self.next) {
                Some(member) if why.moves_on() => {
                    self.stream = None;
                    let attempts = u32::try_from(self.next).unwrap_or(u32::MAX);
                    let next = member.provider.id().clone();
                    Ok(AnswerEvent::Restarted(Restarted {
                        why,
                        attempts,
                        after: Duration::ZERO,
                        next,
                    }))
                }
                _ => {
                    self.is_done = true;
                    Err(why)
                }
            },
        })
    }
}
