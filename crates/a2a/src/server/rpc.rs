//! The binding to JSON-RPC 2.0.

use http::request::Parts;
use http::{Method, StatusCode};
use hyper::body::Incoming;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::intake::{self, read};
use super::reply::{self, Answer, plain};
use super::shared::Shared;
use super::stream::{self, Framing};
use crate::bounds;
use crate::fault::{A2aCode, A2aFault};
use crate::limits::A2aLimits;
use crate::service::Caller;
use crate::wire::A2aSend;

const JSON: &str = "application/json";

/// A call.
#[derive(Debug, PartialEq)]
struct Call {
    id: Value,
    method: String,
    params: Value,
}

/// Answers a request to the path of this binding.
pub(super) async fn answer(
    shared: &Shared,
    caller: &Caller,
    parts: &Parts,
    body: Incoming,
) -> Answer {
    if parts.method != Method::POST {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "JSON-RPC is asked by POST\n");
    }
    let bytes = match intake::body(shared, parts, body).await {
        Ok(bytes) => bytes,
        Err((status, fault)) => return reply::json(status, JSON, &failed(&Value::Null, &fault)),
    };
    let call = match parse(&bytes, &shared.service.hub.limits) {
        Ok(call) => call,
        Err((id, fault)) => return reply::json(StatusCode::OK, JSON, &failed(&id, &fault)),
    };
    let id = call.id.clone();
    let done = match intake::version(parts) {
        Ok(()) => dispatch(shared, caller, call).await,
        Err(fault) => Err(fault),
    };
    match done {
        Ok(Done::Value(result)) => reply::json(
            StatusCode::OK,
            JSON,
            &json!({"jsonrpc": "2.0", "id": id, "result": result}),
        ),
        Ok(Done::Stream(answer)) => answer,
        Err(fault) => reply::json(StatusCode::OK, JSON, &failed(&id, &fault)),
    }
}

enum Done {
    Value(Value),
    Stream(Answer),
}

async fn dispatch(shared: &Shared, caller: &Caller, call: Call) -> Result<Done, A2aFault> {
    let service = &shared.service;
    let Call { id, method, params } = call;
    match method.as_str() {
        "SendMessage" => done(&service.send(caller, read(params)?).await?),
        "GetTask" => done(&service.get(caller, &read(params)?).await?),
        "ListTasks" => done(&service.list(caller, read(params)?).await?),
        "CancelTask" => done(&service.cancel(caller, &read(params)?).await?),
        "CreateTaskPushNotificationConfig" => {
            done(&service.create_push(caller, read(params)?).await?)
        }
        "GetTaskPushNotificationConfig" => done(&service.get_push(caller, &read(params)?).await?),
        "ListTaskPushNotificationConfigs" => {
            done(&service.list_pushes(caller, &read(params)?).await?)
        }
        "DeleteTaskPushNotificationConfig" => {
            service.delete_push(caller, &read(params)?).await?;
            Ok(Done::Value(json!({})))
        }
        "GetExtendedAgentCard" => done(service.extended_card(caller)?),
        "SendStreamingMessage" => {
            let place = stream::place(shared)?;
            let send: A2aSend = read(params)?;
            let history = send.configuration.history_length;
            let sent = service.begin(caller, send).await?;
            let framing = Framing::Rpc(id);
            Ok(Done::Stream(stream::of_message(shared, sent, history, framing, place)))
        }
        "SubscribeToTask" => {
            let place = stream::place(shared)?;
            let (record, updates) = service.subscribe(caller, &read(params)?).await?;
            let framing = Framing::Rpc(id);
            Ok(Done::Stream(stream::of_task(shared, record, updates, framing, place)))
        }
        _ => {
            let method: String = method.chars().take(100).collect();
            let message = "there is no such method in revision 1.0";
            Err(A2aFault::new(A2aCode::MethodNotFound, message).with("method", method))
        }
    }
}

fn done(result: &impl Serialize) -> Result<Done, A2aFault> {
    let written = serde_json::to_value(result);
    let failed = |_| A2aFault::new(A2aCode::Internal, "the answer cannot be written");
    written.map(Done::Value).map_err(failed)
}

/// Reads a call; what is wrong comes with the id to answer with.
fn parse(bytes: &[u8], limits: &A2aLimits) -> Result<Call, (Value, Box<A2aFault>)> {
    bounds::check(bytes, limits).map_err(|fault| (Value::Null, Box::new(fault)))?;
    let wrong = |message: &str| Box::new(A2aFault::new(A2aCode::InvalidRequest, message));
    let no_json = |_| Box::new(A2aFault::new(A2aCode::Parse, "the request is no JSON"));
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| (Value::Null, no_json(error)))?;
    let Value::Object(mut call) = value else {
        return Err((Value::Null, wrong("one request is one object; there are no batches")));
    };
    let id = match call.remove("id") {
        Some(id @ (Value::String(_) | Value::Null)) => id,
        Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Value::Number(id),
        _ => return Err((Value::Null, wrong("the id has to be a text, an integer or null"))),
    };
    if call.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err((id, wrong("jsonrpc has to be \"2.0\"")));
    }
    let Some(Value::String(method)) = call.remove("method") else {
        return Err((id, wrong("the method has to be a text")));
    };
    let params = match call.remove("params") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(params @ Value::Object(_)) => params,
        Some(_) => {
            let fault = A2aFault::params("the parameters have to be an object");
            return Err((id, Box::new(fault)));
        }
    };
    Ok(Call { id, method, params })
}

fn failed(id: &Value, fault: &A2aFault) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": fault.to_rpc()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read() {
        let limits = A2aLimits::default();
        let call = parse(br#"{"jsonrpc":"2.0","id":7,"method":"GetTask"}"#, &limits).unwrap();
        let wanted = Call { id: json!(7), method: "GetTask".to_owned(), params: json!({}) };
        assert_eq!(call, wanted);
        for (text, id, code) in [
            ("", Value::Null, A2aCode::Parse),
            ("{", Value::Null, A2aCode::Parse),
            ("[]", Value::Null, A2aCode::InvalidRequest),
            ("7", Value::Null, A2aCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","method":"a"}"#, Value::Null, A2aCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, Value::Null, A2aCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, Value::Null, A2aCode::InvalidRequest),
            (r#"{"jsonrpc":"1.0","id":"x","method":"a"}"#, json!("x"), A2aCode::InvalidRequest),
            (r#"{"id":"x","method":"a"}"#, json!("x"), A2aCode::InvalidRequest),
            (r#"{"jsonrpc":"2.0","id":"x","method":1}"#, json!("x"), A2aCode::InvalidRequest),
            (
                r#"{"jsonrpc":"2.0","id":"x","method":"a","params":[]}"#,
                json!("x"),
                A2aCode::InvalidParams,
            ),
        ] {
            let (found, fault) = parse(text.as_bytes(), &limits).unwrap_err();
            assert_eq!((found, fault.code), (id, code), "{text}");
        }
    }
}
