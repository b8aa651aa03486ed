//! Models for tests.

use std::sync::{Arc, Mutex};

use futures::{StreamExt, stream};
use offshoot_provider::{
    AnswerEvent, Block, EventStream, Message, Provider, ProviderError, ProviderId, Request,
    Scripted, StopReason, TokenUsage,
};

type Answers = dyn Fn(&Request, usize) -> Vec<Result<AnswerEvent, ProviderError>> + Send + Sync;

/// A model that is a function of the request and of how many there were, and remembers all.
#[derive(Clone)]
pub(crate) struct Model {
    id: ProviderId,
    answers: Arc<Answers>,
    asked: Arc<Mutex<Vec<Request>>>,
    /// Whether an answer never ends, once its events are over.
    hangs: bool,
}

impl Model {
    pub(crate) fn new(
        answers: impl Fn(&Request, usize) -> Vec<Result<AnswerEvent, ProviderError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            id: ProviderId::new("test"),
            answers: Arc::new(answers),
            asked: Arc::default(),
            hangs: false,
        }
    }

    /// Says these messages, one after the other, by how many answers the request has; the last one again and again.
    pub(crate) fn says(messages: Vec<Message>) -> Self {
        Self::new(move |request, _| {
            let answers = request.messages.iter();
            let at = answers.filter(|it| it.role == offshoot_provider::Role::Assistant).count();
            events(messages[at.min(messages.len() - 1)].clone())
        })
    }

    /// Says what a message says, and then never ends.
    pub(crate) fn hangs_behind(message: Message) -> Self {
        let mut model = Self::new(move |_, _| {
            let mut events = events(message.clone());
            events.truncate(events.len() - 2);
            events
        });
        model.hangs = true;
        model
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

impl Provider for Model {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn stream(&self, request: &Request) -> EventStream {
        let mut asked = self.asked.lock().unwrap();
        let events = (self.answers)(request, asked.len());
        asked.push(request.clone());
        match self.hangs {
            true => stream::iter(events).chain(stream::pending()).boxed(),
            false => stream::iter(events).boxed(),
        }
    }
}

/// The events of an answer.
pub(crate) fn events(message: Message) -> Vec<Result<AnswerEvent, ProviderError>> {
    let mut events = Vec::new();
    let has_calls = message.calls().next().is_some();
    for (block, content) in message.blocks.into_iter().enumerate() {
        if let Some(text) = content.as_text() {
            events.push(Ok(AnswerEvent::TextDelta { block, text: text.to_owned() }));
        }
        events.push(Ok(AnswerEvent::BlockEnd { block, content: Box::new(content) }));
    }
    let usage = TokenUsage { input: Some(50), output: Some(10), ..TokenUsage::default() };
    events.push(Ok(AnswerEvent::Usage { usage, cost: None }));
    let stop = if has_calls { StopReason::ToolCalls } else { StopReason::End };
    events.push(Ok(AnswerEvent::Stopped(stop)));
    events
}

/// The events of an answer of a server that counts no tokens.
pub(crate) fn uncounted(message: Message) -> Vec<Result<AnswerEvent, ProviderError>> {
    let mut events = events(message);
    events.retain(|event| !matches!(event, Ok(AnswerEvent::Usage { .. })));
    events
}

/// An answer that only says something.
pub(crate) fn text(text: &str) -> Message {
    Message::assistant([Block::text(text)])
}

/// An answer with calls: tool and arguments of each.
pub(crate) fn calls(calls: &[(&str, &str)]) -> Message {
    let blocks = calls
        .iter()
        .enumerate()
        .map(|(at, (tool, arguments))| Block::call(format!("{tool}{at}"), *tool, *arguments));
    Message::assistant(blocks)
}

/// A model that answers from a script.
pub(crate) fn script(turns: &str) -> Scripted {
    Scripted::parse(&format!("version = 1\nchunk = 7\n{turns}")).unwrap()
}
