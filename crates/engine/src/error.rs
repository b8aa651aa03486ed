//! Errors as people see them: what happened, what to do, which exit code.

mod command;
mod git;
mod service;
mod session;
mod stored;
mod vault;

use std::fmt;

use offshoot_protocol::{ErrorBody, ExitCode};
pub use offshoot_protocol::{Hint, SuggestedCommand};
pub use offshoot_workspace::{FurtherHints, ServiceError};

use crate::settings::ConfigError;

/// The result of a command.
///
/// ```
/// fn name(project: &offshoot_engine::Project) -> offshoot_engine::Result<String> {
///     Ok(project.fork("fix")?.name()?)
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error on its way to the user.
///
/// ```
/// use offshoot_engine::{Offshoot, Options};
/// use offshoot_protocol::ExitCode;
///
/// let error = Offshoot::open(Options::new(Vec::new())).expect_err("there is no place for vaults");
/// assert_eq!(error.code, ExitCode::Usage);
/// assert!(error.to_string().contains("neither OFFSHOOT_HOME nor HOME is set"));
/// ```
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
    ///
    /// ```
    /// use offshoot_engine::Error;
    /// use offshoot_protocol::ExitCode;
    ///
    /// let error = Error::new(ExitCode::NotFound, "there is no such task");
    /// assert_eq!(error.to_string(), "there is no such task");
    /// ```
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, hint: None, candidates: Vec::new() }
    }

    /// What was asked for makes no sense.
    ///
    /// ```
    /// use offshoot_engine::Error;
    /// use offshoot_protocol::ExitCode;
    ///
    /// assert_eq!(Error::usage("a task needs a name").code, ExitCode::Usage);
    /// ```
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// Adds what to do about it.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let error = Error::usage("a task needs a name").hint("add one with --name");
    /// assert!(error.hint.is_some());
    /// ```
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what only the place knows where it happened.
    ///
    /// ```
    /// use offshoot_engine::Error;
    /// use offshoot_engine::error::{FurtherHints, Hint};
    ///
    /// let otherwise = Some(Hint::from("try again"));
    /// let further = FurtherHints { otherwise, ..FurtherHints::default() };
    /// let error = Error::usage("it did not work").further(further);
    /// assert_eq!(error.hint.expect("there was none before").to_string(), "try again");
    /// ```
    #[must_use]
    pub fn further(mut self, further: FurtherHints) -> Self {
        self.hint = further.instead.or(self.hint).or(further.otherwise);
        if let Some(besides) = further.besides {
            self.hint = Some(self.hint.unwrap_or_default().and(besides));
        }
        if let Some(set_aside) = further.set_aside {
            // Something was changed after all.
            self.hint = Some(self.hint.unwrap_or_default().changed().and(set_aside));
        }
        self
    }

    /// Adds what may have been meant.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let error = Error::usage("which task?").candidates(vec!["build".to_owned(), "test".to_owned()]);
    /// ```
    #[must_use]
    pub fn candidates(mut self, candidates: Vec<String>) -> Self {
        self.candidates = candidates;
        self
    }

    /// "Did you mean", from what is closest to what was typed.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let error = Error::usage("there is no task tset").suggest(vec!["test".to_owned()]);
    /// assert_eq!(error.candidates, ["test"]);
    /// ```
    #[must_use]
    pub fn suggest(self, suggestions: Vec<String>) -> Self {
        if suggestions.is_empty() {
            return self;
        }
        let hint = format!("did you mean {}?", suggestions.join(" or "));
        self.hint(hint).candidates(suggestions)
    }

    /// The error as a document.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let body = Error::usage("a task needs a name").body();
    /// assert_eq!(body.message, "a task needs a name");
    /// ```
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
