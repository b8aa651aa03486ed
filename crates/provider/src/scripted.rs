//! A provider that answers from a file.

mod condition;
mod format;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::sleep;

use self::format::{
    Failure, Say, SayCall, SayReasoning, SayText, SayUnknown, ScriptFile, Turn, VERSION,
};
use crate::assembly::{Assembly, made_up_id};
use crate::catalog::ModelInfo;
use crate::error::{ErrorDetails, ErrorKind, ProviderError};
use crate::event::{AnswerEvent, Started, StopReason};
use crate::id::{ModelApi, ProviderId};
use crate::limits::AnswerLimits;
use crate::message::{Block, CallBlock, Content, Role};
use crate::provider::{EventStream, Provider};
use crate::request::Request;

/// A provider that answers from a script: the design page has the format. It sends nothing.
///
/// ```
/// use offshoot_provider::{Block, Message, Provider, Request, Scripted};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let scripted = Scripted::parse("version = 1\n[[turn]]\nsay = [{ text = \"Hello!\" }]")?;
/// let request = Request::new("any").message(Message::user([Block::text("Hi")]));
/// assert_eq!(scripted.complete(&request).await?.message.text(), "Hello!");
/// # Ok::<(), offshoot_provider::ProviderError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Scripted {
    id: ProviderId,
    /// Whose limits and prices count, if it is known.
    model: Option<Arc<ModelInfo>>,
    shared: Arc<Shared>,
}

struct Shared {
    chunk: usize,
    turns: Vec<Turn>,
    /// How many times each turn failed: the one thing that is remembered.
    failures: Vec<AtomicU32>,
}

impl Scripted {
    /// Reads a script.
    pub fn open(path: &Path) -> Result<Self, ProviderError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(&format!("{}: {error}", path.display())))?;
        Self::parse(&text)
    }

    /// Reads the text of a script.
    pub fn parse(text: &str) -> Result<Self, ProviderError> {
        let file: ScriptFile = toml::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        if file.version != VERSION {
            let what = format!("version {} is not known, only {VERSION}", file.version);
            return Err(wrong(&what));
        }
        let failures = file.turn.iter().map(|_| AtomicU32::new(0)).collect();
        let shared = Shared { chunk: file.chunk, turns: file.turn, failures };
        Ok(Self { id: ProviderId::new("scripted"), model: None, shared: Arc::new(shared) })
    }

    /// Counts the price of a model that it answers for.
    #[must_use]
    pub fn model(mut self, model: ModelInfo) -> Self {
        self.model = Some(Arc::new(model));
        self
    }
}

fn wrong(what: &str) -> ProviderError {
    ProviderError::new(ErrorKind::BadRequest, format!("the script cannot be used: {what}"))
}

impl Provider for Scripted {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn stream(&self, request: &Request) -> EventStream {
        let error_at = |error: ProviderError| error.at(&self.id, &request.model);
        let own = self.model.as_deref().filter(|model| model.id == request.model);
        let unknown = || ModelInfo::new(self.id.clone(), request.model.clone());
        let model = own.cloned().unwrap_or_else(unknown);
        let play = match self.shared.play(&self.id, request, model) {
            Ok(play) => play,
            Err(error) => return stream::iter([Err(error_at(error))]).boxed(),
        };
        let Play { delay, pause, events } = play;
        let events: Vec<_> = events.into_iter().map(|event| event.map_err(error_at)).collect();
        stream::iter(events.into_iter().enumerate())
            .then(move |(index, event)| async move {
                let wait = if index == 0 { delay } else { pause };
                if !wait.is_zero() {
                    sleep(wait).await;
                }
                event
            })
            .boxed()
    }
}

/// What one request gets.
struct Play {
    delay: Duration,
    pause: Duration,
    events: Vec<Result<AnswerEvent, ProviderError>>,
}

impl Shared {
    fn play(
        &self,
        id: &ProviderId,
        request: &Request,
        model: ModelInfo,
    ) -> Result<Play, ProviderError> {
        let index = self.pick(request)?;
        let turn = &self.turns[index];
        if let Some(what) = turn.expect.as_ref().and_then(|expected| expected.differs(request)) {
            return Err(wrong(&format!("turn {} expects another request: {what}", index + 1)));
        }
        let events = self.events((id, model), turn, request)?;
        let mut events: Vec<_> = events.into_iter().map(Ok).collect();
        if let Some(failure) = &turn.fail {
            let before = self.failures[index].fetch_add(1, Ordering::Relaxed);
            if failure.times.is_none_or(|times| before < times) {
                events.truncate(failure.after);
                events.push(Err(failure.error()));
            }
        }
        Ok(Play { delay: turn.delay.into(), pause: turn.pause.into(), events })
    }

    /// The turn that answers: the first whose condition holds, or that of the position.
    fn pick(&self, request: &Request) -> Result<usize, ProviderError> {
        let holds = |turn: &Turn| {
            turn.when.as_ref().is_some_and(|condition| condition.differs(request).is_none())
        };
        if let Some(index) = self.turns.iter().position(holds) {
            return Ok(index);
        }
        let by_position = self.turns.iter().enumerate().filter(|(_, turn)| turn.when.is_none());
        let said = request.messages.iter().filter(|message| message.role == Role::Assistant);
        let position = said.count();
        let mut by_position = by_position.map(|(index, _)| index);
        by_position.nth(position).ok_or_else(|| {
            wrong(&format!("it has no turn {} and none whose condition holds", position + 1))
        })
    }

    fn events(
        &self,
        (id, model): (&ProviderId, ModelInfo),
        turn: &Turn,
        request: &Request,
    ) -> Result<Vec<AnswerEvent>, ProviderError> {
        let started = Started {
            provider: id.clone(),
            model: request.model.clone(),
            response_id: None,
            request_id: None,
            omitted: Vec::new(),
        };
        let mut out = Assembly::new(started, model, AnswerLimits::default());
        out.started(None, None);
        for (index, say) in turn.say.iter().enumerate() {
            let key = index.to_string();
            match say {
                Say::Text(SayText { text }) => {
                    out.begin(&key, Block::text(""))?;
                    for piece in pieces(text, self.chunk) {
                        out.text(&key, piece)?;
                    }
                }
                Say::Reasoning(SayReasoning { reasoning }) => {
                    out.begin(&key, Block::reasoning(""))?;
                    for piece in pieces(reasoning, self.chunk) {
                        out.reasoning(&key, piece)?;
                    }
                }
                Say::Call(SayCall { call, id, arguments }) => {
                    let id = id.clone().unwrap_or_else(made_up_id);
                    let begun = CallBlock { id, name: call.clone(), arguments: String::new() };
                    out.begin(&key, Block::new(Content::ToolCall(begun)))?;
                    let arguments = match arguments {
                        None => "{}".to_owned(),
                        Some(toml::Value::String(text)) => text.clone(),
                        Some(value) => serde_json::to_string(value)
                            .map_err(|error| wrong(&error.to_string()))?,
                    };
                    for piece in pieces(&arguments, self.chunk) {
                        out.arguments(&key, piece)?;
                    }
                }
                Say::Unknown(SayUnknown { unknown }) => {
                    let value =
                        serde_json::to_value(unknown).map_err(|error| wrong(&error.to_string()))?;
                    out.unknown(ModelApi::OpenaiChat, value);
                }
            }
            out.close(&key);
        }
        if let Some(usage) = &turn.usage {
            out.usage(usage);
        }
        out.stopping(turn.stop.clone().unwrap_or(StopReason::End));
        out.finish()?;
        Ok(out.take())
    }
}

/// Cuts a text into pieces of so many characters.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    if size == 0 {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (piece, left) = rest.split_at(end);
        pieces.push(piece);
        rest = left;
    }
    pieces
}

impl Failure {
    fn error(&self) -> ProviderError {
        ProviderError::of(
            self.kind,
            ErrorDetails {
                message: self.message.clone().unwrap_or_else(|| self.kind.to_string()),
                retry_after: self.retry_after.map(Into::into),
                ..ErrorDetails::default()
            },
        )
    }
}

#[cfg(test)]
mod tests;
