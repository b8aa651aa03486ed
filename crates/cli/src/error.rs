//! Errors on their way to the user.

pub(crate) use offshoot_engine::Error as CliError;
use offshoot_protocol::{ErrorBody, Hint};

use crate::invocation;
use crate::render::paths_in;

/// The result of a command.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// An error as a document, with paths as whoever reads it calls them.
pub(crate) fn body(error: &CliError) -> ErrorBody {
    let mut body = error.body().with_hint(hint(error).as_ref());
    body.message = paths_in(body.message);
    body.hint = body.hint.map(paths_in);
    body
}

/// What to do about an error, with commands that mean what this command line meant.
pub(crate) fn hint(error: &CliError) -> Option<Hint> {
    error.hint.clone().map(invocation::completed)
}
