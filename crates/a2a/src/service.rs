//! What clients can ask for, whatever binding they come by.

use std::sync::Arc;

use crate::agent::A2aAfterRestart;
use crate::fault::{A2aCode, A2aFault};
use crate::hub::{Hub, Updates, busy};
use crate::record::{A2aRefusal, A2aTaskRecord, A2aTaskStep};
use crate::store::{A2aStoreError, A2aTaskQuery};
use crate::wire::{
    A2aCard, A2aEvent, A2aMessage, A2aPushConfig, A2aPushList, A2aReply, A2aRole, A2aSend,
    A2aState, A2aTask, A2aTaskFilter, A2aTaskPage, CancelTask, GetTask, PushConfigs, PushKey,
    SubscribeTask,
};
use crate::{check, id};

/// As many tasks are on a page if nothing is said.
const PAGE: u32 = 50;
/// More tasks are on no page.
const LARGEST_PAGE: u32 = 100;

/// The operations of the protocol.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) hub: Arc<Hub>,
    pub(crate) card: Arc<A2aCard>,
    pub(crate) extended: Option<Arc<A2aCard>>,
}

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) name: String,
    /// Whether a token has shown it.
    pub(crate) is_known: bool,
    /// The extensions that it knows.
    pub(crate) extensions: Vec<String>,
}

/// What comes of a message.
pub(crate) enum Sent {
    /// An answer without a task.
    Answered(A2aMessage),
    /// A task, and what happens to it from then on.
    Begun(Box<A2aTaskRecord>, Updates),
}

impl Service {
    /// Has a message worked on.
    pub(crate) async fn begin(&self, caller: &Caller, send: A2aSend) -> Result<Sent, A2aFault> {
        let (service, caller) = (self.clone(), caller.clone());
        detached(async move { service.begin_whole(&caller, send).await }).await
    }

    async fn begin_whole(&self, caller: &Caller, send: A2aSend) -> Result<Sent, A2aFault> {
        let hub = &self.hub;
        self.has_extensions(caller)?;
        check::message(&send.message, &self.card.default_input_modes, &hub.limits)?;
        let settings = send.configuration;
        let mut push = settings.task_push_notification_config;
        if let Some(config) = &mut push {
            hub.pusher.check(config)?;
        }
        let accepts = settings.accepted_output_modes;
        let mut message = send.message;
        if let Some(task) = message.task_id.clone() {
            let record = self.owned(caller, &task).await?;
            if message.context_id.as_ref().is_some_and(|id| *id != record.task.context_id) {
                let what = "message.contextId: the task belongs to another context";
                return Err(A2aFault::params(what).with("taskId", task));
            }
            let (mut record, updates) = hub.go_on(&task, message, accepts).await?;
            if let Some(config) = push {
                self.set_push(&record, config).await?;
                record = hub.get(&task).await?;
            }
            return Ok(Sent::Begun(Box::new(record), updates));
        }
        if let Some(parts) = hub.agent.answer(&message, &caller.name).await {
            check::parts("the agent's answer", &parts, &hub.limits)
                .map_err(|fault| A2aFault::new(A2aCode::InvalidAgentResponse, fault.message))?;
            let mut answer = A2aMessage::agent(parts);
            answer.context_id = Some(message.context_id.unwrap_or_else(id::fresh));
            return Ok(Sent::Answered(answer));
        }
        let place = hub.place().ok_or_else(busy)?;
        let context = message.context_id.take().unwrap_or_else(id::fresh);
        let mut record =
            A2aTaskRecord::begin(&caller.name, id::fresh(), context, message, id::now());
        if let Some(mut config) = push {
            config.task_id = record.task.id.clone();
            record.pushes.push(config);
        }
        let updates = hub.begin(record.clone(), accepts, place).await?;
        Ok(Sent::Begun(Box::new(record), updates))
    }

    /// Has a message worked on, and waits for what comes of it unless the client does not want to.
    pub(crate) async fn send(&self, caller: &Caller, send: A2aSend) -> Result<A2aReply, A2aFault> {
        let history = send.configuration.history_length;
        let waits = !send.configuration.return_immediately;
        let (mut record, updates) = match self.begin(caller, send).await? {
            Sent::Answered(message) => return Ok(A2aReply::Message(message)),
            Sent::Begun(record, updates) => (*record, updates),
        };
        if waits {
            // Who waited too long gets the task as it is, and can ask for it again.
            let waiting = self.wait(record.task.id.clone(), record.state(), updates);
            drop(tokio::time::timeout(self.hub.limits.blocking, waiting).await);
            record = self.hub.get(&record.task.id).await?;
        }
        Ok(A2aReply::Task(record.view(history, true)))
    }

    /// Waits until an agent is done or waits itself.
    async fn wait(
        &self,
        id: String,
        mut state: A2aState,
        mut updates: Updates,
    ) -> Result<(), A2aStoreError> {
        while !state.is_terminal() && !state.is_interrupted() {
            match updates.next().await {
                Ok(event) => state = event.state().unwrap_or(state),
                // The end may be among what was missed.
                Err(_) => {
                    let record;
                    (record, updates) = self.hub.watch(&id).await?;
                    state = record.state();
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn get(&self, caller: &Caller, asked: &GetTask) -> Result<A2aTask, A2aFault> {
        Ok(self.owned(caller, &asked.id).await?.view(asked.history_length, true))
    }

    pub(crate) async fn list(
        &self,
        caller: &Caller,
        filter: A2aTaskFilter,
    ) -> Result<A2aTaskPage, A2aFault> {
        let page_size = filter.page_size.unwrap_or(PAGE);
        if !(1..=LARGEST_PAGE).contains(&page_size) {
            return Err(A2aFault::params(format!("pageSize: from 1 to {LARGEST_PAGE}")));
        }
        let after = match filter.page_token.as_str() {
            "" => None,
            token => Some(cursor(token).ok_or_else(|| {
                A2aFault::params("pageToken: no page ended there; begin again without it")
            })?),
        };
        let since = match &filter.status_timestamp_after {
            None => None,
            Some(text) => Some(text.parse::<jiff::Timestamp>().map_err(|_| {
                A2aFault::params("statusTimestampAfter: it is no time as RFC 3339 writes it")
            })?),
        };
        let query = A2aTaskQuery {
            owner: caller.name.clone(),
            context: Some(filter.context_id).filter(|context| !context.is_empty()),
            state: filter.status,
            since: since.map(jiff::Timestamp::as_millisecond),
            after,
            most: usize::try_from(page_size).unwrap_or(usize::MAX),
            history: filter.history_length,
            artifacts: filter.include_artifacts,
        };
        let slice = self.hub.stored(move |store| store.list(&query)).await?;
        let next = slice.next.map(|(at, id)| format!("{at:x}-{id}"));
        Ok(A2aTaskPage {
            tasks: slice.tasks,
            next_page_token: next.unwrap_or_default(),
            page_size,
            total_size: u32::try_from(slice.total).unwrap_or(u32::MAX),
        })
    }

    pub(crate) async fn cancel(
        &self,
        caller: &Caller,
        asked: &CancelTask,
    ) -> Result<A2aTask, A2aFault> {
        self.owned(caller, &asked.id).await?;
        let ended = |state: A2aState| {
            let message = format!("the task is {} already", state.as_str());
            A2aFault::new(A2aCode::TaskNotCancelable, message).with("taskId", &asked.id)
        };
        let (hub, id) = (Arc::clone(&self.hub), asked.id.clone());
        let cancelling = async move {
            match hub.cancel(&id).await {
                Ok(record) => Ok(Ok(record)),
                Err(A2aStoreError::Refused(A2aRefusal::Over { state })) => Ok(Err(state)),
                Err(error) => Err(error.into()),
            }
        };
        let record = detached(cancelling).await?.map_err(ended)?;
        match record.state() {
            A2aState::Canceled => Ok(record.view(None, true)),
            state => Err(ended(state)),
        }
    }

    pub(crate) async fn subscribe(
        &self,
        caller: &Caller,
        asked: &SubscribeTask,
    ) -> Result<(A2aTaskRecord, Updates), A2aFault> {
        self.owned(caller, &asked.id).await?;
        let (record, updates) = self.hub.watch(&asked.id).await?;
        if record.state().is_terminal() {
            let message =
                format!("the task is {} already; ask for it instead", record.state().as_str());
            let fault = A2aFault::new(A2aCode::UnsupportedOperation, message);
            return Err(fault.with("taskId", &asked.id));
        }
        Ok((record, updates))
    }

    pub(crate) async fn create_push(
        &self,
        caller: &Caller,
        mut config: A2aPushConfig,
    ) -> Result<A2aPushConfig, A2aFault> {
        self.hub.pusher.check(&mut config)?;
        let record = self.owned(caller, &config.task_id).await?;
        self.set_push(&record, config).await
    }

    async fn set_push(
        &self,
        record: &A2aTaskRecord,
        mut config: A2aPushConfig,
    ) -> Result<A2aPushConfig, A2aFault> {
        config.task_id = record.task.id.clone();
        let live = self.hub.live(&record.task.id);
        self.hub.tell(&live, A2aTaskStep::SetPush(config.clone())).await?;
        Ok(config)
    }

    pub(crate) async fn get_push(
        &self,
        caller: &Caller,
        key: &PushKey,
    ) -> Result<A2aPushConfig, A2aFault> {
        self.has_pushes()?;
        let record = self.owned(caller, &key.task_id).await?;
        let found = record.pushes.into_iter().find(|config| config.id == key.id);
        found.ok_or_else(|| {
            let message = "the task has no such push configuration";
            A2aFault::new(A2aCode::TaskNotFound, message).with("id", &key.id)
        })
    }

    pub(crate) async fn list_pushes(
        &self,
        caller: &Caller,
        asked: &PushConfigs,
    ) -> Result<A2aPushList, A2aFault> {
        self.has_pushes()?;
        let configs = self.owned(caller, &asked.task_id).await?.pushes;
        Ok(A2aPushList { configs, next_page_token: String::new() })
    }

    pub(crate) async fn delete_push(&self, caller: &Caller, key: &PushKey) -> Result<(), A2aFault> {
        self.has_pushes()?;
        self.owned(caller, &key.task_id).await?;
        let live = self.hub.live(&key.task_id);
        self.hub.tell(&live, A2aTaskStep::RemovePush(key.id.clone())).await?;
        self.hub.pusher.forget(&key.task_id, &key.id);
        Ok(())
    }

    pub(crate) fn extended_card(&self, caller: &Caller) -> Result<&A2aCard, A2aFault> {
        match &self.extended {
            Some(card) if caller.is_known => Ok(card),
            _ => {
                let message = "this agent has no extended card; the public one is all there is";
                Err(A2aFault::new(A2aCode::UnsupportedOperation, message))
            }
        }
    }

    /// Takes up the tasks that a process left when it ended.
    pub(crate) async fn restart(&self) -> Result<(), A2aStoreError> {
        let hub = &self.hub;
        for id in hub.stored(|store| store.unfinished()).await? {
            let record = hub.get(&id).await?;
            if record.state().is_interrupted() {
                continue;
            }
            let said = |message: &&A2aMessage| message.role == A2aRole::User;
            let last = record.task.history.iter().rev().find(said).cloned();
            let wish = hub.agent.after_restart(&record.task);
            match (wish, last, hub.place()) {
                (A2aAfterRestart::Resume, Some(message), Some(place)) => {
                    hub.resume(&record, message, place).await;
                }
                _ => hub.fail(&id, "the server was restarted while the agent worked").await?,
            }
        }
        Ok(())
    }

    /// A task, if it is the caller's.
    async fn owned(&self, caller: &Caller, id: &str) -> Result<A2aTaskRecord, A2aFault> {
        check::name("id", id)?;
        let record = self.hub.get(id).await?;
        match record.owner == caller.name {
            true => Ok(record),
            false => Err(A2aFault::task_not_found(id)),
        }
    }

    fn has_pushes(&self) -> Result<(), A2aFault> {
        if self.hub.pusher.is_on() {
            return Ok(());
        }
        Err(A2aFault::new(A2aCode::PushNotificationNotSupported, "this agent calls no webhooks"))
    }

    /// Whether the caller knows the extensions that it has to know.
    fn has_extensions(&self, caller: &Caller) -> Result<(), A2aFault> {
        let required = self.card.capabilities.extensions.iter().filter(|one| one.required);
        for extension in required {
            if !caller.extensions.contains(&extension.uri) {
                let message = "name the extension in the header A2A-Extensions";
                let fault = A2aFault::new(A2aCode::ExtensionSupportRequired, message);
                return Err(fault.with("uri", &extension.uri));
            }
        }
        Ok(())
    }
}

/// Goes on to the end although whoever asked is gone: half of it would leave a task that nobody works on.
async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, A2aFault>> + Send + 'static,
) -> Result<T, A2aFault> {
    let failed = |_| Err(A2aFault::new(A2aCode::Internal, "the agent failed"));
    tokio::spawn(work).await.unwrap_or_else(failed)
}

/// Where a page ended.
fn cursor(token: &str) -> Option<(i64, String)> {
    let (at, id) = token.split_once('-')?;
    let is_name = id.len() <= check::LONGEST_NAME && !id.is_empty();
    Some((i64::from_str_radix(at, 16).ok()?, is_name.then(|| id.to_owned())?))
}

/// The first thing that a stream tells.
pub(crate) fn first(record: &A2aTaskRecord, history: Option<u32>) -> A2aEvent {
    A2aEvent::Task(record.view(history, true))
}
