//! Errors as an editor gets them.

use agent_client_protocol::Error;

/// What went wrong here, in words that a person reads.
pub(crate) fn fault(message: impl Into<String>) -> Error {
    Error::new(-32603, message)
}

/// What was asked for in a way that cannot be answered.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::new(-32602, message)
}

/// A method that is not passed on, and why.
pub(crate) fn not_offered(message: impl Into<String>) -> Error {
    Error::new(-32601, message)
}

/// An error of the engine, with what to do about it.
pub(crate) fn of_engine(error: &offshoot_engine::Error) -> Error {
    fault(match &error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message.clone(),
    })
}

/// What an error says, with what it has besides.
pub(crate) fn text(error: &Error) -> String {
    match &error.data {
        Some(data) => format!("{}: {data}", error.message),
        None => error.message.clone(),
    }
}
