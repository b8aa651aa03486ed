//! The agent's side: what it asks for and says, by the name of the method.

use std::sync::Arc;

use agent_client_protocol::v1::{Dispatch, Responder};
use agent_client_protocol::{Error, UntypedMessage};
use serde_json::Value;

use crate::fault::{fault, not_offered};
use crate::hub::Hub;
use crate::link::Link;
use crate::{commands, files, permission};

/// Answers an agent, or passes on what it says.
pub(crate) fn receive(
    hub: &Arc<Hub>,
    link: Option<&Arc<Link>>,
    dispatch: Dispatch,
) -> Result<(), Error> {
    match dispatch {
        Dispatch::Request(message, responder) => {
            let (method, params) = message.into_parts();
            match link {
                Some(link) => answer(hub, link, &method, params, responder),
                None => responder.respond_with_error(fault("it is too early for that")),
            }
        }
        Dispatch::Notification(message) => {
            let (method, params) = message.into_parts();
            if method.starts_with("$/") {
                return Ok(());
            }
            let params = match link {
                Some(link) => hub.as_known(link, params),
                None => params,
            };
            hub.tell(&method, commands::added(params));
            Ok(())
        }
        Dispatch::Response(result, router) => router.route_with_result(result),
    }
}

fn answer(
    hub: &Arc<Hub>,
    link: &Arc<Link>,
    method: &str,
    params: Value,
    responder: Responder,
) -> Result<(), Error> {
    match method {
        "fs/read_text_file" => files::read(link, params, responder),
        "fs/write_text_file" => files::write(link, params, responder),
        "session/request_permission" => permission::ask(hub, link, params, responder),
        _ if method.starts_with("terminal/") => {
            return responder.respond_with_error(not_offered(
                "there are no terminals of the editor here: run the command yourself, in the workspace",
            ));
        }
        _ => {
            let message = UntypedMessage::new(method, hub.as_known(link, params))?;
            return hub.editor()?.send_request(message).forward_response_to(responder);
        }
    }
    Ok(())
}
