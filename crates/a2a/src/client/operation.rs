//! The operations, as each binding writes them.

use http::Method;
use serde_json::{Map, Value};

/// An operation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    CreatePush,
    GetPush,
    ListPushes,
    DeletePush,
    ExtendedCard,
}

impl Operation {
    /// Its method in JSON-RPC.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Send => "SendMessage",
            Self::Stream => "SendStreamingMessage",
            Self::Get => "GetTask",
            Self::List => "ListTasks",
            Self::Cancel => "CancelTask",
            Self::Subscribe => "SubscribeToTask",
            Self::CreatePush => "CreateTaskPushNotificationConfig",
            Self::GetPush => "GetTaskPushNotificationConfig",
            Self::ListPushes => "ListTaskPushNotificationConfigs",
            Self::DeletePush => "DeleteTaskPushNotificationConfig",
            Self::ExtendedCard => "GetExtendedAgentCard",
        }
    }

    /// Whether asking twice is the same as asking once.
    pub(super) fn is_safe(self) -> bool {
        matches!(
            self,
            Self::Get
                | Self::List
                | Self::Subscribe
                | Self::GetPush
                | Self::ListPushes
                | Self::DeletePush
                | Self::ExtendedCard
        )
    }

    /// Its method and path in REST. What the path has is no parameter any more.
    pub(super) fn rest(self, params: &mut Map<String, Value>) -> (Method, String) {
        let mut take = |name: &str| match params.remove(name) {
            Some(Value::String(text)) => encoded(&text),
            _ => String::new(),
        };
        match self {
            Self::Send => (Method::POST, "/message:send".to_owned()),
            Self::Stream => (Method::POST, "/message:stream".to_owned()),
            Self::Get => (Method::GET, format!("/tasks/{}", take("id"))),
            Self::List => (Method::GET, "/tasks".to_owned()),
            Self::Cancel => (Method::POST, format!("/tasks/{}:cancel", take("id"))),
            Self::Subscribe => (Method::GET, format!("/tasks/{}:subscribe", take("id"))),
            Self::ExtendedCard => (Method::GET, "/extendedAgentCard".to_owned()),
            Self::CreatePush | Self::ListPushes => {
                let method = if self == Self::CreatePush { Method::POST } else { Method::GET };
                (method, format!("/tasks/{}/pushNotificationConfigs", take("taskId")))
            }
            Self::GetPush | Self::DeletePush => {
                let method = if self == Self::GetPush { Method::GET } else { Method::DELETE };
                let (task, id) = (take("taskId"), take("id"));
                (method, format!("/tasks/{task}/pushNotificationConfigs/{id}"))
            }
        }
    }
}

/// A text as a piece of a path or a query.
pub(super) fn encoded(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            written.push(char::from(byte));
        } else {
            written.push_str(&format!("%{byte:02X}"));
        }
    }
    written
}

/// Parameters as a query.
pub(super) fn query(params: &Map<String, Value>) -> String {
    let pairs = params.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        format!("{}={}", encoded(name), encoded(&value))
    });
    let pairs: Vec<String> = pairs.collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_and_queries_are_written() {
        let mut params = json!({"id": "a/b:c", "x": "ä b"});
        let params = params.as_object_mut().unwrap();
        let wanted = (Method::GET, "/tasks/a%2Fb%3Ac".to_owned());
        assert_eq!(Operation::Get.rest(params), wanted);
        assert_eq!(query(params), "?x=%C3%A4%20b");
        // Their order is that of the map, which is not always that of the names.
        params.insert("historyLength".to_owned(), json!(3));
        let both = query(params);
        assert!(both.contains("x=%C3%A4%20b") && both.contains("historyLength=3"), "{both}");
        assert!(both.starts_with('?') && both.matches('&').count() == 1, "{both}");
        assert_eq!(query(&Map::new()), "");
    }
}
