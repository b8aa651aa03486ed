//! The events of a conversation in a session of the vault.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use offshoot_agent::{AgentEvent, EventLog, EventRecord, LogError};
use offshoot_engine::session::{
    NewSessionEvent, Session, SessionEvent, SessionState, SessionTotals, SessionUpdate,
};
use offshoot_provider::{Cost, TokenUsage};

/// So many events are read at once.
const PAGE: u32 = 256;

/// Keeps events in a session.
#[derive(Clone, Debug)]
pub struct SessionLog {
    session: Session,
    spent: Arc<Mutex<Spending>>,
    /// The provider and the model that are asked.
    model: Option<(String, String)>,
}

/// What the answers of a conversation took.
#[derive(Clone, Copy, Debug, Default)]
struct Spending {
    tokens_in: u64,
    tokens_out: u64,
    /// Nothing once an answer came whose price is not known.
    cost: Option<Cost>,
    answers: u64,
}

impl SessionLog {
    /// In this session.
    pub fn new(session: Session) -> Self {
        Self { session, spent: Arc::default(), model: None }
    }

    /// Tells the session who is asked from now on.
    #[must_use]
    pub fn model(mut self, provider: String, model: String) -> Self {
        self.model = Some((provider, model));
        self
    }

    pub(crate) fn append_now(&self, records: &[EventRecord]) -> Result<(), LogError> {
        let Some(first) = records.first() else { return Ok(()) };
        let snapshot = self.session.workspace().record().map_err(storage)?.state.head;
        let events = records
            .iter()
            .map(|record| event(record, snapshot))
            .collect::<Result<Vec<_>, LogError>>()?;
        let mut spent = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        records.iter().for_each(|record| spent.add(record));
        let opens = |record: &EventRecord| matches!(record.event(), AgentEvent::Opened { .. });
        let (provider, model) = self.model.clone().filter(|_| records.iter().any(opens)).unzip();
        let update = SessionUpdate {
            provider,
            model,
            state: records.iter().filter_map(|record| state(record.event())).next_back(),
            totals: spent.totals(),
        };
        if let Err(error) = self.session.append(first.number(), &events, &update) {
            let last = self.session.head().map_err(storage)?.events;
            return Err(match last + 1 == first.number() {
                true => storage(error),
                false => LogError::Moved { given: first.number(), last },
            });
        }
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = spent;
        Ok(())
    }

    pub(crate) fn read_now(&self, from: u64) -> Result<Vec<EventRecord>, LogError> {
        let mut records = Vec::new();
        let mut next = from;
        loop {
            let page = self.session.events(next, PAGE).map_err(storage)?;
            let Some(last) = page.last() else { break };
            next = last.number + 1;
            records.extend(event_records(&page)?);
        }
        if from == 1 {
            let mut spent = Spending::default();
            records.iter().for_each(|record| spent.add(record));
            *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = spent;
        }
        Ok(records)
    }
}

impl EventLog for SessionLog {
    fn append(&self, records: Vec<EventRecord>) -> BoxFuture<'_, Result<(), LogError>> {
        let log = self.clone();
        away(move || log.append_now(&records)).boxed()
    }

    fn read(&self, from: u64) -> BoxFuture<'_, Result<Vec<EventRecord>, LogError>> {
        let log = self.clone();
        away(move || log.read_now(from)).boxed()
    }
}

/// Does what blocks where it may.
async fn away<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, LogError> {
    tokio::task::spawn_blocking(work).await.map_err(storage)?
}

fn storage(error: impl ToString) -> LogError {
    LogError::Storage(error.to_string())
}

/// Events of the vault as those of a conversation; an error if another program than this agent wrote one.
pub fn event_records(events: &[SessionEvent]) -> Result<Vec<EventRecord>, LogError> {
    let record = |event: &SessionEvent| {
        serde_json::from_str(&event.body).map_err(|error| {
            let why = error.to_string();
            LogError::Damaged { number: event.number, why }
        })
    };
    events.iter().map(record).collect()
}

/// An event as the vault keeps it. Its kind is a field of the record.
fn event(
    record: &EventRecord,
    snapshot: offshoot_engine::id::Id,
) -> Result<NewSessionEvent, LogError> {
    let value = serde_json::to_value(record).map_err(storage)?;
    let kind = value["event"]["kind"].as_str().unwrap_or("event").to_owned();
    Ok(NewSessionEvent { kind, body: value.to_string(), snapshot: Some(snapshot) })
}

/// How the session stands after an event, where that says so.
fn state(event: &AgentEvent) -> Option<SessionState> {
    match event {
        AgentEvent::UserSaid { .. } | AgentEvent::Decided { .. } | AgentEvent::Resumed { .. } => {
            Some(SessionState::Open)
        }
        AgentEvent::CallBlocked { .. } | AgentEvent::Paused { .. } => Some(SessionState::Waiting),
        AgentEvent::TurnEnded { .. } => Some(SessionState::Ended),
        _ => None,
    }
}

impl Spending {
    fn add(&mut self, record: &EventRecord) {
        let AgentEvent::Answered { usage, cost, .. } = record.event() else { return };
        let TokenUsage { input, cache_read, cache_write, cache_write_1h, output, .. } = *usage;
        let read = [input, cache_read, cache_write, cache_write_1h];
        self.tokens_in += read.into_iter().flatten().sum::<u64>();
        self.tokens_out += output.unwrap_or(0);
        self.cost = match (self.answers, self.cost, cost) {
            (0, _, cost) => *cost,
            (_, Some(before), Some(cost)) => {
                Some(Cost { picodollars: before.picodollars.saturating_add(cost.picodollars) })
            }
            _ => None,
        };
        self.answers += 1;
    }

    fn totals(&self) -> SessionTotals {
        let known = |count| (self.answers > 0).then_some(count);
        SessionTotals {
            tokens_in: known(self.tokens_in),
            tokens_out: known(self.tokens_out),
            cost: self.cost.map(|cost| cost.to_string().trim_start_matches('$').to_owned()),
        }
    }
}
