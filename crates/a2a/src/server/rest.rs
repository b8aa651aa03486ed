//! The binding to HTTP with JSON: paths and methods say what is asked for.

use http::header::ACCEPT;
use http::request::Parts;
use http::{Method, StatusCode};
use hyper::body::Incoming;
use serde_json::{Map, Value, json, to_value};

use super::intake::{self, read};
use super::query::{decoded, pairs};
use super::reply::{self, Answer};
use super::shared::Shared;
use super::stream::{self, Framing};
use crate::bounds;
use crate::fault::{A2aCode, A2aFault};
use crate::service::Caller;
use crate::wire::{A2aPushConfig, A2aSend};

/// The media type of this binding.
const A2A: &str = "application/a2a+json";
/// What some clients ask for instead.
const JSON: &str = "application/json";

/// Answers a request below the path of this binding.
pub(super) async fn answer(
    shared: &Shared,
    caller: &Caller,
    parts: &Parts,
    path: &str,
    body: Incoming,
) -> Answer {
    let kind = kind(parts);
    let asked = match intake::version(parts) {
        Ok(()) => asked(shared, parts, path, body).await,
        Err(fault) => Err(status_of(fault)),
    };
    let done = match asked {
        Ok((operation, params)) => dispatch(shared, caller, operation, params, kind).await,
        Err(refused) => Err(refused),
    };
    match done {
        Ok(answer) => answer,
        Err((status, fault)) => reply::json(status, kind, &fault.to_rest()),
    }
}

type Refused = (StatusCode, A2aFault);

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Send,
    Stream,
    List,
    Get,
    Cancel,
    Subscribe,
    CreatePush,
    ListPushes,
    GetPush,
    DeletePush,
    ExtendedCard,
}

/// The operation that a method and a path name, and the fields that the path gives.
fn route(method: &Method, path: &str) -> Option<(Operation, Vec<(&'static str, String)>)> {
    use Operation as O;
    let is = |wanted: &Method| method == wanted;
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    Some(match segments.as_slice() {
        ["message:send"] if is(&Method::POST) => (O::Send, vec![]),
        ["message:stream"] if is(&Method::POST) => (O::Stream, vec![]),
        ["extendedAgentCard"] if is(&Method::GET) => (O::ExtendedCard, vec![]),
        ["tasks"] if is(&Method::GET) => (O::List, vec![]),
        ["tasks", task] => match task.rsplit_once(':') {
            Some((id, "cancel")) if is(&Method::POST) => (O::Cancel, vec![("id", decoded(id)?)]),
            Some((id, "subscribe")) if is(&Method::POST) || is(&Method::GET) => {
                (O::Subscribe, vec![("id", decoded(id)?)])
            }
            None if is(&Method::GET) => (O::Get, vec![("id", decoded(task)?)]),
            _ => return None,
        },
        ["tasks", task, "pushNotificationConfigs"] => {
            let task = ("taskId", decoded(task)?);
            match () {
                () if is(&Method::POST) => (O::CreatePush, vec![task]),
                () if is(&Method::GET) => (O::ListPushes, vec![task]),
                () => return None,
            }
        }
        ["tasks", task, "pushNotificationConfigs", id] => {
            let named = vec![("taskId", decoded(task)?), ("id", decoded(id)?)];
            match () {
                () if is(&Method::GET) => (O::GetPush, named),
                () if is(&Method::DELETE) => (O::DeletePush, named),
                () => return None,
            }
        }
        _ => return None,
    })
}

/// The operation and its parameters: those of the body, of the query, and of the path, which come last.
async fn asked(
    shared: &Shared,
    parts: &Parts,
    path: &str,
    body: Incoming,
) -> Result<(Operation, Value), Refused> {
    let Some((operation, named)) = route(&parts.method, path) else {
        let message = "there is no such operation in revision 1.0";
        return Err(status_of(A2aFault::new(A2aCode::MethodNotFound, message)));
    };
    let has_body = matches!(operation, Operation::Send | Operation::Stream | Operation::CreatePush);
    let mut params = if has_body {
        let bytes = intake::body(shared, parts, body).await?;
        bounds::check(&bytes, &shared.service.hub.limits).map_err(status_of)?;
        let value = serde_json::from_slice(&bytes)
            .map_err(|_| status_of(A2aFault::new(A2aCode::Parse, "the request is no JSON")))?;
        let Value::Object(params) = value else {
            return Err(status_of(A2aFault::params("the body has to be an object")));
        };
        params
    } else {
        of_query(parts.uri.query().unwrap_or_default()).map_err(status_of)?
    };
    for (name, value) in named {
        params.insert(name.to_owned(), Value::String(value));
    }
    Ok((operation, Value::Object(params)))
}

async fn dispatch(
    shared: &Shared,
    caller: &Caller,
    operation: Operation,
    params: Value,
    kind: &'static str,
) -> Result<Answer, Refused> {
    use Operation as O;
    let service = &shared.service;
    let done = |result: Result<Value, serde_json::Error>| match result {
        Ok(result) => Ok(reply::json(StatusCode::OK, kind, &result)),
        Err(_) => Err(A2aFault::new(A2aCode::Internal, "the answer cannot be written")),
    };
    let result = async {
        match operation {
            O::Send => done(to_value(&service.send(caller, read(params)?).await?)),
            O::List => done(to_value(&service.list(caller, read(params)?).await?)),
            O::Get => done(to_value(&service.get(caller, &read(params)?).await?)),
            O::Cancel => done(to_value(&service.cancel(caller, &read(params)?).await?)),
            O::CreatePush => {
                let config: A2aPushConfig = read(params)?;
                done(to_value(&service.create_push(caller, config).await?))
            }
            O::ListPushes => done(to_value(&service.list_pushes(caller, &read(params)?).await?)),
            O::GetPush => done(to_value(&service.get_push(caller, &read(params)?).await?)),
            O::DeletePush => {
                service.delete_push(caller, &read(params)?).await?;
                done(Ok(json!({})))
            }
            O::ExtendedCard => done(to_value(service.extended_card(caller)?)),
            O::Stream => {
                let place = stream::place(shared)?;
                let send: A2aSend = read(params)?;
                let history = send.configuration.history_length;
                let sent = service.begin(caller, send).await?;
                Ok(stream::of_message(shared, sent, history, Framing::Rest, place))
            }
            O::Subscribe => {
                let place = stream::place(shared)?;
                let (record, updates) = service.subscribe(caller, &read(params)?).await?;
                Ok(stream::of_task(shared, record, updates, Framing::Rest, place))
            }
        }
    };
    result.await.map_err(status_of)
}

/// The media type that a client asks for.
fn kind(parts: &Parts) -> &'static str {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accepted: Vec<&str> = accepted.collect();
    let has = |kind: &str| accepted.iter().any(|value| value.contains(kind));
    if has(JSON) && !has(A2A) { JSON } else { A2A }
}

fn status_of(fault: A2aFault) -> Refused {
    let status = StatusCode::from_u16(fault.code.http_status());
    (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), fault)
}

/// Parameters in a query: numbers and flags are those that the methods have as such.
fn of_query(query: &str) -> Result<Map<String, Value>, A2aFault> {
    let mut params = Map::new();
    for (name, value) in pairs(query) {
        let wrong = |what: &str| A2aFault::params(format!("{name}: it has to be {what}"));
        let value = match name.as_str() {
            "historyLength" | "pageSize" => {
                let number: u32 = value.parse().map_err(|_| wrong("a number"))?;
                Value::from(number)
            }
            "includeArtifacts" => Value::Bool(value.parse().map_err(|_| wrong("true or false"))?),
            _ => Value::String(value),
        };
        params.insert(name, value);
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_operations() {
        let found = |method: Method, path: &str| {
            route(&method, path).map(|(operation, named)| {
                (operation, named.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("|"))
            })
        };
        let one = |operation, named: &str| Some((operation, named.to_owned()));
        assert_eq!(found(Method::POST, "/message:send"), one(Operation::Send, ""));
        assert_eq!(found(Method::GET, "/tasks/a%20b"), one(Operation::Get, "a b"));
        assert_eq!(found(Method::POST, "/tasks/a:cancel"), one(Operation::Cancel, "a"));
        assert_eq!(found(Method::GET, "/tasks/a:subscribe"), one(Operation::Subscribe, "a"));
        assert_eq!(
            found(Method::DELETE, "/tasks/a/pushNotificationConfigs/b"),
            one(Operation::DeletePush, "a|b")
        );
        for (method, path) in [
            (Method::GET, "/message:send"),
            (Method::GET, "/"),
            (Method::GET, "/tasks/a:cancel"),
            (Method::GET, "/tasks/a:b"),
            (Method::PUT, "/tasks/a"),
            (Method::GET, "/tasks/%zz"),
            (Method::GET, "/tasks/%ff"),
            (Method::GET, "/tasks/a/b"),
            (Method::POST, "/tasks/a/pushNotificationConfigs/b"),
        ] {
            assert_eq!(found(method, path), None, "{path}");
        }
    }

    #[test]
    fn queries_are_read() {
        let params = of_query("pageSize=5&contextId=a+b%2F&includeArtifacts=true&&x").unwrap();
        let wanted = json!({"pageSize": 5, "contextId": "a b/", "includeArtifacts": true, "x": ""});
        assert_eq!(Value::Object(params), wanted);
        for wrong in ["pageSize=-1", "historyLength=x", "includeArtifacts=1"] {
            assert_eq!(of_query(wrong).unwrap_err().code, A2aCode::InvalidParams);
        }
    }
}
