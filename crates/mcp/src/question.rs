//! Questions to the person at the client.

use std::collections::BTreeMap;

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, RequestContext};

/// What the question is called among the requests of a result that asks for input.
const KEY: &str = "decision";
/// What a person may add.
const NOTE: &str = "note";

/// How a question gets to the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The server asks while the call goes on.
    Asks,
    /// The call answers with the question, and is called again with what was said.
    Returns,
}

/// What the person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes(Option<String>),
    No(Option<String>),
    /// Nothing: the question was closed, or could not be asked.
    Nothing,
}

/// How a client lets its user be asked, if it does.
pub(crate) fn way(context: &RequestContext<RoleServer>) -> Option<Way> {
    let can = context.client_capabilities()?.elicitation?;
    // One that says nothing of forms and addresses is from the time when there were only forms.
    if can.form.is_none() && can.url.is_some() {
        return None;
    }
    Some(match is_stateless(context) {
        true => Way::Returns,
        false => Way::Asks,
    })
}

/// Whether a request is of a revision that has no sessions, and in which servers ask nothing by themselves.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Asks, and waits for what is said.
pub(crate) async fn ask(peer: Peer<RoleServer>, message: String) -> Reply {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(message)));
    match peer.send_request(request).await {
        Ok(ClientResult::ElicitResult(result)) => said(result),
        _ => Reply::Nothing,
    }
}

/// The result that asks; `word` names what waits.
pub(crate) fn required(message: String, word: String) -> InputRequiredResult {
    let mut requests = InputRequests::new();
    requests.insert(KEY.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form(message))));
    InputRequiredResult::new(Some(requests), Some(word))
}

/// What was said, in the call that comes back.
pub(crate) fn reply(responses: Option<&InputResponses>) -> Reply {
    let value = responses.and_then(|all| all.get(KEY)).cloned().unwrap_or_default();
    serde_json::from_value::<ElicitResult>(value).map_or(Reply::Nothing, said)
}

fn said(result: ElicitResult) -> Reply {
    let note = result.content.as_ref().and_then(|content| content.get(NOTE)?.as_str());
    let note = note.map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
    match result.action {
        ElicitationAction::Accept => Reply::Yes(note),
        ElicitationAction::Decline => Reply::No(note),
        _ => Reply::Nothing,
    }
}

fn form(message: String) -> ElicitRequestParams {
    let note = serde_json::json!({
        "type": "string",
        "title": "Note",
        "description": "Recorded with your decision; the agent sees it (optional)",
    });
    let note = serde_json::from_value(note).ok();
    let properties: BTreeMap<_, _> = note.map(|note| (NOTE.to_owned(), note)).into_iter().collect();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(properties),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let of = |value| reply(Some(&InputResponses::from([(KEY.to_owned(), value)])));
        let note = Some("go on".to_owned());
        assert_eq!(
            of(json!({"action": "accept", "content": {"note": " go on "}})),
            Reply::Yes(note)
        );
        assert_eq!(of(json!({"action": "accept"})), Reply::Yes(None));
        assert_eq!(of(json!({"action": "decline"})), Reply::No(None));
        for value in [json!({"action": "cancel"}), json!({"action": "yes"}), json!({}), json!(true)]
        {
            assert_eq!(of(value), Reply::Nothing);
        }
        assert_eq!(reply(None), Reply::Nothing);
        assert_eq!(reply(Some(&InputResponses::new())), Reply::Nothing);
    }
}
