//! The driver: joins the machine with a model, tools and a log.

mod flight;
mod handle;
mod progress;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use offshoot_provider::{AnswerEvent, Block, Provider};
use offshoot_scrub::Redactor;
use tokio::sync::mpsc;
use tokio::time::sleep;

use self::flight::Flights;
pub use self::handle::AgentHandle;
pub use self::progress::{AgentProgress, ProgressListener, Rested};
use crate::call::{AgentCallKey, ConversationId, UserDecision};
use crate::context::layers::PromptLayer;
use crate::event::{EventRecord, ModelFailure};
use crate::limits::TurnLimits;
use crate::log::{EventLog, LogError};
use crate::machine::Machine;
use crate::settings::{Preamble, TurnSettings};
use crate::state::{Phase, State};
use crate::time::{Clock, SystemClock};
use crate::tools::Tools;
use crate::turn::{TurnInput, TurnMisuse, TurnOutput};

/// What an agent is made of.
#[derive(Clone)]
pub struct AgentParts {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// What it can do.
    pub tools: Arc<dyn Tools>,
    /// Where the conversation is kept.
    pub log: Arc<dyn EventLog>,
    /// Who is told what happens.
    pub listener: Arc<dyn ProgressListener>,
    /// Who tells the time.
    pub clock: Arc<dyn Clock>,
    /// What takes credentials out of everything.
    pub redactor: Redactor,
}

impl AgentParts {
    /// The parts with nobody who listens, the clock of the system, and no known secrets.
    pub fn new(
        provider: impl Provider + 'static,
        tools: impl Tools + 'static,
        log: impl EventLog + 'static,
    ) -> Self {
        Self {
            provider: Arc::new(provider),
            tools: Arc::new(tools),
            log: Arc::new(log),
            listener: Arc::new(|_: AgentProgress| ()),
            clock: Arc::new(SystemClock),
            redactor: Redactor::default(),
        }
    }
}

/// An agent in a conversation. Dropping it at any time loses nothing: open it again, and it goes on.
pub struct Agent {
    machine: Machine,
    parts: AgentParts,
    flights: Flights,
    inputs: mpsc::UnboundedReceiver<TurnInput>,
    handle: AgentHandle,
    /// An event could not be kept: the machine knows more than the log.
    is_broken: bool,
}

/// Why an agent cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// Events cannot be kept or read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Something cannot be done now.
    #[error(transparent)]
    Misuse(#[from] TurnMisuse),
    /// An event could not be kept before.
    #[error("an event could not be kept; open the conversation again to go on")]
    Broken,
}

impl Agent {
    /// Begins a conversation in an empty log.
    pub async fn begin(
        parts: AgentParts,
        conversation: ConversationId,
        settings: TurnSettings,
        layers: Vec<PromptLayer>,
    ) -> Result<Self, AgentError> {
        let mut agent = Self::of(parts, &[]);
        let preamble = Preamble { layers, tools: agent.parts.tools.specs() };
        let settings = Box::new(settings);
        agent.feed(TurnInput::Begin { conversation, settings, preamble }).await?;
        Ok(agent)
    }

    /// Opens a conversation, wherever it was left, with other settings if there are any. [`Agent::run`] goes on with it.
    pub async fn open(
        parts: AgentParts,
        settings: Option<TurnSettings>,
        layers: Vec<PromptLayer>,
    ) -> Result<Self, AgentError> {
        let records = parts.log.read(1).await?;
        let mut agent = Self::of(parts, &records);
        let preamble = Preamble { layers, tools: agent.parts.tools.specs() };
        let settings = settings.map(Box::new);
        agent.feed(TurnInput::Open { preamble, settings }).await?;
        Ok(agent)
    }

    fn of(parts: AgentParts, records: &[EventRecord]) -> Self {
        let machine = Machine::new(records, parts.redactor.clone());
        let (handle, inputs) = AgentHandle::new();
        let flights = Flights::default();
        Self { machine, parts, flights, inputs, handle, is_broken: false }
    }

    /// What the conversation came to.
    pub fn state(&self) -> &State {
        self.machine.state()
    }

    /// Reaches the agent while it runs.
    pub fn handle(&self) -> AgentHandle {
        self.handle.clone()
    }

    /// The user says something, and the agent works until it rests.
    pub async fn say(&mut self, text: impl Into<String>) -> Result<Rested, AgentError> {
        self.say_blocks(vec![Block::text(text)]).await
    }

    /// The same with blocks, such as images.
    pub async fn say_blocks(&mut self, blocks: Vec<Block>) -> Result<Rested, AgentError> {
        // Who cancelled while nothing ran meant what ran before, and not what begins now.
        let mut waiting = Vec::new();
        while let Ok(input) = self.inputs.try_recv() {
            waiting.extend(Some(input).filter(|input| *input != TurnInput::Cancel));
        }
        self.feed(TurnInput::Say(blocks)).await?;
        for input in waiting {
            self.feed_from_handle(input).await?;
        }
        self.run().await
    }

    /// The user decides about a call, and the agent works until it rests.
    pub async fn decide(
        &mut self,
        key: &AgentCallKey,
        decision: UserDecision,
        by: Option<&str>,
    ) -> Result<Rested, AgentError> {
        let (key, by) = (key.clone(), by.map(str::to_owned));
        self.feed(TurnInput::Decide { key, decision, by }).await?;
        self.run().await
    }

    /// The user lets a paused turn go on, and the agent works until it rests.
    pub async fn resume(&mut self, limits: Option<TurnLimits>) -> Result<Rested, AgentError> {
        self.feed(TurnInput::Resume { limits }).await?;
        self.run().await
    }

    /// The user ends the turn, if one is open.
    pub async fn cancel(&mut self) -> Result<Rested, AgentError> {
        self.feed(TurnInput::Cancel).await?;
        self.run().await
    }

    /// Ends what still runs behind calls, before the program does, and says what that was. The model is told too.
    pub async fn finish(&mut self) -> Result<Vec<String>, AgentError> {
        let ended = self.parts.tools.finish().await;
        if !ended.is_empty() {
            let text = format!("Ended meanwhile, with what was written kept: {}", ended.join("; "));
            self.feed(TurnInput::Note(text)).await?;
        }
        Ok(ended)
    }

    /// Keeps a fact in every request.
    pub async fn pin(&mut self, fact: impl Into<String>) -> Result<(), AgentError> {
        self.feed(TurnInput::Pin(fact.into())).await
    }

    /// Does so no more.
    pub async fn unpin(&mut self, fact: impl Into<String>) -> Result<(), AgentError> {
        self.feed(TurnInput::Unpin(fact.into())).await
    }

    /// Works until nothing more can be done without the user, and until what was stopped has ended. What was sent by a handle meanwhile is taken first.
    pub async fn run(&mut self) -> Result<Rested, AgentError> {
        while let Ok(input) = self.inputs.try_recv() {
            self.feed_from_handle(input).await?;
        }
        while !self.flights.is_empty() {
            let input = self.next_input().await;
            if matches!(
                input,
                TurnInput::Answer(AnswerEvent::Stopped(_)) | TurnInput::AnswerFailed { .. }
            ) {
                self.flights.answer_ended();
            }
            self.feed_from_handle(input).await?;
        }
        Ok(self.rested())
    }

    /// Gives the machine an input. Only what comes by the handle can be wrong, and who sent it is not here: the listener is told.
    async fn feed_from_handle(&mut self, input: TurnInput) -> Result<(), AgentError> {
        match self.feed(input.clone()).await {
            Err(AgentError::Misuse(misuse)) => {
                let input = Box::new(input);
                self.parts.listener.tell(AgentProgress::Refused { input, misuse });
                Ok(())
            }
            fed => fed,
        }
    }

    /// Stops the calls that run: nobody waits for them any more.
    pub(crate) fn abandon(&self) {
        let running = self.state().calls().iter().filter(|call| call.is_started());
        let keys: Vec<AgentCallKey> = running.map(|call| call.key().clone()).collect();
        if !keys.is_empty() {
            self.parts.tools.stop(&keys);
        }
    }

    fn rested(&self) -> Rested {
        let state = self.state();
        if let Some(reason) = state.paused() {
            return Rested::Paused(reason.clone());
        }
        let questions = state.questions();
        if !questions.is_empty() {
            return Rested::Waiting(questions);
        }
        match state.phase() {
            Phase::Idle => Rested::Idle { said: state.last_words() },
            phase => Rested::Open(phase),
        }
    }

    /// What happens next: the user first, since they may cancel.
    async fn next_input(&mut self) -> TurnInput {
        let wait = self
            .machine
            .deadline()
            .map(|deadline| deadline.since(self.parts.clock.now()).max(Duration::from_millis(1)));
        let timer = async {
            match wait {
                Some(wait) => sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        let Flights { answer, calls, stops, stopping } = &mut self.flights;
        // What is said now begins when what was stopped has ended.
        let may_begin = stopping.is_empty();
        let answer = async {
            match answer {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(input) = self.inputs.recv(), if may_begin => input,
            () = timer => TurnInput::Tick,
            Some((key, input)) = calls.next(), if !calls.is_empty() => {
                stops.remove(&key);
                stopping.remove(&key);
                input.unwrap_or(TurnInput::Tick)
            }
            event = answer => match event {
                Some(Ok(event)) => {
                    self.parts.listener.tell(AgentProgress::Answer(event.clone()));
                    TurnInput::Answer(event)
                }
                Some(Err(error)) => TurnInput::AnswerFailed {
                    failure: ModelFailure::of(&error),
                    why: error.to_string(),
                },
                None => TurnInput::AnswerFailed {
                    failure: ModelFailure::Other,
                    why: "the answer has no end".to_owned(),
                },
            },
        }
    }

    /// Gives the machine an input, and does what it says.
    async fn feed(&mut self, input: TurnInput) -> Result<(), AgentError> {
        if self.is_broken {
            return Err(AgentError::Broken);
        }
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let outputs = self.machine.handle(self.parts.clock.now(), input)?;
            let mut records = Vec::new();
            for output in outputs {
                if let TurnOutput::Append(record) = output {
                    records.push(record);
                    continue;
                }
                // What follows an event begins when that is durable.
                self.append(&mut records).await?;
                inputs.extend(self.flights.carry_out(output, &self.parts));
            }
            self.append(&mut records).await?;
        }
        Ok(())
    }

    async fn append(&mut self, records: &mut Vec<EventRecord>) -> Result<(), AgentError> {
        if records.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(records);
        // If this future is dropped meanwhile, nobody knows what the log has.
        self.is_broken = true;
        self.parts.log.append(records.clone()).await?;
        self.is_broken = false;
        for record in records {
            self.parts.listener.tell(AgentProgress::Event(record));
        }
        Ok(())
    }
}
