//! Why a client has no answer.

use http::StatusCode;

use crate::fault::A2aFault;
use crate::web::WebError;

/// Why a client has no answer.
#[derive(Debug, thiserror::Error)]
pub enum A2aClientError {
    /// The agent said no.
    #[error(transparent)]
    Fault(#[from] A2aFault),
    /// There was no answer, or not all of it.
    #[error("{message}")]
    Connection {
        /// Where, and why.
        message: String,
        /// Whether the agent cannot have seen the request.
        is_unsent: bool,
    },
    /// The server answered by HTTP alone.
    #[error("{host}: HTTP {status}{hint}")]
    Status {
        /// Which server.
        host: String,
        /// What it answered.
        status: StatusCode,
        /// What to do about it.
        hint: &'static str,
    },
    /// The answer is none of the protocol.
    #[error("{host}: {why}")]
    Answer {
        /// Which server.
        host: String,
        /// What is wrong with it.
        why: String,
    },
    /// The card cannot be used.
    #[error("the agent card: {0}")]
    Card(String),
    /// The request cannot be written.
    #[error("the request cannot be written: {0}")]
    Request(String),
}

impl A2aClientError {
    pub(super) fn card(why: impl Into<String>) -> Self {
        Self::Card(why.into())
    }

    pub(super) fn status(host: &str, status: StatusCode) -> Self {
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; the token is missing or wrong",
            status if status.is_redirection() => {
                "; redirects are not followed: give the address that it leads to"
            }
            _ => "",
        };
        Self::Status { host: host.to_owned(), status, hint }
    }

    /// Whether the same may work a moment later.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Connection { .. } => true,
            Self::Fault(fault) => fault.code == crate::fault::A2aCode::Unavailable,
            Self::Status { status, .. } => matches!(
                *status,
                StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
                    | StatusCode::TOO_MANY_REQUESTS
            ),
            _ => false,
        }
    }

    /// Whether the agent cannot have seen the request.
    pub(super) fn is_unsent(&self) -> bool {
        matches!(self, Self::Connection { is_unsent: true, .. })
    }
}

impl From<WebError> for A2aClientError {
    fn from(error: WebError) -> Self {
        let is_unsent = error.is_unsent();
        match error {
            WebError::Address { .. } => Self::Request(error.to_string()),
            WebError::Forbidden { host } => {
                let why = "no address of it may be connected to; without TLS only this machine is";
                Self::Answer { host, why: why.to_owned() }
            }
            WebError::TooLarge { host, limit } => {
                Self::Answer { host, why: format!("the answer has more than {limit} bytes") }
            }
            WebError::Connect { .. } | WebError::Broken { .. } | WebError::Timeout { .. } => {
                Self::Connection { message: error.to_string(), is_unsent }
            }
        }
    }
}
