//! Failures of the host, as errors of the vault whose folders are changed.

use std::io;
use std::path::Path;

use offshoot_host::HostError;
use offshoot_vault::VaultError;

/// Turns a failed file operation into an error that says what was tried on what.
pub(crate) fn io_error<E: Into<io::Error>>(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> VaultError {
    move |source| HostError::io(action, path, source.into()).into()
}
