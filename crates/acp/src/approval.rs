//! Approvals in the editor: what policy leaves to a person is tried, and the person decides about what it did.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::{Error, UntypedMessage};
use offshoot_engine::approval::ApprovalScope;
use offshoot_engine::conversation::Permission;
use offshoot_engine::exec::CommandLine;
use offshoot_engine::text::command as shown;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::changes::blocks;
use crate::fault::{fault, of_engine};
use crate::hub::Hub;
use crate::link::Link;
use crate::message::text;
use crate::permission::{
    Asked, Opinion, allowed, left_to_a_person, record, refused, rejected, told, with_content,
};
use crate::session::Session;
use crate::trial::{Attempt, Trial, Word};

/// How often to look whether somebody has decided elsewhere.
const LOOK: Duration = Duration::from_millis(250);
/// The options that a person has.
const ONCE: &str = "offshoot-allow-once";
const SESSION: &str = "offshoot-allow-session";
const REJECT: &str = "offshoot-reject";

/// Has a person decide about a command, and tells the agent what they said.
pub(crate) async fn decide(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    (asked, opinion, command): (Asked, Opinion, CommandLine),
    responder: &Responder,
) -> Result<Value, Error> {
    if asked.is_sure && session.approves(&command) {
        record(&session.link, asked.decided("allow_session", "editor")).await?;
        return Ok(allowed(&asked.params));
    }
    let attempt = match opinion.untried {
        Some(why) => Attempt::Untried(why.to_owned()),
        None => attempt(hub, session, command.clone()).await?,
    };
    let (word, decided) = match attempt {
        Attempt::Refused(why) => {
            record(&session.link, asked.decided("deny", "policy")).await?;
            return Ok(rejected(hub, &asked.params, &format!("refuses this: {why}")));
        }
        Attempt::Untried(why) => {
            if let Some(why) = session.link.workspace.project().no_elicitation() {
                return nobody_asked(hub, &session.link, &asked, &opinion, why).await;
            }
            let reason = why_asked(&asked, &opinion);
            let content = vec![text(&format!("{reason}\nNot tried: {why}"))];
            let params = question(&asked.params, content);
            let word = word_of(&in_editor(hub, params, responder).await?);
            let decided = asked.decided(name(&word), "editor");
            (word, decided)
        }
        Attempt::Waits(trial) => {
            if let (None, Some(why)) = (&trial.approval, trial.project.no_elicitation()) {
                return nobody_asked(hub, &session.link, &asked, &opinion, why).await;
            }
            let trial = Arc::new(*trial);
            let answer = put(hub, session, &asked, &opinion, &trial, responder).await;
            let approval = trial.approval.as_ref().map(|approval| approval.id);
            // Its copy of the workspace goes with it.
            let _panicked = spawn_blocking(move || drop(trial)).await.is_err();
            let (word, by) = answer?;
            let decided = asked.decided(name(&word), by);
            (word, Permission { approval, ..decided })
        }
    };
    record(&session.link, decided).await?;
    match word {
        Word::Approved(scope) => {
            if scope == ApprovalScope::Session && asked.is_sure {
                session.approve(command);
            }
            Ok(allowed(&asked.params))
        }
        Word::Denied(reason) => {
            if let Some(reason) = reason {
                let why = format!("Denied: {reason}");
                hub.tell("session/update", told(&asked.params, "failed", &why));
            }
            Ok(refused(&asked.params))
        }
        Word::Gone => Ok(json!({ "outcome": { "outcome": "cancelled" } })),
    }
}

/// Refuses what waits for nobody, and may not be asked about in the editor.
pub(crate) async fn nobody_asked(
    hub: &Arc<Hub>,
    link: &Arc<Link>,
    asked: &Asked,
    opinion: &Opinion,
    why: &str,
) -> Result<Value, Error> {
    record(link, asked.decided("deny", "policy")).await?;
    let reason = &opinion.reason;
    let why =
        format!("wants an approval for this ({reason}), and nobody gives it in the editor: {why}");
    Ok(rejected(hub, &asked.params, &why))
}

/// Why somebody is asked, and about what: the title of a tool call may say something else.
fn why_asked(asked: &Asked, opinion: &Opinion) -> String {
    let command = shown(asked.command.as_deref().unwrap_or_default());
    format!("{}\nCommand: {command}", left_to_a_person(&opinion.reason))
}

/// What the audit log calls it.
fn name(word: &Word) -> &'static str {
    match word {
        Word::Approved(ApprovalScope::Session) => "allow_session",
        Word::Approved(_) => "allow_once",
        Word::Denied(_) => "reject_once",
        Word::Gone => "cancelled",
    }
}

async fn attempt(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    command: CommandLine,
) -> Result<Attempt, Error> {
    let (hub, session) = (Arc::clone(hub), Arc::clone(session));
    let tried = spawn_blocking(move || {
        Trial::attempt(&hub.settings, &session.link, &session.ours, &command)
    });
    let tried = tried.await.map_err(|error| fault(error.to_string()))?;
    // A person can decide without it.
    Ok(tried.unwrap_or_else(|error| Attempt::Untried(error.to_string())))
}

/// Waits until somebody has decided about what was tried: in the editor, where that may be, or elsewhere.
async fn put(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    asked: &Asked,
    opinion: &Opinion,
    trial: &Arc<Trial>,
    responder: &Responder,
) -> Result<(Word, &'static str), Error> {
    let reason = why_asked(asked, opinion);
    let ending = Arc::clone(&session.link.ending);
    if let Some(approval) = trial.approval.as_ref().filter(|_| !trial.project.may_elicit()) {
        let id = approval.id.short();
        let why = format!(
            "{reason}\nIt waits: `offshoot approvals show {id}`, then `offshoot approvals approve {id}` or `deny`."
        );
        hub.tell("session/update", told(&asked.params, "pending", &why));
        let cancellation = responder.cancellation();
        return tokio::select! {
            word = elsewhere(trial) => Ok((word?, "approvals")),
            () = session.cancelled.notified() => Ok((Word::Gone, "editor")),
            () = cancellation.cancelled() => Ok((Word::Gone, "editor")),
            () = ending.over.notified() => Ok((Word::Gone, "editor")),
        };
    }
    let top = trial.project.folder().ok().flatten().unwrap_or_default();
    let (mut content, mut named) = blocks(&top, &trial.changes);
    named.insert(0, reason);
    named.push(trial.told());
    content.push(text(&named.join("\n")));
    let question = question(&asked.params, content);
    tokio::select! {
        answer = in_editor(hub, question, responder) => {
            let word = word_of(&answer?);
            Ok(settle(hub, trial, word).await?)
        }
        word = elsewhere(trial) => Ok((word?, "approvals")),
        () = ending.over.notified() => Ok((Word::Gone, "editor")),
    }
}

/// Decides as the person in the editor did. Where somebody else was first, that counts.
async fn settle(
    hub: &Arc<Hub>,
    trial: &Arc<Trial>,
    word: Word,
) -> Result<(Word, &'static str), Error> {
    let approves = match &word {
        Word::Approved(scope) => Some(*scope),
        Word::Denied(_) => None,
        Word::Gone => return Ok((word, "editor")),
    };
    let client = hub.client();
    let trial = Arc::clone(trial);
    let settled = spawn_blocking(move || match trial.answer(&client, approves) {
        Ok(()) => Ok((word, "editor")),
        Err(error) => match trial.word()? {
            Some(first) => Ok((first, "approvals")),
            None => Err(error),
        },
    });
    let settled = settled.await.map_err(|error| fault(error.to_string()))?;
    settled.map_err(|error: offshoot_engine::Error| of_engine(&error))
}

/// What somebody decides elsewhere, once they have.
async fn elsewhere(trial: &Arc<Trial>) -> Result<Word, Error> {
    loop {
        let trial = Arc::clone(trial);
        let found = spawn_blocking(move || trial.word()).await;
        let found = found.map_err(|error| fault(error.to_string()))?;
        if let Some(word) = found.map_err(|error| of_engine(&error))? {
            return Ok(word);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The question with what there is to look at, and the options that an approval has.
fn question(params: &Value, content: Vec<Value>) -> Value {
    let option =
        |id: &str, name: &str, kind: &str| json!({ "optionId": id, "name": name, "kind": kind });
    let mut question = with_content(params.clone(), content);
    question["options"] = json!([
        option(ONCE, "Allow once", "allow_once"),
        option(SESSION, "Allow for this session", "allow_always"),
        option(REJECT, "Reject", "reject_once"),
    ]);
    question
}

/// Asks in the editor. Whoever does not wait for the answer any more takes the question back.
async fn in_editor(hub: &Arc<Hub>, params: Value, responder: &Responder) -> Result<Value, Error> {
    let message = UntypedMessage::new("session/request_permission", params)?;
    let sent = hub.editor()?.send_request(message);
    sent.forward_cancellation_from(responder.cancellation()).block_task().await
}

/// What the person in the editor said.
fn word_of(answer: &Value) -> Word {
    match answer["outcome"]["optionId"].as_str() {
        Some(ONCE) => Word::Approved(ApprovalScope::Once),
        Some(SESSION) => Word::Approved(ApprovalScope::Session),
        Some(REJECT) => Word::Denied(None),
        _ => Word::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_counts() {
        let of = |option: &str| {
            word_of(&json!({ "outcome": { "outcome": "selected", "optionId": option } }))
        };
        assert_eq!(of(ONCE), Word::Approved(ApprovalScope::Once));
        assert_eq!(of(SESSION), Word::Approved(ApprovalScope::Session));
        assert_eq!(of(REJECT), Word::Denied(None));
        assert_eq!(of("yes"), Word::Gone);
        assert_eq!(word_of(&json!({ "outcome": { "outcome": "cancelled" } })), Word::Gone);
    }
}
