//! What can go wrong around a mount.

use offshoot_host::HostError;
use offshoot_sandbox::SandboxError;
use offshoot_tree::TreeError;
use offshoot_vault::VaultError;

/// Why a root could not be made a directory, or the directory not a root.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The sandbox failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The session is not in a state for that.
    #[error("the mount is {0}")]
    State(&'static str),
}

impl MountError {
    /// Whether layers cannot be stacked in this place, which a plain copy does not need.
    pub(crate) fn is_about_layers(&self) -> bool {
        match self {
            Self::Sandbox(error) => error.is_about_layers(),
            // On a file system that is an overlay itself, deletions cannot be recorded.
            Self::Vault(VaultError::Host(HostError::Io { source, .. })) => {
                source.kind() == std::io::ErrorKind::PermissionDenied
            }
            Self::Vault(_) | Self::State(_) => false,
        }
    }
}

impl From<TreeError> for MountError {
    fn from(error: TreeError) -> Self {
        Self::Vault(error.into())
    }
}

/// The result of mount functions.
pub type Result<T, E = MountError> = std::result::Result<T, E>;
