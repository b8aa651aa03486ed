//! Turns: from a prompt to its answer, or to the end of an agent that gives none.

use std::sync::Arc;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::{Error, UntypedMessage};
use serde_json::{Value, json};
use tokio::task::spawn_local;

use crate::fault::{fault, refused};
use crate::hub::{Hub, unknown};
use crate::message::{respond, session_id, with_session};
use crate::{changes, commands};

impl Hub {
    /// Has the agent answer a prompt; what changed meanwhile is shown before.
    pub(crate) fn prompt(
        self: &Arc<Self>,
        params: Value,
        responder: Responder,
    ) -> Result<(), Error> {
        let id = session_id(&params).unwrap_or_default().to_owned();
        let Some(session) = self.session(&id) else {
            return responder.respond_with_error(unknown(&id));
        };
        if session.link.is_over() {
            return responder.respond_with_error(session.link.explain(fault("")));
        }
        if let Some(command) = commands::typed(&params) {
            commands::run(self, &session, command, responder);
            return Ok(());
        }
        let message = UntypedMessage::new("session/prompt", with_session(params, &session.theirs))?;
        let cancellation = responder.cancellation();
        let (turn, before) = session.begin(responder);
        if let Some(before) = before {
            respond(before, Err(refused("another prompt took its place")));
        }
        let sent = session.link.connection.prepare_request(message);
        let hub = Arc::clone(self);
        sent.forward_cancellation_from(cancellation).on_receiving_result(
            async move |result: Result<Value, Error>| {
                changes::show(&hub, &session, turn).await;
                if let Some(responder) = session.finish(turn) {
                    respond(responder, result.map_err(|error| session.link.explain(error)));
                }
                Ok(())
            },
        )
    }

    /// The editor wants a turn to end: so it does, with the agent or without it.
    pub(crate) fn cancel(self: &Arc<Self>, params: &Value) {
        let session = session_id(params).and_then(|id| self.session(id));
        if let Some(session) = &session {
            session.cancelled.notify_waiters();
        }
        let Some((session, turn)) = session.and_then(|it| Some((Arc::clone(&it), it.turn()?)))
        else {
            return;
        };
        let grace = self.engine.settings().config.exec.grace;
        spawn_local(async move {
            tokio::time::sleep(grace).await;
            let Some(responder) = session.finish(turn) else { return };
            session.link.exec.cancel();
            respond(responder, Ok(json!({ "stopReason": "cancelled" })));
        });
    }
}
