//! Why there is no answer.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use crate::id::{ModelId, ProviderId};

/// Why there is no answer, with all that is known about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProviderError {
    /// There is no key, or it was refused.
    #[error("{0}")]
    Auth(Box<ErrorDetails>),
    /// There is no such model or provider.
    #[error("{0}")]
    NotFound(Box<ErrorDetails>),
    /// The request is wrong, and would be again.
    #[error("{0}")]
    BadRequest(Box<ErrorDetails>),
    /// The conversation is longer than the model reads.
    #[error("{0}")]
    ContextTooLong(Box<ErrorDetails>),
    /// Too many requests were sent.
    #[error("{0}")]
    RateLimited(Box<ErrorDetails>),
    /// The server cannot answer now.
    #[error("{0}")]
    Overloaded(Box<ErrorDetails>),
    /// There is no connection, or it broke.
    #[error("{0}")]
    Network(Box<ErrorDetails>),
    /// What came is no answer of this interface.
    #[error("{0}")]
    Protocol(Box<ErrorDetails>),
    /// It took too long.
    #[error("{0}")]
    Timeout(Box<ErrorDetails>),
    /// A filter refuses the content.
    #[error("{0}")]
    Refused(Box<ErrorDetails>),
    /// The account has no credit left.
    #[error("{0}")]
    Budget(Box<ErrorDetails>),
    /// The answer is larger than is allowed.
    #[error("{0}")]
    TooLarge(Box<ErrorDetails>),
}

/// The kinds of errors, by their names in scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// [`ProviderError::Auth`]
    Auth,
    /// [`ProviderError::NotFound`]
    NotFound,
    /// [`ProviderError::BadRequest`]
    BadRequest,
    /// [`ProviderError::ContextTooLong`]
    ContextTooLong,
    /// [`ProviderError::RateLimited`]
    RateLimited,
    /// [`ProviderError::Overloaded`]
    Overloaded,
    /// [`ProviderError::Network`]
    Network,
    /// [`ProviderError::Protocol`]
    Protocol,
    /// [`ProviderError::Timeout`]
    Timeout,
    /// [`ProviderError::Refused`]
    Refused,
    /// [`ProviderError::Budget`]
    Budget,
    /// [`ProviderError::TooLarge`]
    TooLarge,
}

/// What is known about an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorDetails {
    /// What is wrong, in the vendor's words if it said any.
    pub message: String,
    /// Who was asked.
    pub provider: Option<ProviderId>,
    /// The model that was asked.
    pub model: Option<ModelId>,
    /// The status of HTTP.
    pub status: Option<u16>,
    /// The request's name at the vendor, which its support asks for.
    pub request_id: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// After which time the server wants to be asked again.
    pub retry_after: Option<Duration>,
    /// Whether asking again is of no use, though it is with most errors of the kind.
    pub is_final: bool,
}

impl ProviderError {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::of(kind, ErrorDetails { message: message.into(), ..ErrorDetails::default() })
    }

    pub(crate) fn of(kind: ErrorKind, details: ErrorDetails) -> Self {
        let details = Box::new(details);
        match kind {
            ErrorKind::Auth => Self::Auth(details),
            ErrorKind::NotFound => Self::NotFound(details),
            ErrorKind::BadRequest => Self::BadRequest(details),
            ErrorKind::ContextTooLong => Self::ContextTooLong(details),
            ErrorKind::RateLimited => Self::RateLimited(details),
            ErrorKind::Overloaded => Self::Overloaded(details),
            ErrorKind::Network => Self::Network(details),
            ErrorKind::Protocol => Self::Protocol(details),
            ErrorKind::Timeout => Self::Timeout(details),
            ErrorKind::Refused => Self::Refused(details),
            ErrorKind::Budget => Self::Budget(details),
            ErrorKind::TooLarge => Self::TooLarge(details),
        }
    }

    /// The stream of an answer ended before the answer did.
    pub(crate) fn cut_short() -> Self {
        Self::new(ErrorKind::Network, "the connection ended before the answer did")
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Auth(_) => ErrorKind::Auth,
            Self::NotFound(_) => ErrorKind::NotFound,
            Self::BadRequest(_) => ErrorKind::BadRequest,
            Self::ContextTooLong(_) => ErrorKind::ContextTooLong,
            Self::RateLimited(_) => ErrorKind::RateLimited,
            Self::Overloaded(_) => ErrorKind::Overloaded,
            Self::Network(_) => ErrorKind::Network,
            Self::Protocol(_) => ErrorKind::Protocol,
            Self::Timeout(_) => ErrorKind::Timeout,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Budget(_) => ErrorKind::Budget,
            Self::TooLarge(_) => ErrorKind::TooLarge,
        }
    }

    /// What is known about it.
    pub fn details(&self) -> &ErrorDetails {
        match self {
            Self::Auth(details)
            | Self::NotFound(details)
            | Self::BadRequest(details)
            | Self::ContextTooLong(details)
            | Self::RateLimited(details)
            | Self::Overloaded(details)
            | Self::Network(details)
            | Self::Protocol(details)
            | Self::Timeout(details)
            | Self::Refused(details)
            | Self::Budget(details)
            | Self::TooLarge(details) => details,
        }
    }

    fn details_mut(&mut self) -> &mut ErrorDetails {
        match self {
            Self::Auth(details)
            | Self::NotFound(details)
            | Self::BadRequest(details)
            | Self::ContextTooLong(details)
            | Self::RateLimited(details)
            | Self::Overloaded(details)
            | Self::Network(details)
            | Self::Protocol(details)
            | Self::Timeout(details)
            | Self::Refused(details)
            | Self::Budget(details)
            | Self::TooLarge(details) => details,
        }
    }

    /// Whether the same request may succeed when it is sent again.
    pub fn is_retryable(&self) -> bool {
        let may = matches!(
            self,
            Self::RateLimited(_)
                | Self::Overloaded(_)
                | Self::Network(_)
                | Self::Protocol(_)
                | Self::Timeout(_)
        );
        may && !self.details().is_final
    }

    /// Whether another provider or model may answer the same request.
    pub fn moves_on(&self) -> bool {
        match self {
            Self::BadRequest(_) | Self::Refused(_) | Self::TooLarge(_) => false,
            Self::Timeout(details) => !details.is_final,
            _ => true,
        }
    }

    /// Whether the server itself is in trouble, rather than this request.
    pub(crate) fn is_servers(&self) -> bool {
        matches!(
            self,
            Self::Overloaded(_) | Self::Network(_) | Self::Protocol(_) | Self::Timeout(_)
        ) && !self.details().is_final
    }

    /// Says which provider was asked, unless it is said.
    #[must_use]
    pub(crate) fn by(mut self, provider: &ProviderId) -> Self {
        self.details_mut().provider.get_or_insert_with(|| provider.clone());
        self
    }

    /// Says who was asked, unless it is said.
    #[must_use]
    pub(crate) fn at(self, provider: &ProviderId, model: &ModelId) -> Self {
        let mut error = self.by(provider);
        error.details_mut().model.get_or_insert_with(|| model.clone());
        error
    }

    /// Says what to do, unless it is said.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.details_mut().hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Says when to ask again.
    #[must_use]
    pub(crate) fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        let details = self.details_mut();
        details.retry_after = details.retry_after.or(after);
        self
    }

    /// Says the name of the request at the vendor, unless it is said.
    #[must_use]
    pub(crate) fn with_request_id(mut self, id: Option<&str>) -> Self {
        let details = self.details_mut();
        details.request_id = details.request_id.take().or_else(|| id.map(str::to_owned));
        self
    }

    /// Says the status of HTTP.
    #[must_use]
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.details_mut().status = Some(status);
        self
    }

    /// Takes out a secret that the server repeats.
    #[must_use]
    pub(crate) fn without(mut self, secret: &str) -> Self {
        let details = self.details_mut();
        let texts =
            [details.request_id.as_mut(), details.hint.as_mut(), Some(&mut details.message)];
        for text in texts.into_iter().flatten() {
            if text.contains(secret) {
                *text = text.replace(secret, "[key]");
            }
        }
        self
    }

    /// Says that asking again is of no use.
    #[must_use]
    pub(crate) fn into_final(mut self) -> Self {
        self.details_mut().is_final = true;
        self
    }
}

impl ErrorKind {
    /// What happened, in few words.
    fn summary(self) -> &'static str {
        match self {
            Self::Auth => "the key was not accepted",
            Self::NotFound => "not found",
            Self::BadRequest => "the request was rejected",
            Self::ContextTooLong => "the conversation is too long for the model",
            Self::RateLimited => "too many requests",
            Self::Overloaded => "the server cannot answer now",
            Self::Network => "no connection",
            Self::Protocol => "the answer cannot be read",
            Self::Timeout => "timed out",
            Self::Refused => "the content was refused",
            Self::Budget => "the account has no credit left",
            Self::TooLarge => "the answer is too large",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.summary())
    }
}

impl fmt::Display for ErrorDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(provider) = &self.provider {
            write!(f, "{provider}: ")?;
        }
        if let Some(model) = &self.model {
            write!(f, "{model}: ")?;
        }
        f.write_str(&self.message)?;
        let status = self.status.map(|status| format!("HTTP {status}"));
        let request = self.request_id.as_ref().map(|id| format!("request {id}"));
        let notes: Vec<String> = [status, request].into_iter().flatten().collect();
        if !notes.is_empty() {
            write!(f, " ({})", notes.join(", "))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// A text of a server on one line, without what changes terminals, and not too long.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut line = String::new();
    for (index, c) in text.trim().chars().enumerate() {
        if index == LONGEST {
            line.push('…');
            break;
        }
        line.push(if c.is_control() { ' ' } else { c });
    }
    line
}
