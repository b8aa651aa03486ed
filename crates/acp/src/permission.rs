//! What an agent asks the person in the editor for: policy has a say first.

use std::ffi::OsString;
use std::sync::Arc;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::{Error, UntypedMessage};
use offshoot_engine::conversation::Permission;
use offshoot_engine::exec::{CommandLine, Network};
use offshoot_engine::policy::{EffectCategory, PolicyDecision, judge};
use serde_json::{Value, json};
use tokio::task::{spawn_blocking, spawn_local};

use crate::approval;
use crate::fault::{fault, of_engine};
use crate::hub::Hub;
use crate::link::Link;
use crate::message::{respond, session_id, text};
use crate::place::surroundings;

/// What policy says about a tool call, where it names a command.
pub(crate) struct Opinion {
    decision: PolicyDecision,
    pub(crate) reason: String,
    /// Why the command cannot be tried; none where it can.
    pub(crate) untried: Option<&'static str>,
}

/// What an agent asks for.
pub(crate) struct Asked {
    /// The question, as the editor knows its session.
    pub(crate) params: Value,
    title: String,
    /// The command that is judged.
    pub(crate) command: Option<String>,
    /// It is sure to be one: a title may be prose.
    pub(crate) is_sure: bool,
    reason: Option<String>,
}

impl Asked {
    /// What is recorded of a decision.
    pub(crate) fn decided(&self, decision: &str, by: &str) -> Permission {
        Permission {
            title: self.title.clone(),
            command: self.command.clone(),
            decision: decision.to_owned(),
            by: by.to_owned(),
            reason: self.reason.clone(),
            approval: None,
        }
    }
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
    let session = session_id(&params).and_then(|theirs| hub.session_of(link, theirs));
    let asked = Asked {
        title: title(&params["toolCall"]),
        command: command.as_ref().map(CommandLine::display),
        is_sure,
        reason: opinion.as_ref().map(|opinion| opinion.reason.clone()),
        params: hub.as_known(link, params),
    };
    let (Some(opinion), Some(command)) = (opinion, command) else {
        return in_editor(hub, link, asked, responder).await;
    };
    match opinion.decision {
        PolicyDecision::Deny => {
            record(link, asked.decided("deny", "policy")).await?;
            Ok(rejected(hub, &asked.params, &format!("denies this: {}", opinion.reason)))
        }
        decision if decision.runs() => {
            let answer = chosen(&asked.params, &["allow_once"]);
            let is_allowed = is_sure && hub.settings.auto_allow && is_selected(&answer);
            if is_allowed {
                record(link, asked.decided("allow_once", "policy")).await?;
                return Ok(answer);
            }
            in_editor(hub, link, asked, responder).await
        }
        _ => match session.filter(|_| is_selected(&allowed(&asked.params))) {
            Some(session) => {
                approval::decide(hub, &session, (asked, opinion, command), responder).await
            }
            None => {
                if let Some(why) = link.workspace.project().no_elicitation() {
                    return approval::nobody_asked(hub, link, &asked, &opinion, why).await;
                }
                let why = left_to_a_person(&opinion.reason);
                let params = with_content(asked.params, vec![text(&why)]);
                in_editor(hub, link, Asked { params, ..asked }, responder).await
            }
        },
    }
}

/// Why somebody is asked.
pub(crate) fn left_to_a_person(reason: &str) -> String {
    format!("Offshoot's policy leaves this to a person: {reason}")
}

/// Has the person in the editor decide, and records what they said.
async fn in_editor(
    hub: &Arc<Hub>,
    link: &Arc<Link>,
    asked: Asked,
    responder: &Responder,
) -> Result<Value, Error> {
    let message = UntypedMessage::new("session/request_permission", asked.params.clone())?;
    let sent = hub.editor()?.send_request(message);
    let answer = sent.forward_cancellation_from(responder.cancellation()).block_task().await?;
    let option = answer["outcome"]["optionId"].as_str();
    let kind = option.and_then(|option| {
        let options = asked.params["options"].as_array()?;
        options.iter().find(|known| known["optionId"] == option)?["kind"].as_str()
    });
    record(link, asked.decided(kind.unwrap_or("cancelled"), "editor")).await?;
    Ok(answer)
}

async fn opinion(hub: &Arc<Hub>, link: &Arc<Link>, command: CommandLine) -> Result<Opinion, Error> {
    let (hub, link) = (Arc::clone(hub), Arc::clone(link));
    let judged = spawn_blocking(move || {
        let project = link.workspace.project();
        let top = project.folder()?.unwrap_or_default();
        let (rules, context) = surroundings(&hub.settings, project, &top)?;
        let verdict = judge(&rules.policy, &command, &context);
        let untried = if context.unconfined {
            Some("it would run without walls")
        } else if context.network != Network::None
            && verdict.categories.contains(EffectCategory::Networked)
        {
            Some("it uses the network, and trials have none")
        } else {
            None
        };
        let (decision, reason) = (verdict.decision, verdict.reason.into_owned());
        Ok(Opinion { decision, reason, untried })
    });
    let judged = judged.await.map_err(|error| fault(error.to_string()))?;
    judged.map_err(|error: offshoot_engine::Error| of_engine(&error))
}

/// No decision counts that is not in the audit log.
pub(crate) async fn record(link: &Arc<Link>, asked: Permission) -> Result<(), Error> {
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

/// The answer that lets it happen this once.
pub(crate) fn allowed(params: &Value) -> Value {
    chosen(params, &["allow_once"])
}

/// The answer that does not let it happen, of which the editor is told why.
pub(crate) fn rejected(hub: &Hub, params: &Value, why: &str) -> Value {
    hub.tell("session/update", told(params, "failed", &format!("Offshoot's policy {why}")));
    refused(params)
}

/// The answer that does not let it happen.
pub(crate) fn refused(params: &Value) -> Value {
    chosen(params, &["reject_once", "reject_always"])
}

fn is_selected(answer: &Value) -> bool {
    answer["outcome"]["outcome"] == "selected"
}

/// What the editor shows with a tool call.
pub(crate) fn told(params: &Value, status: &str, why: &str) -> Value {
    let update = json!({
        "sessionUpdate": "tool_call_update",
        "toolCallId": params["toolCall"]["toolCallId"],
        "status": status,
        "content": [text(why)],
    });
    json!({ "sessionId": params["sessionId"], "update": update })
}

/// The question with more to look at.
pub(crate) fn with_content(mut params: Value, more: Vec<Value>) -> Value {
    match params["toolCall"]["content"].as_array_mut() {
        Some(content) => content.extend(more),
        None => params["toolCall"]["content"] = json!(more),
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
