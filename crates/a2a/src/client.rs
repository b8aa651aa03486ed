//! A client: it reads a card, and asks where the card says.

mod call;
mod cards;
mod error;
mod events;
mod operation;
mod options;
mod stream;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::web::{Target, Web};
use crate::wire::{
    A2aCard, A2aPushConfig, A2aPushList, A2aReply, A2aSend, A2aTask, A2aTaskFilter, A2aTaskPage,
    CancelTask, GetTask, PushConfigs, PushKey, SubscribeTask,
};

use call::Link;
pub use error::A2aClientError;
use operation::Operation;
pub use options::A2aClientOptions;
pub use stream::A2aStream;

type Result<T> = std::result::Result<T, A2aClientError>;

/// Asks one agent. Clones share what they know.
#[derive(Clone)]
pub struct A2aClient {
    link: Arc<Link>,
    card: Arc<A2aCard>,
    tag: Option<String>,
    at: Option<Target>,
}

impl A2aClient {
    /// Reads the card of an agent and chooses how to ask it. `url` is where the agent is, or its card.
    ///
    /// # Errors
    ///
    /// If there is no card, or the card names no place that this client can and may ask.
    pub async fn connect(url: &str, options: A2aClientOptions) -> Result<Self> {
        let at = cards::place(url)?;
        let web = Web::new(Arc::clone(&options.policy), options.tls.clone());
        let fetched = cards::fetch(&web, &at, &options, None).await?;
        let Some((card, tag)) = fetched else {
            return Err(A2aClientError::card("the server answered that it is known already"));
        };
        Self::choose(web, card, tag, Some(at), options)
    }

    /// Asks an agent whose card is known from elsewhere, and trusted: the places it names may be on any host.
    ///
    /// # Errors
    ///
    /// If the card names no place that this client can ask.
    pub fn from_card(card: A2aCard, options: A2aClientOptions) -> Result<Self> {
        let web = Web::new(Arc::clone(&options.policy), options.tls.clone());
        Self::choose(web, card, None, None, options)
    }

    fn choose(
        web: Web,
        card: A2aCard,
        tag: Option<String>,
        at: Option<Target>,
        options: A2aClientOptions,
    ) -> Result<Self> {
        let (interface, target) = cards::choose(&card, at.as_ref(), &options)?;
        let link = Link::new(web, interface, target, options);
        Ok(Self { link: Arc::new(link), card: Arc::new(card), tag, at })
    }

    /// What the agent says of itself.
    #[must_use]
    pub fn card(&self) -> &A2aCard {
        &self.card
    }

    /// The binding that was chosen.
    #[must_use]
    pub fn binding(&self) -> &str {
        self.link.binding()
    }

    /// Reads the card anew, if it has changed. Says whether it has.
    ///
    /// # Errors
    ///
    /// As [`A2aClient::connect`].
    pub async fn refresh(&mut self) -> Result<bool> {
        let Some(at) = self.at.clone() else { return Ok(false) };
        let options = self.link.options().clone();
        let web = self.link.web().clone();
        let Some((card, tag)) = cards::fetch(&web, &at, &options, self.tag.as_deref()).await?
        else {
            return Ok(false);
        };
        *self = Self::choose(web, card, tag, Some(at), options)?;
        Ok(true)
    }

    /// The card for those whom the agent knows.
    ///
    /// # Errors
    ///
    /// If the agent has none, or does not answer.
    pub async fn extended_card(&self) -> Result<A2aCard> {
        self.ask(Operation::ExtendedCard, json!({})).await
    }

    /// Sends a message, and waits until the agent is done with it or waits itself, unless the settings say otherwise.
    ///
    /// It is sent once: if the connection breaks off, nobody knows whether the agent has it.
    ///
    /// # Errors
    ///
    /// If the agent does not take it, or does not answer.
    pub async fn send(&self, message: impl Into<A2aSend>) -> Result<A2aReply> {
        self.ask(Operation::Send, params(&message.into())?).await
    }

    /// Sends a message and tells what happens then. A stream that breaks off is taken up again.
    ///
    /// # Errors
    ///
    /// If the agent does not take it, or does not answer.
    pub async fn stream(&self, message: impl Into<A2aSend>) -> Result<A2aStream> {
        let params = params(&message.into())?;
        A2aStream::begin(Arc::clone(&self.link), Operation::Stream, params, None).await
    }

    /// Tells what happens to a task from now on, beginning with the task as it is.
    ///
    /// # Errors
    ///
    /// If there is no such task, it is over, or the agent does not answer.
    pub async fn subscribe(&self, task: &str) -> Result<A2aStream> {
        let params = params(&SubscribeTask { tenant: String::new(), id: task.to_owned() })?;
        let task = Some(task.to_owned());
        A2aStream::begin(Arc::clone(&self.link), Operation::Subscribe, params, task).await
    }

    /// A task with at most so many messages of its history.
    ///
    /// # Errors
    ///
    /// If there is no such task, or the agent does not answer.
    pub async fn get(&self, task: &str, history_length: Option<u32>) -> Result<A2aTask> {
        self.link.get(&GetTask { tenant: String::new(), id: task.to_owned(), history_length }).await
    }

    /// A page of this client's tasks.
    ///
    /// # Errors
    ///
    /// If the agent does not answer, or the filter is wrong.
    pub async fn list(&self, filter: &A2aTaskFilter) -> Result<A2aTaskPage> {
        self.ask(Operation::List, params(filter)?).await
    }

    /// Cancels a task.
    ///
    /// # Errors
    ///
    /// If there is no such task, it is over, or the agent does not answer.
    pub async fn cancel(&self, task: &str) -> Result<A2aTask> {
        let asked = CancelTask { tenant: String::new(), id: task.to_owned(), metadata: None };
        let found: A2aTask = self.ask(Operation::Cancel, params(&asked)?).await?;
        self.link.is_about(&found, task)?;
        Ok(found)
    }

    /// Adds a webhook to a task, or replaces the one with its id.
    ///
    /// # Errors
    ///
    /// If the agent does not take it, or does not answer.
    pub async fn set_push(&self, config: &A2aPushConfig) -> Result<A2aPushConfig> {
        self.ask(Operation::CreatePush, params(config)?).await
    }

    /// A webhook of a task.
    ///
    /// # Errors
    ///
    /// If there is none, or the agent does not answer.
    pub async fn get_push(&self, task: &str, id: &str) -> Result<A2aPushConfig> {
        self.ask(Operation::GetPush, params(&key(task, id))?).await
    }

    /// The webhooks of a task.
    ///
    /// # Errors
    ///
    /// If there is no such task, or the agent does not answer.
    pub async fn list_pushes(&self, task: &str) -> Result<Vec<A2aPushConfig>> {
        let asked = PushConfigs { tenant: String::new(), task_id: task.to_owned() };
        let list: A2aPushList = self.ask(Operation::ListPushes, params(&asked)?).await?;
        Ok(list.configs)
    }

    /// Removes a webhook of a task.
    ///
    /// # Errors
    ///
    /// If there is no such task, or the agent does not answer.
    pub async fn delete_push(&self, task: &str, id: &str) -> Result<()> {
        self.link.ask(Operation::DeletePush, params(&key(task, id))?).await?;
        Ok(())
    }

    async fn ask<T: DeserializeOwned>(&self, operation: Operation, params: Value) -> Result<T> {
        let value = self.link.ask(operation, params).await?;
        self.link.read(value)
    }
}

impl std::fmt::Debug for A2aClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aClient").field("agent", &self.card.name).finish_non_exhaustive()
    }
}

fn key(task: &str, id: &str) -> PushKey {
    PushKey { tenant: String::new(), task_id: task.to_owned(), id: id.to_owned() }
}

fn params(asked: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(asked).map_err(|error| A2aClientError::Request(error.to_string()))
}
