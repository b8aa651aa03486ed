//! Access to language models: one model of messages for all interfaces, and a stream of events for every answer.
//!
//! An [`Endpoint`] asks a provider of the [`ModelCatalog`] over HTTP, once. [`Resilient`] asks again, within limits, and
//! [`Failover`] asks others. All are a [`Provider`], and so are [`Scripted`], which answers from a file, and an endpoint
//! whose transport is a [`Replayer`]. None keeps anything of a conversation, reads the environment or prints.
//!
//! ```no_run
//! use futures::StreamExt;
//! use offshoot_provider::{
//!     AnswerEvent, Block, Endpoint, EndpointOptions, Message, Provider, Request, Resilient, ResilientOptions,
//! };
//!
//! # async fn example() -> Result<(), offshoot_provider::ProviderError> {
//! let endpoint = Endpoint::new(EndpointOptions::new("llama-cpp"))?;
//! let provider = Resilient::new(endpoint, ResilientOptions::default());
//! let request = Request::new("any").message(Message::user([Block::text("Hello!")]));
//! let mut events = provider.stream(&request);
//! let mut text = String::new();
//! while let Some(event) = events.next().await {
//!     match event? {
//!         AnswerEvent::TextDelta { text: piece, .. } => text.push_str(&piece),
//!         // The answer begins anew: what came before does not count.
//!         AnswerEvent::Restarted(_) => text.clear(),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod address;
mod anthropic;
mod apis;
mod assembly;
mod catalog;
mod choice;
mod completion;
mod endpoint;
mod error;
mod event;
mod failover;
mod gemini;
mod id;
mod json;
mod key;
mod limits;
mod message;
mod openai_chat;
mod openai_responses;
mod provider;
mod recorder;
mod refusal;
mod replayer;
mod request;
mod resilient;
mod results;
mod scripted;
mod sse;
mod transport;
mod usage;
mod wait;
mod wire;

pub use catalog::{LongPrice, ModelCatalog, ModelInfo, ProviderInfo, Quirks, ReasoningStyle};
pub use choice::{ChoiceDefaults, ChosenProvider, ProviderChoice, ProviderPlan, ProviderSource};
pub use completion::{Collector, Completion};
pub use endpoint::{Endpoint, EndpointOptions};
pub use error::{ErrorDetails, ErrorKind, ProviderError};
pub use event::{AnswerEvent, Omission, Restarted, Started, StopReason};
pub use failover::{Failover, Member};
pub use id::{ModelApi, ModelId, ProviderId};
pub use key::{ApiKey, KeySource};
pub use limits::{AnswerLimits, TimeLimits};
pub use message::{
    Block, CacheMark, CallBlock, Citation, Content, Fields, Image, Message, Native, ResultBlock,
    Role, Seal,
};
pub use provider::{EventStream, Provider};
pub use recorder::Recorder;
pub use replayer::Replayer;
pub use request::{Caching, OutputShape, Reasoning, Request, ToolChoice, ToolSpec};
pub use resilient::{BreakerPolicy, GateLimits, Resilient, ResilientOptions};
pub use scripted::Scripted;
pub use transport::{Transport, WireRequest, WireResponse};
pub use usage::{Cost, Price, TokenPrice, TokenUsage};
pub use wait::RetryPolicy;
