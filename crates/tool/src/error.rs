//! Errors of two kinds: those that a model can act on, and those that nobody in the conversation can.

use offshoot_engine::Error;
use offshoot_protocol::ExitCode;

/// What to do where a command keeps the workspace busy.
const BUSY: &str =
    "if the command is yours, wait for it with poll_command or end it with end_command";

/// What went wrong in a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The model can act on it.
    #[error(transparent)]
    Refused(#[from] ToolRefusal),
    /// Nobody in the conversation can.
    #[error(transparent)]
    Fatal(#[from] FatalError),
}

/// Why something was not done, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolRefusal {
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Why an agent cannot go on: storage, damage, a program that is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FatalError {
    /// Its kind.
    pub code: ExitCode,
    /// What happened.
    pub message: String,
    /// What a person can do about it.
    pub hint: Option<String>,
}

impl ToolError {
    /// An error that the model can act on.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(ToolRefusal { message: message.into(), hint: None })
    }

    /// An error that ends the work of the agent.
    pub fn fatal(message: impl Into<String>) -> Self {
        let (code, message) = (ExitCode::Failure, message.into());
        Self::Fatal(FatalError { code, message, hint: None })
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        match &mut self {
            Self::Refused(refusal) => refusal.hint = Some(text.into()),
            Self::Fatal(fatal) => fatal.hint = Some(text.into()),
        }
        self
    }
}

impl ToolRefusal {
    /// As the model reads it.
    pub fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}\nhint: {hint}", self.message),
            None => self.message.clone(),
        }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let body = error.body();
        let perhaps = || {
            let is_empty = body.candidates.is_empty();
            (!is_empty).then(|| format!("perhaps: {}", body.candidates.join(", ")))
        };
        let (message, hint) = (body.message.clone(), body.hint.clone().or_else(perhaps));
        match error.code {
            ExitCode::Damaged
            | ExitCode::Storage
            | ExitCode::NewerFormat
            | ExitCode::Inside
            | ExitCode::HungUp
            | ExitCode::Interrupted
            | ExitCode::Quit
            | ExitCode::Terminated => Self::Fatal(FatalError { code: error.code, message, hint }),
            ExitCode::Busy => Self::refused(message).hint(BUSY),
            _ => Self::Refused(ToolRefusal { message, hint }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_fatal_and_a_wrong_name_is_not() {
        for code in [ExitCode::Storage, ExitCode::Damaged, ExitCode::NewerFormat] {
            assert!(matches!(ToolError::from(Error::new(code, "x")), ToolError::Fatal(_)));
        }
        for code in [ExitCode::NotFound, ExitCode::Conflict, ExitCode::Denied, ExitCode::Busy] {
            assert!(matches!(ToolError::from(Error::new(code, "x")), ToolError::Refused(_)));
        }
    }

    #[test]
    fn a_model_reads_what_to_do() {
        let error = Error::usage("no file mian").candidates(vec!["main".to_owned()]);
        let ToolError::Refused(refusal) = ToolError::from(error) else { panic!("it is fatal") };
        assert_eq!(refusal.text(), "no file mian\nhint: perhaps: main");
    }
}
