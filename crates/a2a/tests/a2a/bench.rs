//! A server whose agent does what messages say.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_a2a::{
    A2aAccess, A2aAfterRestart, A2aAgent, A2aArtifact, A2aCard, A2aClient, A2aClientOptions,
    A2aMemoryTasks, A2aMessage, A2aPart, A2aPause, A2aReply, A2aRole, A2aServer, A2aServerOptions,
    A2aState, A2aTask, A2aTaskFailure, A2aTaskStore, A2aWork, BINDING_REST,
};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "token-of-the-tester";
pub(crate) const OTHER: &str = "token-of-another-one";
/// Nothing that a test waits for takes longer.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// An agent that does what the first word of a message says.
#[derive(Clone)]
pub(crate) struct Actor {
    /// Each permit lets a `steps` agent make one step.
    pub(crate) steps: Arc<Semaphore>,
    pub(crate) after_restart: A2aAfterRestart,
}

impl Default for Actor {
    fn default() -> Self {
        Self { steps: Arc::new(Semaphore::new(0)), after_restart: A2aAfterRestart::Fail }
    }
}

impl A2aAgent for Actor {
    async fn handle(&self, message: A2aMessage, work: A2aWork) -> Result<(), A2aTaskFailure> {
        let text = message.text();
        let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match verb {
            "echo" => work.artifact(A2aArtifact::new("echo", vec![A2aPart::text(rest)])).await?,
            "chunks" => {
                let many: usize = rest.parse()?;
                work.begin_artifact(A2aArtifact::new("chunks", vec![A2aPart::text("0")])).await?;
                for chunk in 1..many {
                    let parts = vec![A2aPart::text(chunk.to_string())];
                    work.append_artifact("chunks", parts, chunk + 1 == many).await?;
                }
            }
            "steps" => {
                for step in 0..rest.parse()? {
                    tokio::select! {
                        permit = self.steps.acquire() => permit?.forget(),
                        () = work.cancelled() => return Ok(()),
                    }
                    work.progress(format!("step {step}")).await?;
                }
            }
            "wait" => work.cancelled().await,
            "stubborn" => std::future::pending().await,
            "complete-when-cancelled" => {
                work.cancelled().await;
                work.complete("done all the same").await?;
            }
            "ask" => {
                let question = vec![A2aPart::text("which one?")];
                let answer = work.ask(A2aPause::Input, question).await?;
                work.complete(format!("it is {}", answer.text())).await?;
            }
            "pause" => {
                work.pause(A2aPause::Input, vec![A2aPart::text("which one?")]).await?;
            }
            "auth" => work.pause(A2aPause::Auth, vec![A2aPart::text("log in")]).await?,
            "answer" => {
                let task = work.task().await?;
                let said = task.history.iter().filter(|said| said.role == A2aRole::User);
                let said: Vec<String> = said.map(A2aMessage::text).collect();
                work.complete(said.join("|")).await?;
            }
            "fail" => return Err(A2aTaskFailure(rest.to_owned())),
            "panic" => panic!("an agent that panics"),
            "reject" => work.reject(rest).await?,
            "complete" => work.complete(rest).await?,
            "who" => work.complete(work.client().to_owned()).await?,
            "resumed" if work.is_resumed() => work.complete("resumed").await?,
            "resumed" => work.cancelled().await,
            "again" => {
                // Whatever is told after the end is refused.
                work.complete("first").await?;
                let late = work.progress("late").await;
                assert!(late.is_err());
                let late = work.artifact(A2aArtifact::new("a", vec![A2aPart::text("a")])).await;
                assert!(late.is_err());
            }
            "big" => {
                let many: usize = rest.parse()?;
                let parts = vec![A2aPart::text("x".repeat(many))];
                work.artifact(A2aArtifact::new("big", parts)).await?;
            }
            "flood" => {
                for number in 0..rest.parse::<usize>()? {
                    let parts = vec![A2aPart::text(format!("{number:03}").repeat(50_000))];
                    work.artifact(A2aArtifact::new("same", parts)).await?;
                }
            }
            "artifacts" => {
                for number in 0..rest.parse::<usize>()? {
                    let parts = vec![A2aPart::text("x")];
                    work.artifact(A2aArtifact::new(number.to_string(), parts)).await?;
                }
            }
            "talk" => {
                for number in 0..rest.parse::<usize>()? {
                    work.progress(number.to_string()).await?;
                }
            }
            _ => return Err(A2aTaskFailure(format!("no such verb: {verb}"))),
        }
        Ok(())
    }

    async fn answer(&self, message: &A2aMessage, client: &str) -> Option<Vec<A2aPart>> {
        let text = message.text();
        let said = text.strip_prefix("now")?;
        Some(vec![A2aPart::text(format!("{client}:{said}"))])
    }

    fn after_restart(&self, _: &A2aTask) -> A2aAfterRestart {
        self.after_restart
    }
}

/// A server that answers.
pub(crate) struct Bench {
    pub(crate) address: SocketAddr,
    pub(crate) card: A2aCard,
    pub(crate) actor: Actor,
    over: CancellationToken,
    serving: JoinHandle<()>,
}

pub(crate) fn card() -> A2aCard {
    let mut card = A2aCard::new("Actor", "Does what messages say", "1.0.0");
    card.default_input_modes.push("application/json".to_owned());
    card
}

pub(crate) fn options() -> A2aServerOptions {
    let access = A2aAccess::tokens([("tester", TOKEN), ("other", OTHER)]);
    A2aServerOptions::loopback(access)
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(options()).await
    }

    pub(crate) async fn with(options: A2aServerOptions) -> Self {
        let store = Arc::new(A2aMemoryTasks::new(options.limits.tasks.clone()));
        Self::on(options, store, Actor::default()).await
    }

    pub(crate) async fn on(
        options: A2aServerOptions,
        store: Arc<dyn A2aTaskStore>,
        actor: Actor,
    ) -> Self {
        let server = A2aServer::bind(options, card(), actor.clone(), store).await.unwrap();
        let (address, card) = (server.address(), server.card().clone());
        let over = CancellationToken::new();
        let serving = tokio::spawn(server.serve(over.clone()));
        Self { address, card, actor, over, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) async fn client(&self) -> A2aClient {
        A2aClient::connect(&self.url(), quick(TOKEN)).await.unwrap()
    }

    pub(crate) async fn other(&self) -> A2aClient {
        A2aClient::connect(&self.url(), quick(OTHER)).await.unwrap()
    }

    /// Clients by both bindings.
    pub(crate) async fn both(&self) -> [A2aClient; 2] {
        let mut card = self.card.clone();
        card.supported_interfaces.retain(|place| place.protocol_binding == BINDING_REST);
        [self.client().await, A2aClient::from_card(card, quick(TOKEN)).unwrap()]
    }

    /// Ends the server as its host does.
    pub(crate) async fn end(mut self) {
        self.over.cancel();
        (&mut self.serving).await.unwrap();
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

/// A client that does not wait long before it tries again.
pub(crate) fn quick(token: &str) -> A2aClientOptions {
    A2aClientOptions {
        first_wait: Duration::from_millis(5),
        longest_wait: Duration::from_millis(20),
        ..A2aClientOptions::with_token(token)
    }
}

pub(crate) fn say(text: &str) -> A2aMessage {
    A2aMessage::user(vec![A2aPart::text(text)])
}

/// Sends a text and gives the task that comes of it.
pub(crate) async fn sent(client: &A2aClient, text: &str) -> A2aTask {
    task(client.send(say(text)).await.unwrap())
}

pub(crate) fn task(reply: A2aReply) -> A2aTask {
    match reply {
        A2aReply::Task(task) => task,
        A2aReply::Message(message) => panic!("no task: {message:?}"),
    }
}

/// Sends a text without waiting for the end.
pub(crate) async fn begun(client: &A2aClient, text: &str) -> A2aTask {
    let mut send = offshoot_a2a::A2aSend::from(say(text));
    send.configuration.return_immediately = true;
    task(client.send(send).await.unwrap())
}

/// What the agent said with the status.
pub(crate) fn said(task: &A2aTask) -> String {
    task.status.message.as_ref().map(A2aMessage::text).unwrap_or_default()
}

/// Waits until a task is in a state.
pub(crate) async fn until(client: &A2aClient, id: &str, state: A2aState) -> A2aTask {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let task = client.get(id, None).await.unwrap();
        if task.status.state == state {
            return task;
        }
        assert!(Instant::now() < deadline, "{:?} instead of {state:?}", task.status.state);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until something is so.
pub(crate) async fn eventually(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it never came");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
