//! What an agent asks the person in the editor for: policy has a say first.

use std::ffi::OsString;
use std::sync::Arc;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::{Error, UntypedMessage};
use offshoot_engine::conversation::Permission;
use offshoot_engine::exec::CommandLine;
use offshoot_engine::policy::{PolicyDecision, judge};
use serde_json::{Value, json};
use tokio::task::{spawn_blocking, spawn_local};

use crate::fault::{fault, of_engine};
use crate::hub::Hub;
use crate::link::Link;
use crate::message::respond;
use crate::place::surroundings;

/// What policy says about a tool call, where it names a command.
struct Opinion {
    decision: PolicyDecision,
    reason: String,
}

/// Answers `session/request_permission`.
pub(crate) fn ask(hub: &Arc<Hub>, link: &Arc<Link>, params: Value, responder: Responder) {
    let (hub, link) = (Arc::clone(hub), Arc::clone(link));
    spawn_local(async move {
        let answer = decide(&hub, &link, params, &responder).await;
        respond(responder, answer);
    });
}

async fn decide(
    hub: &Arc<Hub>,
    link: &Arc<Link>,
    params: Value,
    responder: &Responder,
) -> Result<Value, Error> {
    let (command, is_sure) = command(&params["toolCall"]);
    let opinion = match &command {
        Some(command) => Some(opinion(hub, link, command.clone()).await?),
        None => None,
    };
    let asked = |decision: &str, by: &str| Permission {
        title: title(&params["toolCall"]),
        command: command.as_ref().map(CommandLine::display),
        decision: decision.to_owned(),
        by: by.to_owned(),
        reason: opinion.as_ref().map(|opinion| opinion.reason.clone()),
    };
    let params = hub.as_known(link, params.clone());
    match opinion.as_ref().map(|opinion| opinion.decision) {
        Some(PolicyDecision::Deny) => {
            record(link, asked("deny", "policy")).await?;
            let reason = opinion.as_ref().map(|opinion| opinion.reason.as_str());
            let text = format!("Offshoot's policy denies this: {}", reason.unwrap_or_default());
            hub.tell("session/update", told(&params, &text));
            Ok(chosen(&params, &["reject_once", "reject_always"]))
        }
        Some(decision) if decision.runs() && is_sure && hub.settings.auto_allow => {
            let answer = chosen(&params, &["allow_once"]);
            if answer["outcome"]["outcome"] == "selected" {
                record(link, asked("allow_once", "policy")).await?;
                return Ok(answer);
            }
            in_editor(hub, link, params, responder, asked).await
        }
        Some(decision) if !decision.runs() => {
            let reason = opinion.as_ref().map(|opinion| opinion.reason.as_str());
            let reason = reason.unwrap_or_default();
            let text = format!("Offshoot's policy leaves this to a person: {reason}");
            in_editor(hub, link, with_text(params, &text), responder, asked).await
        }
        _ => in_editor(hub, link, params, responder, asked).await,
    }
}

/// Has the person in the editor decide, and records what they said.
async fn in_editor(
    hub: &Arc<Hub>,
    link: &Arc<Link>,
    params: Value,
    responder: &Responder,
    asked: impl Fn(&str, &str) -> Permission,
) -> Result<Value, Error> {
    let message = UntypedMessage::new("session/request_permission", params.clone())?;
    let sent = hub.editor()?.send_request(message);
    let answer = sent.forward_cancellation_from(responder.cancellation()).block_task().await?;
    let option = answer["outcome"]["optionId"].as_str();
    let kind = option.and_then(|option| {
        let options = params["options"].as_array()?;
        options.iter().find(|known| known["optionId"] == option)?["kind"].as_str()
    });
    record(link, asked(kind.unwrap_or("cancelled"), "editor")).await?;
    Ok(answer)
}

async fn opinion(hub: &Arc<Hub>, link: &Arc<Link>, command: CommandLine) -> Result<Opinion, Error> {
    let (hub, link) = (Arc::clone(hub), Arc::clone(link));
    let judged = spawn_blocking(move || {
        let project = link.workspace.project();
        let top = project.folder()?.unwrap_or_default();
        let (rules, context) = surroundings(&hub.settings, project, &top)?;
        let verdict = judge(&rules.policy, &command, &context);
        Ok(Opinion { decision: verdict.decision, reason: verdict.reason.into_owned() })
    });
    let judged = judged.await.map_err(|error| fault(error.to_string()))?;
    judged.map_err(|error: offshoot_engine::Error| of_engine(&error))
}

/// No decision counts that is not in the audit log.
async fn record(link: &Arc<Link>, asked: Permission) -> Result<(), Error> {
    let link = Arc::clone(link);
    let recorded = spawn_blocking(move || {
        let workspace = &link.workspace;
        workspace.project().record_permission(&workspace.id(), &asked)
    });
    let recorded = recorded.await.map_err(|error| fault(error.to_string()))?;
    recorded.map_err(|error| of_engine(&error))
}

/// The command that a tool call names, a line of shell or a list of words, and whether it is sure to be one: the title of a call
/// that runs something may be prose.
fn command(call: &Value) -> (Option<CommandLine>, bool) {
    let input = call.get("rawInput");
    let command = input.and_then(|input| input.get("command").or_else(|| input.get("cmd")));
    let named = match command {
        Some(Value::String(text)) => shell(text),
        Some(Value::Array(words)) if !words.is_empty() => {
            let words = words.iter().map(|word| word.as_str().map(OsString::from));
            words.collect::<Option<Vec<_>>>().map(CommandLine::Argv)
        }
        _ => None,
    };
    if named.is_some() {
        return (named, true);
    }
    let runs = call.get("kind").is_some_and(|kind| kind == "execute");
    let title = call.get("title").and_then(Value::as_str).filter(|_| runs);
    (title.and_then(shell), false)
}

fn shell(text: &str) -> Option<CommandLine> {
    (!text.trim().is_empty()).then(|| CommandLine::Shell(text.into()))
}

fn title(call: &Value) -> String {
    let title = call["title"].as_str().or_else(|| call["kind"].as_str()).unwrap_or("tool call");
    title.chars().take(200).collect()
}

/// The answer that picks the first option of these kinds, in this order; none where the agent offers none of them.
fn chosen(params: &Value, kinds: &[&str]) -> Value {
    let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |kind: &&str| options.iter().find(|option| option["kind"] == **kind);
    match kinds.iter().find_map(of) {
        Some(option) => {
            json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } })
        }
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// What the editor shows with a tool call that was not let happen.
fn told(params: &Value, why: &str) -> Value {
    let update = json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": params["toolCall"]["toolCallId"],
        "status": "failed",
        "content": [text(why)],
    });
    json!({ "sessionId": params["sessionId"], "update": update })
}

/// The question with a further line.
fn with_text(mut params: Value, why: &str) -> Value {
    match params["toolCall"]["content"].as_array_mut() {
        Some(content) => content.push(text(why)),
        None => params["toolCall"]["content"] = json!([text(why)]),
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_tool_call_is_found() {
        let found = |call: Value| {
            let (command, is_sure) = command(&call);
            (command.map(|line| line.display()), is_sure)
        };
        let sure = |text: &str| (Some(text.to_owned()), true);
        assert_eq!(found(json!({ "rawInput": { "command": "ls -l" } })), sure("ls -l"));
        assert_eq!(found(json!({ "rawInput": { "command": ["ls", "-l"] } })), sure("ls -l"));
        for other in [json!({}), json!({ "command": "" }), json!({ "command": [1] }), json!("ls")] {
            assert_eq!(found(json!({ "rawInput": other, "title": "ls" })), (None, false));
        }
        let titled = json!({ "kind": "execute", "title": "ls" });
        assert_eq!(found(titled), (Some("ls".to_owned()), false));
        assert_eq!(found(Value::Null), (None, false));
    }

    #[test]
    fn an_option_is_chosen_by_its_kind() {
        let options = json!([{ "optionId": "a", "kind": "allow_once" }, { "optionId": "b", "kind": "reject_always" }]);
        let params = json!({ "options": options });
        let picked = |kinds: &[&str]| chosen(&params, kinds)["outcome"]["optionId"].clone();
        assert_eq!(picked(&["allow_once"]), "a");
        assert_eq!(picked(&["reject_once", "reject_always"]), "b");
        assert_eq!(chosen(&params, &["reject_once"])["outcome"]["outcome"], "cancelled");
    }
}
