//! What may be called.

use serde_json::Value;

use crate::contract::ToolContract;

/// Judges every call before it is made. Commands are judged by the policy of the engine besides.
pub trait CallPolicy: Send + Sync {
    /// Whether a call may be made, with arguments that fit.
    fn judge(&self, contract: &ToolContract, arguments: &Value) -> CallVerdict;
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// It may.
    Allow,
    /// A person has to agree first.
    Ask {
        /// Why.
        reason: String,
    },
    /// It may not.
    Deny {
        /// Why.
        reason: String,
        /// What to do instead.
        instead: Option<String>,
    },
}

/// Allows everything that capabilities allow.
#[derive(Debug)]
pub(crate) struct AllowAll;

impl CallPolicy for AllowAll {
    fn judge(&self, _spec: &ToolContract, _arguments: &Value) -> CallVerdict {
        CallVerdict::Allow
    }
}
