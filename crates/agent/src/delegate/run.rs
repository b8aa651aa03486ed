//! One sub-agent, from its task to its result.

use std::sync::Arc;

use tokio::sync::watch;

use super::{DelegatedTask, Delegation, DelegationParts, Grant, WorkspaceForks, conversation};
use crate::agent::{Agent, AgentError, AgentParts, Rested};
use crate::call::{
    AgentCallKey, CallReply, CallReport, PendingQuestion, PlannedCall, UserDecision,
};
use crate::limits::Spent;
use crate::state::{Phase, State};

/// An agent that stops its calls when nobody waits for it any more.
struct SubAgent(Agent);

impl Drop for SubAgent {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Starts the sub-agent of a call, or goes on with it, until it is done or `stopped`.
pub(super) async fn run(
    call: PlannedCall,
    forks: Arc<dyn WorkspaceForks>,
    rights: (Grant, DelegationParts),
    stopped: watch::Receiver<bool>,
) -> CallReply {
    match try_run(call, &forks, rights, stopped).await {
        Ok(reply) => reply,
        Err(why) => CallReply::Done(CallReport::failure(format!("The sub-agent failed: {why}"))),
    }
}

async fn try_run(
    call: PlannedCall,
    forks: &Arc<dyn WorkspaceForks>,
    (grant, parts): (Grant, DelegationParts),
    mut stopped: watch::Receiver<bool>,
) -> Result<CallReply, String> {
    let DelegatedTask { task, wish } =
        serde_json::from_str(&call.call.arguments).map_err(|error| error.to_string())?;
    // What is left of the parent's budgets is without what the parent spent already.
    let limits = parts.settings.limits.meet(call.budget);
    let grant = grant.narrow(&wish, limits, &Spent::default());
    let fork = forks.fork(&call.key).await?;
    let mut settings = parts.settings.clone();
    settings.limits = grant.limits();
    let log = parts.logs.open(&conversation(&call.key)).await.map_err(|error| error.to_string())?;
    let begun = !log.read(1).await.map_err(|error| error.to_string())?.is_empty();
    let agent_parts = AgentParts {
        provider: parts.provider.clone(),
        tools: Arc::new(Delegation::new(fork.tools, fork.forks, grant, parts.clone())),
        log,
        listener: parts.listener.clone(),
        clock: parts.clock.clone(),
        redactor: parts.redactor.clone(),
    };
    let layers = parts.layers.clone();
    let agent = match begun {
        true => Agent::open(agent_parts, Some(settings), layers).await,
        false => Agent::begin(agent_parts, conversation(&call.key), settings, layers).await,
    };
    let mut agent = SubAgent(agent.map_err(|error| error.to_string())?);
    if *stopped.borrow() {
        return Ok(given_up(agent.0.state()));
    }
    let handle = agent.0.handle();
    let rested = {
        let mut work = Box::pin(work(&mut agent.0, &task, call.approved));
        tokio::select! {
            biased;
            rested = &mut work => rested,
            () = stop(&mut stopped) => {
                handle.cancel();
                work.await
            }
        }
    };
    let rested = rested.map_err(|error| error.to_string())?;
    // Whatever it left running writes to the fork, which may be merged now.
    agent.0.finish().await.map_err(|error| error.to_string())?;
    if *stopped.borrow() {
        return Ok(given_up(agent.0.state()));
    }
    report(agent.0.state(), rested, forks, &call.key).await
}

/// Works until it is done, or needs somebody.
async fn work(agent: &mut Agent, task: &str, approved: bool) -> Result<Rested, AgentError> {
    let is_new = agent.state().phase() == Phase::Idle && agent.state().entries().is_empty();
    let mut rested = match is_new {
        true => agent.say(task).await?,
        false => agent.run().await?,
    };
    // What the user allowed is what waited when they were asked, and no more.
    let mut allowed: Vec<AgentCallKey> = match (&rested, approved) {
        (Rested::Waiting(questions), true) => {
            questions.iter().map(|question| question.key.clone()).collect()
        }
        _ => Vec::new(),
    };
    while let Rested::Waiting(questions) = &rested {
        let Some(question) = questions
            .iter()
            .find(|question| !question.is_approval || allowed.contains(&question.key))
        else {
            break;
        };
        let (key, is_approval) = (question.key.clone(), question.is_approval);
        allowed.retain(|allowed| *allowed != key);
        let decision = match is_approval {
            true => UserDecision::Allow,
            false => UserDecision::Deny {
                why: Some("a sub-agent cannot ask; decide, and say what you assumed".to_owned()),
            },
        };
        rested = agent.decide(&key, decision, None).await?;
    }
    Ok(rested)
}

async fn report(
    state: &State,
    rested: Rested,
    forks: &Arc<dyn WorkspaceForks>,
    key: &AgentCallKey,
) -> Result<CallReply, String> {
    let spent = Some(*state.spent());
    let said = state.last_words();
    let (text, failed) = match rested {
        Rested::Waiting(questions) => {
            return Ok(CallReply::NeedsApproval { why: asked(&questions) });
        }
        Rested::Idle { said } => match forks.merge(key).await {
            Ok(merged) => (format!("{said}\n\n{}", merged.summary), !merged.is_clean),
            Err(why) => (format!("{said}\n\nIts work was not merged: {why}"), true),
        },
        Rested::Paused(reason) => {
            let text = format!(
                "The sub-agent stopped: {reason}. Its work was not merged. It said last:\n{said}"
            );
            (text, true)
        }
        Rested::Open(_) => ("The sub-agent stopped, and its work was not merged.".to_owned(), true),
    };
    let report = CallReport { spent, failed, ..CallReport::text(text) };
    Ok(CallReply::Done(report))
}

/// Waits until somebody stops it.
async fn stop(stopped: &mut watch::Receiver<bool>) {
    if stopped.wait_for(|stopped| *stopped).await.is_err() {
        // Nobody can any more.
        std::future::pending().await
    }
}

/// What is said of a sub-agent that was stopped: what it did stays in its fork.
fn given_up(state: &State) -> CallReply {
    let report = CallReport::failure("The sub-agent was stopped, and its work was not merged.");
    CallReply::Done(CallReport { spent: Some(*state.spent()), ..report })
}

fn asked(questions: &[PendingQuestion]) -> String {
    let asked: Vec<String> = questions
        .iter()
        .map(|question| format!("{} {}: {}", question.tool, question.arguments, question.text))
        .collect();
    format!("A sub-agent wants to do this:\n{}", asked.join("\n"))
}
