//! What tools give back.

use offshoot_engine::id::Id;
use offshoot_protocol::{ExecEnvelopeDoc, ExecState};

use crate::error::ToolError;

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolOutput {
    /// A text for the model.
    Text(TextOutput),
    /// A person has to decide first.
    NeedsApproval(ApprovalNeeded),
    /// A person is asked something; what they say is the result.
    AskUser(UserQuestion),
}

/// A text for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOutput {
    /// All of it. The registry shortens it.
    pub text: String,
    /// Whether what was asked for did not work.
    pub failed: bool,
    /// The command that was run, where one was.
    pub exec: Option<ExecFacts>,
}

/// What a program has to know of a command that a call ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecFacts {
    /// Its id.
    pub id: Id,
    /// What became of it; nothing while it runs.
    pub state: Option<ExecState>,
    /// With what it exited.
    pub exit_code: Option<i32>,
    /// How many files it changed, or would change if a person approved.
    pub changed: usize,
}

/// Something that a person has to approve before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalNeeded {
    /// What the model may be told meanwhile.
    pub text: String,
    /// Why a person is asked.
    pub reason: String,
    /// The approval in the vault, which `Project::approve` and `Project::deny` decide. Call again under the same name then. Nothing where the
    /// [policy of calls](crate::CallPolicy) asks: call again with a context that says it was approved.
    pub approval: Option<Id>,
    /// The command, where it is one.
    pub exec: Option<ExecFacts>,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserQuestion {
    /// What is asked.
    pub question: String,
    /// Answers to choose from; any answer where there are none.
    pub choices: Vec<String>,
}

impl TextOutput {
    /// A text that says what came of it.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Whether what was asked for did not work.
    #[must_use]
    pub fn failed(mut self, failed: bool) -> Self {
        self.failed = failed;
        self
    }

    /// The command that was run.
    #[must_use]
    pub fn exec(mut self, exec: ExecFacts) -> Self {
        self.exec = Some(exec);
        self
    }
}

impl ExecFacts {
    /// What an envelope says.
    pub fn of(id: Id, envelope: &ExecEnvelopeDoc) -> Self {
        let result = &envelope.result;
        let (state, exit_code) = (Some(result.state), result.exit_code);
        Self { id, state, exit_code, changed: result.changed_files.len() }
    }

    /// Of a command that still runs.
    pub fn running(id: Id) -> Self {
        Self { id, state: None, exit_code: None, changed: 0 }
    }
}

impl From<TextOutput> for ToolOutput {
    fn from(text: TextOutput) -> Self {
        Self::Text(text)
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::Text(TextOutput::new(text))
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::Text(TextOutput::new(text))
    }
}

/// What the function of a tool may return.
pub trait ToolReturn {
    /// As the registry takes it.
    fn into_result(self) -> Result<ToolOutput, ToolError>;
}

impl<T: Into<ToolOutput>, E: Into<ToolError>> ToolReturn for Result<T, E> {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        self.map(Into::into).map_err(Into::into)
    }
}

impl ToolReturn for ToolOutput {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl ToolReturn for TextOutput {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl ToolReturn for String {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}

impl ToolReturn for &str {
    fn into_result(self) -> Result<ToolOutput, ToolError> {
        Ok(self.into())
    }
}
