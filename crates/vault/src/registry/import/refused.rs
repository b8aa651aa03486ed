//! Why a file does not become a vault.

use crate::error::VaultError;

/// What is wrong with a file, for people.
pub(super) type Vetted<T = ()> = Result<T, Refused>;

/// Why a file is not taken.
pub(super) enum Refused {
    /// It holds what no vault has.
    Bad(String),
    /// It would come to more than it may.
    TooLarge(u64),
    /// It could not be looked at.
    Failed(VaultError),
}

impl From<String> for Refused {
    fn from(detail: String) -> Self {
        Self::Bad(detail)
    }
}

impl<E: Into<VaultError>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
