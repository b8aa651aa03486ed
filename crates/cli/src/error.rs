//! Errors on their way to the user.

pub(crate) use offshoot_engine::Error as CliError;
use offshoot_protocol::ErrorBody;

use crate::render::paths_in;

/// The result of a command.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// An error as a document, with paths as whoever reads it calls them.
pub(crate) fn body(error: &CliError) -> ErrorBody {
    let mut body = error.body();
    body.message = paths_in(body.message);
    body.hint = body.hint.map(paths_in);
    body
}
