//! What can go wrong around a mount.

use offshoot_vault::VaultError;

/// Why a root could not be made a directory, or the directory not a root.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// What was written has to be captured in a way that nobody here knows.
    #[error(
        "driver \"{driver}\" (version {version}) wrote this, and this Offshoot does not know it"
    )]
    UnknownDriver {
        /// The driver that it was written with.
        driver: String,
        /// The version of its way.
        version: u32,
    },
    /// What was written belongs to something that nobody here knows.
    #[error("a newer Offshoot wrote this, for something other than a command")]
    UnknownOwner,
}

impl MountError {
    /// Whether layers cannot be stacked in this place, which another driver may not need.
    pub fn is_about_layers(&self) -> bool {
        match self {
            // On a file system that is an overlay itself, deletions cannot be recorded.
            Self::Vault(VaultError::Io { source, .. }) => {
                source.kind() == std::io::ErrorKind::PermissionDenied
            }
            Self::Vault(_) | Self::UnknownDriver { .. } | Self::UnknownOwner => false,
        }
    }
}

/// The result of mount functions.
pub type Result<T, E = MountError> = std::result::Result<T, E>;
