//! The editor's side: what it asks for, by the name of the method.

use std::io::{Read, Write};
use std::sync::Arc;

use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder};
use agent_client_protocol::{Agent, Client, Error, Lines, UntypedMessage};
use serde_json::Value;
use tokio::task::spawn_local;

use crate::fault::fault;
use crate::hub::Hub;
use crate::lines;
use crate::message::respond;

/// Answers the editor until its end is closed.
pub(crate) async fn serve(
    hub: &Arc<Hub>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), Error> {
    let failed = |error: std::io::Error| fault(error.to_string());
    let input = lines::reading(input).map_err(failed)?;
    let (output, writer) = lines::writing(output).map_err(failed)?;
    let transport = Lines::new(lines::outgoing(output), lines::incoming(input));
    let known = Arc::clone(hub);
    let served = Agent
        .v1()
        .name("offshoot")
        .on_receive_dispatch(
            async move |dispatch: Dispatch, editor: ConnectionTo<Client>| {
                known.meet(editor);
                receive(&known, dispatch)
            },
            agent_client_protocol::on_receive_dispatch!(),
        )
        .connect_to(transport)
        .await;
    // It ends with the last line that was accepted; one who does not read is not waited for.
    let _panicked = tokio::task::spawn_blocking(move || writer.join()).await.is_err();
    served
}

fn receive(hub: &Arc<Hub>, dispatch: Dispatch) -> Result<(), Error> {
    match dispatch {
        Dispatch::Request(message, responder) => {
            let (method, params) = message.into_parts();
            answer(hub, method, params, responder)
        }
        Dispatch::Notification(message) => {
            let (method, params) = message.into_parts();
            hub.notice(&method, params);
            Ok(())
        }
        Dispatch::Response(result, router) => router.route_with_result(result),
    }
}

fn answer(
    hub: &Arc<Hub>,
    method: String,
    params: Value,
    responder: Responder,
) -> Result<(), Error> {
    let hub = Arc::clone(hub);
    match method.as_str() {
        "initialize" => {
            spawn_local(async move { respond(responder, hub.initialize(params).await) });
        }
        "session/new" | "session/load" | "session/resume" | "session/fork" => {
            spawn_local(async move { hub.open(method, params, responder).await });
        }
        "session/close" => {
            spawn_local(async move { respond(responder, hub.close(params).await) });
        }
        "session/prompt" => hub.prompt(params, responder)?,
        _ => pass(&hub, &method, params, responder)?,
    }
    Ok(())
}

/// Has the agent of a session answer, or the first one where it is about none.
fn pass(hub: &Arc<Hub>, method: &str, params: Value, responder: Responder) -> Result<(), Error> {
    let (link, params) = match hub.addressed(params) {
        Ok(found) => found,
        Err(error) => return responder.respond_with_error(error),
    };
    let login = (method == "authenticate").then(|| params.clone());
    let sent = link.connection.prepare_request(UntypedMessage::new(method, params)?);
    let (known, of) = (Arc::clone(hub), Arc::clone(&link));
    sent.forward_cancellation_from(responder.cancellation()).on_receiving_result(
        async move |result: Result<Value, Error>| {
            if let Some(login) = login.filter(|_| result.is_ok()) {
                known.logged_in(login);
            }
            respond(responder, result.map_err(|error| of.explain(error)));
            Ok(())
        },
    )
}
