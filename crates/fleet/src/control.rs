//! What operators can do.

use std::sync::Arc;

use offshoot_kernel::{AgentKernel, KernelState, LifeState, Task, TaskId, TaskPhase};
use offshoot_transport::FailureBody;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::progress::FleetProgress;
use crate::reply::failure;
use crate::shared::Shared;
use offshoot_mxp::ToolRequest;

/// What an agent is and does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// Its name.
    pub name: String,
    /// Where it is in its life.
    pub life: LifeState,
    /// How many tasks it accepted since it began.
    pub accepted: u64,
    /// How many of them it did.
    pub done: u64,
    /// Open tasks.
    pub tasks: Vec<AgentTask>,
    /// Tasks that cannot go on by themselves.
    pub dead: Vec<AgentTask>,
    /// Questions without an answer.
    pub questions: Vec<AgentQuestion>,
}

/// A task of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTask {
    /// Its number.
    pub task: u64,
    /// Who sent it.
    pub from: String,
    /// What it does: `queued`, `running`, `asking`, `waiting`, or why it is dead.
    pub state: String,
    /// How often it was begun.
    pub attempt: u32,
    /// The start of what is to be done.
    pub text: String,
}

/// A question of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentQuestion {
    /// The task.
    pub task: u64,
    /// Names the question among those of the task.
    pub key: String,
    /// What is asked.
    pub text: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: u64,
    /// Who is asked, and about what.
    #[serde(default)]
    pub details: Value,
}

/// So much of a task is shown.
const SHOWN: usize = 200;

#[derive(Deserialize)]
struct OfTask {
    task: u64,
}

#[derive(Deserialize)]
struct Answer {
    task: u64,
    key: String,
    #[serde(default)]
    grant: Option<bool>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

/// Does what an operator wants.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    kernel: &AgentKernel,
    from: &str,
    tool: &ToolRequest,
) -> Result<Value, FailureBody> {
    let stopped = |error: offshoot_kernel::KernelError| failure("refused", error.to_string());
    let of_task = || read::<OfTask>(tool).map(|it| TaskId(it.task));
    match tool.name.as_str() {
        "agent.status" => {
            let name = shared.definition.name.clone();
            let status = kernel.view(|state| status(name, state)).await.map_err(stopped)?;
            return Ok(json!(status));
        }
        "agent.answer" => answer_question(shared, kernel, from, read(tool)?).await?,
        "agent.cancel" => kernel.cancel(of_task()?).await.map_err(stopped)?,
        "agent.resend" => kernel.resend(of_task()?).await.map_err(stopped)?,
        "agent.drop" => kernel.drop_letter(of_task()?).await.map_err(stopped)?,
        "agent.suspend" => kernel.suspend().await.map_err(stopped)?,
        "agent.resume" => kernel.resume().await.map_err(stopped)?,
        other => {
            return Err(failure("unsupported", format!("there is no tool {other} for operators")));
        }
    }
    Ok(json!({ "done": true }))
}

fn read<'a, T: Deserialize<'a>>(tool: &'a ToolRequest) -> Result<T, FailureBody> {
    T::deserialize(&tool.input).map_err(|error| failure("bad_request", error.to_string()))
}

/// Takes the answer of an operator, once the audit log has it.
async fn answer_question(
    shared: &Arc<Shared>,
    kernel: &AgentKernel,
    from: &str,
    given: Answer,
) -> Result<(), FailureBody> {
    let refused = |error: String| failure("refused", error);
    let questions = kernel.questions().await.map_err(|error| refused(error.to_string()))?;
    let found =
        questions.iter().find(|(id, asked)| id.0 == given.task && asked.question.key == given.key);
    let Some((id, asked)) = found.filter(|(_, asked)| asked.answer.is_none()) else {
        let what = format!("task {} has no open question {}", given.task, given.key);
        return Err(failure("not_found", what));
    };
    if asked.question.details["approvals"].is_array() {
        let what = "the user's policy asks this: it is decided with `offshoot approvals`";
        return Err(failure("forbidden", what));
    }
    let answer = json!({ "grant": given.grant, "reason": given.reason, "text": given.text });
    shared.record_answer(asked, &answer, from).await.map_err(refused)?;
    let done = kernel.answer(*id, &given.key, answer, from).await;
    done.map_err(|error| refused(error.to_string()))?;
    let (task, key, by) = (given.task, given.key, from.to_owned());
    shared.watched.tell(&FleetProgress::Answered { task, key, by });
    Ok(())
}

fn status(name: String, state: &KernelState) -> AgentStatus {
    let dead = state.letters.values().map(|letter| {
        let state = format!("{}: {}", letter.cause, letter.why);
        AgentTask { state, ..shown(&letter.task) }
    });
    let questions = state.questions().filter(|(_, asked)| asked.answer.is_none());
    AgentStatus {
        name,
        life: state.life,
        accepted: state.counts.accepted,
        done: state.counts.done,
        tasks: state.tasks.values().map(shown).collect(),
        dead: dead.collect(),
        questions: questions
            .map(|(task, asked)| AgentQuestion {
                task: task.0,
                key: asked.question.key.clone(),
                text: asked.question.text.clone(),
                asked_ms: asked.asked_ms,
                details: asked.question.details.clone(),
            })
            .collect(),
    }
}

fn shown(task: &Task) -> AgentTask {
    let state = match &task.phase {
        TaskPhase::Queued { .. } => "queued",
        TaskPhase::Running => "running",
        TaskPhase::Asking { .. } => "asking",
        TaskPhase::Waiting { .. } => "waiting",
    };
    let body = &task.message.body;
    let text = body["text"].as_str().or(body["is"].as_str()).unwrap_or_default();
    AgentTask {
        task: task.id.0,
        from: task.message.sender.clone(),
        state: state.to_owned(),
        attempt: task.attempt,
        text: offshoot_engine::text::head(text, SHOWN),
    }
}
