//! Errors on their way to the user.

pub(crate) use offshoot_engine::Error as CliError;
use offshoot_protocol::ErrorBody;

use crate::render::paths_in;

/// The result of a command.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// An error with paths as whoever reads it calls them.
pub(crate) fn shown(error: CliError) -> CliError {
    let hint = error.hint.map(paths_in);
    CliError { message: paths_in(error.message), hint, ..error }
}

/// The same as a document.
pub(crate) fn body(error: &CliError) -> ErrorBody {
    let mut body = error.body();
    body.message = paths_in(body.message);
    body.hint = body.hint.map(paths_in);
    body
}
