//! Sessions from their opening to their close, and the processes that hold them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::{Error, UntypedMessage};
use offshoot_engine::conversation::Conversation;
use serde_json::{Value, json};

use crate::fault::{fault, not_offered, of_engine, refused};
use crate::hub::{Hub, unknown};
use crate::link::Link;
use crate::message::{required_id, respond, session_id, with_session};
use crate::place::Place;
use crate::session::Session;
use crate::{commands, name, start};

/// Where an agent says that it forks sessions.
const FORK: &str = "/agentCapabilities/sessionCapabilities/fork";

impl Hub {
    /// Starts the first process, which says what the agent can do.
    pub(crate) async fn initialize(self: &Arc<Self>, params: Value) -> Result<Value, Error> {
        if params.get("protocolVersion").and_then(Value::as_u64).is_none() {
            return Err(refused("protocolVersion is missing"));
        }
        self.state().initialize = Some(for_agent(params));
        let here = self.engine.directory().map_err(|error| of_engine(&error))?;
        let (link, answer) = self.start(Place::New(here)).await?;
        let mut state = self.state();
        state.forks = answer.pointer(FORK).is_some_and(Value::is_object);
        state.first = Some(link);
        state.is_free = true;
        Ok(for_editor(answer))
    }

    /// Opens a session: new, or one that the agent had before.
    pub(crate) async fn open(self: Arc<Self>, method: String, params: Value, responder: Responder) {
        let link = match self.link_for(&method, &params).await {
            Ok(link) => link,
            Err(error) => return respond(responder, Err(error)),
        };
        let (hub, of) = (Arc::clone(&self), Arc::clone(&link));
        // What it says while it loads is about a session that the editor knows.
        let id = session_id(&params).map(str::to_owned);
        let (known, params) = match id {
            // The new session is yet to get an id.
            Some(id) if method == "session/fork" => {
                (None, with_session(params, &theirs(&link, &id)))
            }
            Some(id) => {
                let session = self.add(&id, &theirs(&link, &id), &link);
                let params = with_session(params, &session.theirs);
                (Some(session), params)
            }
            None => (None, params),
        };
        let sent = UntypedMessage::new(&method, params);
        let sent = sent.map(|message| link.connection.prepare_request(message));
        let opened = sent.and_then(|sent| {
            let sent = sent.forward_cancellation_from(responder.cancellation());
            sent.on_receiving_result(async move |result: Result<Value, Error>| {
                let result = hub.opened(known, &of, result);
                if result.is_err() {
                    hub.give_back(&of).await;
                }
                let ours = result.as_ref().ok().map(|(ours, _)| ours.clone());
                let answer = result.map(|(_, answer)| answer);
                respond(responder, answer.map_err(|error| of.explain(error)));
                // Only now does the editor know it.
                if let Some(ours) = ours {
                    commands::offer(&hub, &ours);
                }
                Ok(())
            })
        });
        if let Err(error) = opened {
            (self.log)(&format!("offshoot: {method}: {}", crate::fault::text(&error)));
        }
    }

    /// Registers the session that an agent opened, before anything that it says about it.
    fn opened(
        &self,
        known: Option<Arc<Session>>,
        link: &Arc<Link>,
        result: Result<Value, Error>,
    ) -> Result<(String, Value), Error> {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                if let Some(session) = known {
                    self.state().sessions.remove(&session.ours);
                }
                return Err(error);
            }
        };
        let (session, answer) = match known {
            Some(session) => (session, answer),
            None => {
                let theirs = session_id(&answer)
                    .map(str::to_owned)
                    .ok_or_else(|| fault("the agent opened a session without an id"))?;
                let session = self.add(&self.free_id(&theirs), &theirs, link);
                let answer = with_session(answer, &session.ours);
                (session, answer)
            }
        };
        let workspace = link.workspace.id().to_string();
        let noted = Conversation { session: session.theirs.clone(), workspace };
        if let Err(error) = link.workspace.project().note_conversation(&session.ours, &noted) {
            (self.log)(&format!("offshoot: {error}"));
        }
        Ok((session.ours.clone(), answer))
    }

    /// The process for a session: the one that it has, the first where that is free, or a new one.
    async fn link_for(self: &Arc<Self>, method: &str, params: &Value) -> Result<Arc<Link>, Error> {
        let folder = params.get("cwd").and_then(Value::as_str).map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_absolute());
        let folder = folder.ok_or_else(|| refused("cwd has to be an absolute path"))?;
        if method == "session/new" {
            if let Some(link) = self.take_first(&folder) {
                return Ok(link);
            }
            return Ok(self.start(Place::New(folder)).await?.0);
        }
        let id = required_id(params)?;
        if method == "session/fork" {
            return self.forked(folder, &id).await;
        }
        if let Some(session) = self.session(&id).filter(|session| !session.link.is_over()) {
            return Ok(Arc::clone(&session.link));
        }
        Ok(self.start(Place::Before(folder, id)).await?.0)
    }

    /// A process in a workspace that has what the agent of a session has written so far.
    async fn forked(self: &Arc<Self>, folder: PathBuf, id: &str) -> Result<Arc<Link>, Error> {
        if !self.state().forks {
            return Err(not_offered("this agent forks no sessions; open a new one"));
        }
        let session = self.session(id).ok_or_else(|| unknown(id))?;
        let (link, agent) = (Arc::clone(&session.link), name::agent(&self.settings));
        let made = tokio::task::spawn_blocking(move || link.fork(&agent)).await;
        let made = made.map_err(|error| fault(error.to_string()))?;
        let made = made.map_err(|error| of_engine(&error))?;
        Ok(self.start(Place::In(folder, made)).await?.0)
    }

    /// The first process, if it has no session and is in the project of this folder.
    fn take_first(&self, folder: &Path) -> Option<Arc<Link>> {
        let mut state = self.state();
        let link = state.first.as_ref().filter(|link| !link.is_over() && link.holds(folder))?;
        let link = Arc::clone(link);
        std::mem::take(&mut state.is_free).then_some(link)
    }

    /// What became of a process whose session could not be opened: the first waits for the next, any other ends.
    async fn give_back(self: &Arc<Self>, link: &Arc<Link>) {
        let is_first = {
            let mut state = self.state();
            let is_first = state.first.as_ref().is_some_and(|first| Arc::ptr_eq(first, link));
            let is_used = state.sessions.values().any(|session| Arc::ptr_eq(&session.link, link));
            state.is_free |= is_first && !is_used;
            is_first || is_used
        };
        if !is_first {
            let (hub, link) = (Arc::clone(self), Arc::clone(link));
            // Not here: its connection waits for this.
            tokio::task::spawn_local(async move { hub.end(&link).await });
        }
    }

    async fn start(self: &Arc<Self>, place: Place) -> Result<(Arc<Link>, Value), Error> {
        let (initialize, authenticate) = {
            let state = self.state();
            (state.initialize.clone(), state.authenticate.clone())
        };
        let initialize = initialize.ok_or_else(|| refused("initialize comes first"))?;
        let link = start::start(self, place).await?;
        self.state().links.push(Arc::clone(&link));
        let answer = match link.first_words(initialize, authenticate).await {
            Ok(answer) => answer,
            Err(error) => {
                self.end(&link).await;
                return Err(error);
            }
        };
        Ok((link, answer))
    }

    /// Closes a session, and ends its process.
    pub(crate) async fn close(self: Arc<Self>, params: Value) -> Result<Value, Error> {
        let id = required_id(&params)?;
        let session = self.session(&id).ok_or_else(|| unknown(&id))?;
        let params = with_session(params, &session.theirs);
        // Whether it knows that or not, it ends.
        let _answer = session.link.ask("session/close", params).await;
        self.state().sessions.remove(&id);
        self.end(&session.link).await;
        Ok(json!({}))
    }

    async fn end(&self, link: &Arc<Link>) {
        let had_session = {
            let mut state = self.state();
            state.links.retain(|known| !Arc::ptr_eq(known, link));
            link.had_session()
        };
        link.end().await;
        let (link, log) = (Arc::clone(link), Arc::clone(&self.log));
        let removed = tokio::task::spawn_blocking(move || match had_session {
            true => Ok(()),
            false => link.remove_if_unused(),
        });
        if let Ok(Err(error)) = removed.await {
            log(&format!("offshoot: {error}"));
        }
    }

    /// Ends all agents, at once.
    pub(crate) async fn end_all(&self) {
        let links = self.state().links.clone();
        futures::future::join_all(links.iter().map(|link| self.end(link))).await;
    }
}

/// What an agent calls a session that the editor takes up again.
fn theirs(link: &Arc<Link>, ours: &str) -> String {
    let noted = link.workspace.project().conversation(ours);
    noted.map_or_else(|| ours.to_owned(), |noted| noted.session)
}

/// What an agent is told about the editor: files are read and written in the workspace, and commands are run there.
fn for_agent(mut params: Value) -> Value {
    params["protocolVersion"] = json!(1);
    if !params["clientCapabilities"].is_object() {
        params["clientCapabilities"] = json!({});
    }
    params["clientCapabilities"]["fs"] = json!({ "readTextFile": true, "writeTextFile": true });
    params["clientCapabilities"]["terminal"] = json!(false);
    params
}

/// What the editor is told about the agent.
fn for_editor(mut answer: Value) -> Value {
    if !answer["agentCapabilities"].is_object() {
        answer["agentCapabilities"] = json!({});
    }
    let sessions = &mut answer["agentCapabilities"]["sessionCapabilities"];
    if !sessions.is_object() {
        *sessions = json!({});
    }
    sessions["close"] = json!({});
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_gets_files_and_no_terminals() {
        let told = for_agent(json!({
            "protocolVersion": 2,
            "clientCapabilities": { "terminal": true, "fs": { "readTextFile": false }, "_meta": { "x": 1 } },
        }));
        let fs = json!({ "readTextFile": true, "writeTextFile": true });
        let abilities = json!({ "terminal": false, "fs": fs, "_meta": { "x": 1 } });
        assert_eq!(told, json!({ "protocolVersion": 1, "clientCapabilities": abilities }));
    }

    #[test]
    fn the_editor_is_told_what_can_be_passed_on() {
        let abilities =
            json!({ "loadSession": true, "sessionCapabilities": { "fork": {}, "list": {} } });
        let told = for_editor(json!({ "protocolVersion": 1, "agentCapabilities": abilities }));
        assert_eq!(
            told["agentCapabilities"],
            json!({ "loadSession": true, "sessionCapabilities": { "fork": {}, "list": {}, "close": {} } })
        );
    }
}
