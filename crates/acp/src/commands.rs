//! Commands that a person types in the editor's chat, which are Offshoot's and not the agent's.

use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use serde_json::{Value, json};
use tokio::task::{spawn_blocking, spawn_local};

use crate::fault::{fault, of_engine};
use crate::hub::Hub;
use crate::message::respond;
use crate::session::Session;

const SAVE: &str = "offshoot-save";
const SAVE_MEANS: &str =
    "Make a workspace of what the agent has written so far, to review and commit it";

/// What was typed.
pub(crate) enum Typed {
    Save,
}

/// The command that a prompt is.
pub(crate) fn typed(params: &Value) -> Option<Typed> {
    let text = params["prompt"].get(0)?["text"].as_str()?;
    (text.trim().strip_prefix('/')? == SAVE).then_some(Typed::Save)
}

/// Tells the editor which commands there are.
pub(crate) fn offer(hub: &Hub, session: &str) {
    let update = json!({ "sessionUpdate": UPDATE, "availableCommands": [] });
    hub.tell("session/update", added(json!({ "sessionId": session, "update": update })));
}

const UPDATE: &str = "available_commands_update";

/// A message of the agent, with the commands of Offshoot where it lists its own.
pub(crate) fn added(mut params: Value) -> Value {
    let update = params.get_mut("update").filter(|update| update["sessionUpdate"] == UPDATE);
    let commands = update.and_then(|update| update.get_mut("availableCommands")?.as_array_mut());
    if let Some(commands) = commands {
        commands.push(json!({ "name": SAVE, "description": SAVE_MEANS }));
    }
    params
}

/// Does what was typed, and answers as an agent would.
pub(crate) fn run(hub: &Arc<Hub>, session: &Arc<Session>, typed: Typed, responder: Responder) {
    let (hub, session) = (Arc::clone(hub), Arc::clone(session));
    spawn_local(async move {
        let done = match typed {
            Typed::Save => save(&session).await,
        };
        let answer = done.map(|text| {
            let chunk = json!({
                "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": text },
            });
            hub.tell("session/update", json!({ "sessionId": session.ours, "update": chunk }));
            json!({ "stopReason": "end_turn" })
        });
        respond(responder, answer);
    });
}

async fn save(session: &Arc<Session>) -> Result<String, Error> {
    let link = Arc::clone(&session.link);
    let saved = spawn_blocking(move || link.fork(&format!("{}-saved", link.name))?.name()).await;
    let name = saved.map_err(|error| fault(error.to_string()))?;
    let name = name.map_err(|error| of_engine(&error))?;
    Ok(format!(
        "Workspace {name} has what the agent has written so far: `offshoot review -w {name}`, then `offshoot commit -w {name}`."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_command_of_its_own_is_taken() {
        let prompt = |text: &str| json!({ "prompt": [{ "type": "text", "text": text }] });
        assert!(typed(&prompt("/offshoot-save\n")).is_some());
        for other in ["offshoot-save", "/offshoot-saved", "/help", "say /offshoot-save"] {
            assert!(typed(&prompt(other)).is_none(), "{other}");
        }
        assert!(typed(&json!({ "prompt": [] })).is_none());
    }

    #[test]
    fn the_commands_of_the_agent_stay() {
        let update = |commands: Value| json!({ "update": { "sessionUpdate": UPDATE, "availableCommands": commands } });
        let all = added(update(json!([{ "name": "help", "description": "Help" }])));
        let names: Vec<&Value> = all["update"]["availableCommands"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|command| &command["name"])
            .collect();
        assert_eq!(names, ["help", SAVE]);
        let other = json!({ "update": { "sessionUpdate": "plan" } });
        assert_eq!(added(other.clone()), other);
    }
}
