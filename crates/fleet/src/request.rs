//! What a task of the kernel is about.

use offshoot_governance::GovernanceRequest;
use offshoot_transport::{FailureBody, PeerMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::failure;

/// What a task of the kernel is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub(crate) enum TaskRequest {
    /// Something is to be done.
    Task {
        /// What.
        text: String,
    },
    /// Another agent asks whether it may do something.
    Decide {
        /// What.
        request: Box<GovernanceRequest>,
    },
    /// Another agent tells something.
    Told {
        /// What.
        event: Value,
    },
}

impl TaskRequest {
    pub(crate) fn task(text: &str) -> Self {
        Self::Task { text: text.to_owned() }
    }

    pub(crate) fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What an event is about.
    pub(crate) fn of_event(event: &PeerMessage) -> Result<Self, FailureBody> {
        let event = event.json().map_err(|error| failure("bad_request", error.to_string()))?;
        Ok(Self::Told { event })
    }
}
