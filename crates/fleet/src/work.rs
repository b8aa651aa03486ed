//! A task that Offshoot's own agent does in a workspace.

use std::sync::Arc;

use offshoot_coder::{
    AgentProgress, Coder, CoderError, CoderOptions, PendingQuestion, Rested, TurnLimits,
    UserDecision,
};
use offshoot_engine::id::Id;
use offshoot_engine::session::Session;
use offshoot_engine::{Error, Workspace};
use offshoot_kernel::{Amount, TaskContext, TaskFailure, TaskQuestion};
use offshoot_provider::Cost;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::definition::WorkDefinition;
use crate::governed::{self, Governed};
use crate::progress::FleetProgress;
use crate::reply::AgentReply;
use crate::shared::Shared;

/// So many picodollars are a millionth of a dollar.
const PICODOLLARS: u64 = 1_000_000;

/// What was settled with the ledger so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Settled {
    tokens: u64,
    micros: u64,
    execs: u64,
}

impl Settled {
    fn of(coder: &Coder) -> Self {
        let spent = coder.state().spent();
        let micros = spent.picodollars / PICODOLLARS;
        Self { tokens: spent.tokens, micros, execs: coder.commands() }
    }
}

/// Does a task, or goes on with it, until it is done or has to wait.
pub(crate) async fn run(
    shared: &Arc<Shared>,
    task: &TaskContext,
    text: &str,
) -> Result<Value, TaskFailure> {
    let Some((project, options)) = shared.coder.clone() else {
        return Err(TaskFailure::Fatal("this agent decides, and does no tasks".to_owned()));
    };
    governed::model(shared, task, text).await?;
    let (workspace, session) = places(shared, task, project).await?;
    let options = limited(shared, task, options);
    let mut coder = match session {
        Some(session) => Coder::resume(session, options).await,
        None => Coder::begin(&workspace, options.name(session_name(task))).await,
    }
    .map_err(retried)?;
    let names = (workspace.name().map_err(engine)?, coder.session().record().name.clone());
    shared.watched.tell(&FleetProgress::Works {
        task: task.id().0,
        workspace: names.0.clone(),
        session: names.1.clone(),
    });
    let turns = async {
        let is_new = coder.state().entries().is_empty();
        let mut rested = match is_new {
            true => coder.say(text).await,
            false => coder.run().await,
        }
        .map_err(retried)?;
        loop {
            rested = match rested {
                Rested::Idle { said } => return Ok(said),
                Rested::Paused(reason) => return Err(TaskFailure::Fatal(reason.to_string())),
                Rested::Open(_) => coder.run().await.map_err(retried)?,
                Rested::Waiting(questions) => {
                    let Some(question) = questions.first() else {
                        return Err(TaskFailure::Fatal("it waits for nothing".to_owned()));
                    };
                    let approvals = coder.approvals(&question.key);
                    let approvals = approvals.await.map_err(retried)?;
                    let decision = decision(shared, task, &approvals, question).await?;
                    coder.decide(&question.key, decision).await.map_err(retried)?
                }
            };
        }
    };
    let cancelled = task.cancelled().clone();
    let said = tokio::select! {
        said = turns => said,
        () = cancelled.cancelled() => Err(TaskFailure::Cancelled),
    };
    if matches!(said, Err(TaskFailure::Cancelled)) {
        // What runs is stopped, and what it did is kept.
        coder.cancel().await.map_err(retried)?;
    }
    coder.finish().await.map_err(retried)?;
    let spent = Settled::of(&coder);
    settle(task, spent).await?;
    let said = said?;
    let own = workspace.clone();
    let changed = shared.away(move || Ok(own.diff()?.len() as u64)).await.map_err(engine)?;
    let mut reply = AgentReply::new(said);
    (reply.workspace, reply.session, reply.changed) = (Some(names.0), Some(names.1), changed);
    Ok(json!(reply))
}

/// The workspace of a task, and its session if it was begun.
async fn places(
    shared: &Arc<Shared>,
    task: &TaskContext,
    project: offshoot_engine::Project,
) -> Result<(Workspace, Option<Session>), TaskFailure> {
    let WorkDefinition::Coder(work) = &shared.definition.work else {
        return Err(TaskFailure::Fatal("this agent has no project".to_owned()));
    };
    let own = format!("{}-{}", shared.definition.name, task.id());
    let (name, session) = (work.workspace.clone().unwrap_or(own), session_name(task));
    let forks = Arc::clone(&shared.forks);
    let found = shared.away(move || {
        // Two tasks that begin at the same time would both fork it.
        let _forking = forks.lock();
        let all = project.workspaces()?;
        let found = all.into_iter().find(|it| it.name().is_ok_and(|own| own == name));
        let workspace = found.map_or_else(|| project.fork(&name), Ok)?;
        let sessions = workspace.sessions()?;
        let found = sessions.into_iter().find(|it| it.record().name == session);
        // Killed before its first event was durable, a conversation has not begun.
        let Some(session) = found else { return Ok((workspace, None)) };
        match session.head()?.events {
            0 => session.delete().map(|_| (workspace, None)),
            _ => Ok((workspace, Some(session))),
        }
    });
    found.await.map_err(engine)
}

fn session_name(task: &TaskContext) -> String {
    format!("task-{}", task.id())
}

/// What the agent is started with: its limits are those of the task, and its calls are governed.
fn limited(shared: &Arc<Shared>, task: &TaskContext, options: CoderOptions) -> CoderOptions {
    let budget = task.task().message.budget;
    let limits = TurnLimits {
        tokens: budget.and_then(|budget| budget.tokens),
        money: budget
            .and_then(|budget| budget.micros)
            .map(|micros| Cost { picodollars: micros.saturating_mul(PICODOLLARS) }),
        ..TurnLimits::default()
    };
    let (watched, id) = (shared.watched.clone(), task.id().0);
    let listener = move |progress: AgentProgress| {
        if let AgentProgress::Event(record) = &progress {
            let event = serde_json::to_value(record).unwrap_or_default();
            watched.tell(&FleetProgress::Said { task: id, event });
        }
    };
    let governed = Governed::new(Arc::clone(shared), task.id().0);
    options.within(limits).policy(Arc::new(governed)).unattended().listener(listener)
}

/// What is decided about a call that waits. Where nobody has decided yet, the task pauses.
async fn decision(
    shared: &Arc<Shared>,
    task: &TaskContext,
    approvals: &[Id],
    question: &PendingQuestion,
) -> Result<UserDecision, TaskFailure> {
    let asked = if !approvals.is_empty() {
        let ids: Vec<String> = approvals.iter().map(ToString::to_string).collect();
        TaskQuestion {
            details: json!({ "approvals": ids }),
            ..TaskQuestion::new(question.key.as_str(), question.text.clone())
        }
    } else if question.is_approval {
        governed::question(shared, question)
    } else {
        TaskQuestion {
            details: json!({ "choices": question.choices }),
            ..TaskQuestion::new(question.key.as_str(), question.text.clone())
        }
    };
    let answer = task.ask(asked).await?;
    let reason = answer["reason"].as_str().map(str::to_owned);
    Ok(match (question.is_approval, answer["grant"].as_bool()) {
        (true, Some(true)) => UserDecision::Allow,
        (true, _) => UserDecision::Deny { why: reason },
        (false, _) => {
            let text = answer["text"].as_str().or(answer["reason"].as_str());
            UserDecision::Answer { text: text.unwrap_or("There is no answer.").to_owned() }
        }
    })
}

/// Takes from the ledger what was spent since the last time.
async fn settle(task: &TaskContext, now: Settled) -> Result<(), TaskFailure> {
    let before: Settled =
        task.last_progress().and_then(|it| Settled::deserialize(it).ok()).unwrap_or_default();
    let more = Amount {
        tokens: now.tokens.saturating_sub(before.tokens),
        micros: now.micros.saturating_sub(before.micros),
        ms: 0,
        execs: now.execs.saturating_sub(before.execs),
    };
    if !more.is_zero() {
        task.spend(more).await?;
        let now = serde_json::to_value(now).unwrap_or_default();
        task.progress(now).await?;
    }
    Ok(())
}

/// An error that may be gone the next time, such as a workspace in use.
fn engine(error: Error) -> TaskFailure {
    TaskFailure::retry(error)
}

fn retried(error: CoderError) -> TaskFailure {
    TaskFailure::retry(error)
}
