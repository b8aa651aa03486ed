//! Errors as people see them: what happened, what to do, which exit code.

mod command;
mod git;
mod service;
mod stored;
mod vault;

use std::fmt;

use offshoot_protocol::{ErrorBody, ExitCode, Hint};
use offshoot_workspace::FurtherHints;

use crate::settings::ConfigError;

/// The result of a command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error on its way to the user.
#[derive(Debug)]
pub struct Error {
    /// The stable code, with the exit code that goes with it.
    pub code: ExitCode,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<Hint>,
    /// What may have been meant.
    pub candidates: Vec<String>,
}

impl Error {
    /// An error of a code.
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, hint: None, candidates: Vec::new() }
    }

    /// What was asked for makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what only the place knows where it happened.
    #[must_use]
    pub fn further(mut self, further: FurtherHints) -> Self {
        self.hint = self.hint.or(further.otherwise);
        if let Some(set_aside) = further.set_aside {
            // Something was changed after all.
            self.hint = Some(self.hint.unwrap_or_default().changed().and(set_aside));
        }
        self
    }

    /// Adds what may have been meant.
    #[must_use]
    pub fn candidates(mut self, candidates: Vec<String>) -> Self {
        self.candidates = candidates;
        self
    }

    /// "Did you mean", from what is closest to what was typed.
    #[must_use]
    pub fn suggest(self, suggestions: Vec<String>) -> Self {
        if suggestions.is_empty() {
            return self;
        }
        let hint = format!("did you mean {}?", suggestions.join(" or "));
        self.hint(hint).candidates(suggestions)
    }

    /// The error as a document.
    pub fn body(&self) -> ErrorBody {
        let mut body = ErrorBody::new(self.code, &self.message).with_hint(self.hint.as_ref());
        body.candidates = self.candidates.clone();
        body
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint();
        let usage = Self::usage(error.to_string());
        match hint {
            Some(hint) => usage.hint(hint),
            None => usage,
        }
    }
}
