//! The frame that every document has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of all documents.
pub const SCHEMA_VERSION: u32 = 1;

/// Something a command answers with; `KIND` tells readers which.
pub trait Kind: Serialize + JsonSchema {
    /// The kind, such as `workspace.list`.
    const KIND: &'static str;

    /// Whether what was asked for was done. An answer that says no lists why: conflicts, damage, what failed.
    fn succeeded(&self) -> bool {
        true
    }
}

/// The answer of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document<T> {
    /// The version of the format: 1.
    pub schema_version: u32,
    /// What the result is.
    pub kind: String,
    /// Whether what was asked for was done: false where there are conflicts, where something is damaged or a check failed. An error
    /// document always has false.
    pub success: bool,
    /// What the command answers.
    pub result: T,
    /// Things worth knowing that did not stop the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl<T: Kind> Document<T> {
    /// Frames a result.
    pub fn new(result: T, notes: Vec<String>) -> Self {
        let kind = T::KIND.to_owned();
        let success = result.succeeded();
        Self { schema_version: SCHEMA_VERSION, kind, success, result, notes }
    }
}

/// The answer of a command that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDocument {
    /// The version of the format: 1.
    pub schema_version: u32,
    /// Always `error`.
    pub kind: String,
    /// Always false.
    pub success: bool,
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// A stable word for the kind of error, such as `not_found`.
    pub code: String,
    /// The exit code of the process.
    pub exit_code: u8,
    /// What happened, for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What may have been meant, or what fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

impl ErrorDocument {
    /// Frames an error.
    pub fn new(error: ErrorBody) -> Self {
        let kind = "error".to_owned();
        Self { schema_version: SCHEMA_VERSION, kind, success: false, error }
    }
}
