//! What every request goes through before a binding reads it.

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, Request, StatusCode};
use hyper::body::Incoming;

use super::reply::{Answer, plain};
use super::shared::{CARD_PATH, REST_PATH, RPC_PATH, Shared};
use super::{rest, rpc};
use crate::service::Caller;

/// Answers a request.
pub(super) async fn answer(shared: &Shared, request: Request<Incoming>) -> Answer {
    let (parts, body) = request.into_parts();
    if let Some(problem) = shared.names.problem(&parts.headers) {
        return plain(StatusCode::FORBIDDEN, problem);
    }
    let path = parts.uri.path();
    if path == CARD_PATH {
        return shared.card.answer(&parts.method, &parts.headers);
    }
    let Some((name, is_known)) = shared.access.client(&parts.headers) else {
        let mut refused = plain(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong\n");
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return refused;
    };
    let caller = Caller { name, is_known, extensions: listed(&parts, "a2a-extensions") };
    let below = path.strip_prefix(REST_PATH).filter(|rest| rest.starts_with('/'));
    match below {
        _ if path == RPC_PATH => rpc::answer(shared, &caller, &parts, body).await,
        Some(rest) => rest::answer(shared, &caller, &parts, rest, body).await,
        None => plain(StatusCode::NOT_FOUND, "the agent card says where to ask\n"),
    }
}

fn listed(parts: &Parts, name: &str) -> Vec<String> {
    let values = parts.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let items = values.flat_map(|value| value.split(','));
    items.map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).take(64).collect()
}
