//! Where updates of a task are delivered.

use serde::{Deserialize, Serialize};

use super::field::nullable;

/// How a server proves itself to a webhook.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct A2aPushAuthentication {
    /// The scheme of the `Authorization` header, such as `Bearer`.
    pub scheme: String,
    /// What stands behind the scheme.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub credentials: String,
}

impl std::fmt::Debug for A2aPushAuthentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aPushAuthentication")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// A webhook of a task.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aPushConfig {
    /// Not used here: servers with tenants are others.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Its name within the task; the server gives one if there is none.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The task.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// Where updates go.
    pub url: String,
    /// Sent as `X-A2A-Notification-Token`.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// Sent as `Authorization`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<A2aPushAuthentication>,
}

impl A2aPushConfig {
    /// A webhook without a token.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}

impl std::fmt::Debug for A2aPushConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("A2aPushConfig");
        shown.field("id", &self.id).field("task_id", &self.task_id).field("url", &self.url);
        shown.finish_non_exhaustive()
    }
}

/// The webhooks of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct A2aPushList {
    /// The webhooks.
    #[serde(default, deserialize_with = "nullable")]
    pub configs: Vec<A2aPushConfig>,
    /// Empty: there is one page.
    #[serde(default, deserialize_with = "nullable")]
    pub next_page_token: String,
}
