//! What the work of the agent came to.

use offshoot_coder::{Coder, PauseReason, Rested, TurnEnd, readable};
use offshoot_engine::Workspace;
use offshoot_protocol::{AgentEnding, AgentQuestionDoc, AgentRunDoc, Hint};

use super::work::failed;
use crate::context::Context;
use crate::error::Result;
use crate::invocation::{next, next_in};
use crate::render::{BAD, NAME, line, paint};

pub(super) async fn document(coder: &Coder, rested: &Rested) -> Result<AgentRunDoc> {
    let head = coder.session().head()?;
    let (ending, said, reason, questions) = match rested {
        Rested::Idle { .. } if coder.state().ended() == Some(TurnEnd::Cancelled) => {
            (AgentEnding::Cancelled, String::new(), None, Vec::new())
        }
        Rested::Idle { said } => (AgentEnding::Done, said.clone(), None, Vec::new()),
        Rested::Waiting(questions) => {
            let mut documents = Vec::new();
            for question in questions {
                let approvals = match question.is_approval {
                    true => coder.approvals(&question.key).await.map_err(failed)?,
                    false => Vec::new(),
                };
                documents.push(AgentQuestionDoc {
                    tool: question.tool.clone(),
                    arguments: question.arguments.clone(),
                    text: question.text.clone(),
                    choices: question.choices.clone(),
                    is_approval: question.is_approval,
                    approvals: approvals.iter().map(ToString::to_string).collect(),
                });
            }
            (AgentEnding::Waiting, String::new(), None, documents)
        }
        Rested::Paused(reason) => {
            let ending = match reason {
                PauseReason::Time { .. } => AgentEnding::TimedOut,
                _ => AgentEnding::Paused,
            };
            (ending, String::new(), Some(reason.to_string()), Vec::new())
        }
        Rested::Open(_) => (AgentEnding::Paused, String::new(), None, Vec::new()),
    };
    Ok(AgentRunDoc {
        session: coder.session().document()?.name,
        workspace: coder.workspace().name()?,
        ending,
        said,
        reason,
        questions,
        tokens_in: head.totals.tokens_in,
        tokens_out: head.totals.tokens_out,
        cost: head.totals.cost,
        changes: coder.workspace().difference(None, &[], false)?.document.changes,
        committed: false,
        commit: None,
    })
}

/// In a line or two: what changed where, and what it took.
pub(super) fn summary(document: &AgentRunDoc) -> String {
    let mut text = format!(
        "{} in workspace {}, session {}{}\n",
        match document.changes.len() {
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        },
        paint(NAME, &document.workspace),
        paint(NAME, &document.session),
        spent(document),
    );
    if let Some(reason) = &document.reason {
        text.push_str(&format!("{} {}\n", paint(BAD, "paused:"), line(reason)));
    }
    text
}

/// What the agent waits for, and how to decide about it.
pub(super) fn questions(document: &AgentRunDoc) -> String {
    let mut text = String::new();
    for question in &document.questions {
        let words = readable(question.text.trim_end()).replace('\n', "\n  ");
        text.push_str(&format!("{} {words}\n", paint(NAME, "?")));
        for (number, choice) in (1..).zip(&question.choices) {
            text.push_str(&format!("  {number}  {}\n", line(choice)));
        }
        for id in &question.approvals {
            let show = next(Hint::command("offshoot approvals show").arg(id));
            let approve = next(Hint::command("offshoot approvals approve").arg(id));
            let deny = next(Hint::command("offshoot approvals deny").arg(id));
            text.push_str(&format!(
                "  look: {show}\n  allow: {approve}\n  deny: {deny} -m REASON\n"
            ));
        }
    }
    text
}

/// Tokens and money, as far as they are known, each behind a comma.
pub(super) fn spent(document: &AgentRunDoc) -> String {
    let tokens = match (document.tokens_in, document.tokens_out) {
        (Some(read), Some(written)) => format!(", {read} tokens read, {written} written"),
        _ => String::new(),
    };
    let cost = document.cost.as_ref().map(|cost| format!(", ${cost}")).unwrap_or_default();
    tokens + &cost
}

/// Says what a person can do next.
pub(super) fn hints(
    document: &AgentRunDoc,
    context: &Context,
    (workspace, go_on): (&Workspace, &'static str),
) {
    if !document.committed && !document.changes.is_empty() {
        let review = next_in(&document.workspace, "offshoot review");
        let commit = next_in(&document.workspace, "offshoot commit");
        context.output.hint(format!("review: {review}   commit: {commit}"));
    }
    let words = match document.ending {
        AgentEnding::Done => return,
        AgentEnding::Waiting if document.questions.iter().any(|it| !it.is_approval) => {
            "it waits for you; put your answer behind"
        }
        AgentEnding::Waiting => "it waits for you; decide, then go on with",
        AgentEnding::Paused | AgentEnding::TimedOut => "it paused; go on with",
        AgentEnding::Cancelled
        | AgentEnding::HungUp
        | AgentEnding::Quit
        | AgentEnding::Terminated => "it was cancelled; go on with",
    };
    let mut resume = Hint::command(go_on).arg(&document.session);
    // Another session may have the same name.
    if workspace.project().session(&document.session).is_err() {
        resume = resume.words("-w").arg(&document.workspace);
    }
    context.output.hint(format!("{words} {}", next(resume)));
}
