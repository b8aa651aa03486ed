//! What is wrong with a file of profiles.

/// A file of profiles that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub struct ProfileError {
    /// The file, as it was called.
    pub file: String,
    /// What is wrong, and where.
    pub message: String,
}

impl ProfileError {
    pub(crate) fn new(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), message: message.into() }
    }
}
