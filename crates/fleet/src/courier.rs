//! Brings questions to those who answer them, and answers back.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_governance::{EscalationTarget, GovernanceRequest};
use offshoot_kernel::{AgentKernel, AskedQuestion, TaskId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::asking::{Asking, DECIDE};
use crate::client::FleetClient;
use crate::progress::FleetProgress;
use crate::shared::Shared;
use offshoot_mxp::{CallBody, ToolRequest};

/// How often open questions are looked at.
const LOOK: Duration = Duration::from_millis(300);
/// How long a governance agent may take for one answer, before it is asked again under the same key.
const PATIENCE: Duration = Duration::from_secs(60);
/// The waits between attempts to ask.
const WAITS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Looks after open questions, also those of processes before.
pub(crate) struct Courier {
    pub(crate) shared: Arc<Shared>,
    pub(crate) kernel: AgentKernel,
    pub(crate) client: Option<Arc<FleetClient>>,
    /// Questions that somebody is asked about just now.
    asked: Arc<Mutex<BTreeSet<(u64, String)>>>,
}

impl Courier {
    pub(crate) fn new(
        shared: Arc<Shared>,
        kernel: AgentKernel,
        client: Option<Arc<FleetClient>>,
    ) -> Self {
        Self { shared, kernel, client, asked: Arc::default() }
    }

    /// Goes on as long as the kernel does.
    pub(crate) async fn run(self) {
        let courier = Arc::new(self);
        while let Ok(questions) = courier.kernel.questions().await {
            for (task, asked) in questions {
                if asked.answer.is_none() {
                    courier.look(task, asked).await;
                }
            }
            sleep(LOOK).await;
        }
    }

    async fn look(self: &Arc<Self>, task: TaskId, asked: AskedQuestion) {
        let key = (task.0, asked.question.key.clone());
        let details = &asked.question.details;
        if let Some(ids) = details["approvals"].as_array() {
            let ids: Vec<String> =
                ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
            self.tell_once(&key, "a person, with `offshoot approvals`", &asked);
            if let Some(answer) = self.shared.decided(ids).await {
                self.answer(task, &asked, answer, "approvals").await;
            }
            return;
        }
        let asking = Asking::deserialize(details).ok();
        match asking {
            Some(Asking { ask: EscalationTarget::Agent(agent), request }) => {
                if !self.tell_once(&key, &agent, &asked) {
                    return;
                }
                let courier = Arc::clone(self);
                drop(tokio::spawn(async move {
                    courier.ask(task, &asked, &agent, &request).await;
                    courier.asked().remove(&key);
                }));
            }
            Some(Asking { ask: EscalationTarget::Person(person), .. }) => {
                self.tell_once(&key, &person, &asked);
            }
            None => {
                self.tell_once(&key, "an operator", &asked);
            }
        }
    }

    /// Says that somebody is asked, the first time; whether it is that.
    fn tell_once(&self, key: &(u64, String), whom: &str, asked: &AskedQuestion) -> bool {
        let is_new = self.asked().insert(key.clone());
        if is_new {
            let (whom, text) = (whom.to_owned(), asked.question.text.clone());
            self.shared.watched.tell(&FleetProgress::Asked { task: key.0, whom, text });
        }
        is_new
    }

    /// Asks a governance agent until it answers, or the question is closed.
    async fn ask(
        &self,
        task: TaskId,
        asked: &AskedQuestion,
        agent: &str,
        request: &GovernanceRequest,
    ) {
        let mut wait = WAITS.0;
        loop {
            match self.ask_once(task, asked, agent, request).await {
                Ok(answer) => return self.answer(task, asked, answer, agent).await,
                Err(why) => {
                    let whom = agent.to_owned();
                    self.shared.watched.tell(&FleetProgress::Unasked { task: task.0, whom, why });
                }
            }
            sleep(wait).await;
            wait = (wait * 2).min(WAITS.1);
            if !self.is_open(task, &asked.question.key).await {
                return;
            }
        }
    }

    async fn ask_once(
        &self,
        task: TaskId,
        asked: &AskedQuestion,
        agent: &str,
        request: &GovernanceRequest,
    ) -> Result<Value, String> {
        let client = self.client.as_ref().ok_or("there is no registry to find it by")?;
        // The time is part of the key: a journal that was removed begins with task 1 again.
        let key = format!("{task}/{}/{}", asked.question.key, asked.asked_ms);
        let tool = ToolRequest { name: DECIDE.to_owned(), input: json!({ "request": request }) };
        let call = CallBody { tools: vec![tool], key: Some(key), ..CallBody::default() };
        let answer: Value =
            client.call(agent, &call, PATIENCE).await.map_err(|error| error.to_string())?;
        let digest = request.digest().to_string();
        match (answer["grant"].as_bool(), answer["digest"].as_str()) {
            (Some(grant), Some(about)) if about == digest => {
                Ok(json!({ "grant": grant, "reason": answer["reason"] }))
            }
            _ => Err("its answer is not about what was asked".to_owned()),
        }
    }

    async fn answer(&self, task: TaskId, asked: &AskedQuestion, answer: Value, by: &str) {
        if let Err(why) = self.shared.record_answer(asked, &answer, by).await {
            let whom = by.to_owned();
            return self.shared.watched.tell(&FleetProgress::Unasked { task: task.0, whom, why });
        }
        let key = asked.question.key.clone();
        // Somebody else may have been faster; then theirs counts.
        if self.kernel.answer(task, &key, answer, by).await.is_ok() {
            let by = by.to_owned();
            self.shared.watched.tell(&FleetProgress::Answered { task: task.0, key, by });
        }
    }

    async fn is_open(&self, task: TaskId, key: &str) -> bool {
        let Ok(questions) = self.kernel.questions().await else { return false };
        questions
            .iter()
            .any(|(id, asked)| *id == task && asked.question.key == key && asked.answer.is_none())
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, BTreeSet<(u64, String)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
