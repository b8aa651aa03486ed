//! The frame that every document has.

use offshoot_vocabulary::ExitCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hint::{Hint, SuggestedCommand};

/// The version of all documents.
pub const SCHEMA_VERSION: u32 = 1;

/// Something a command answers with; `KIND` tells readers which.
pub trait Kind: Serialize + JsonSchema {
    /// The kind, such as `workspace.list`.
    const KIND: &'static str;

    /// The exit code of the process that answers with it, which also says whether what was asked for was done. An answer that says no
    /// lists why: conflicts, damage, what failed.
    fn exit_code(&self) -> ExitCode {
        ExitCode::Success
    }
}

/// An answer that can be asked for as a question, such as `diff --exit-code` and `policy check`: then the exit code answers too.
pub trait Question: Kind {
    /// What the exit code says where it is asked so: success for yes.
    fn answer(&self) -> ExitCode;
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
    success: bool,
    /// What the command answers.
    pub result: T,
    /// Things worth knowing that did not stop the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl<T: Kind> Document<T> {
    /// Frames a result.
    pub fn new(result: T, notes: Vec<String>) -> Self {
        let success = result.exit_code().is_success();
        Self { schema_version: SCHEMA_VERSION, kind: T::KIND.to_owned(), success, result, notes }
    }
}

impl<T: Question> Document<T> {
    /// Frames the answer to a question.
    pub fn answering(result: T, notes: Vec<String>) -> Self {
        let success = result.answer().is_success();
        Self { success, ..Self::new(result, notes) }
    }
}

impl<T> Document<T> {
    /// Whether what was asked for was done.
    pub fn is_success(&self) -> bool {
        self.success
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
    success: bool,
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// A stable word for the kind of error.
    code: ExitCode,
    /// The exit code of the process.
    exit_code: u8,
    /// What happened, for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The commands that the hint names, ready to be run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SuggestedCommand>,
    /// What may have been meant, or what fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

impl ErrorBody {
    /// Says what happened; hint and candidates may follow.
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        let (exit_code, message) = (code.number(), message.into());
        let (commands, candidates) = (Vec::new(), Vec::new());
        Self { code, exit_code, message, hint: None, commands, candidates }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<&Hint>) -> Self {
        self.hint = hint.map(Hint::to_string);
        self.commands = hint.map(Hint::commands).unwrap_or_default();
        self
    }

    /// The kind of error, and the exit code of the process.
    pub fn code(&self) -> ExitCode {
        self.code
    }
}

impl ErrorDocument {
    /// Frames an error.
    pub fn new(error: ErrorBody) -> Self {
        let kind = "error".to_owned();
        Self { schema_version: SCHEMA_VERSION, kind, success: false, error }
    }
}
