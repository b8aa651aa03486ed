//! What can go wrong with a registry.

use std::path::PathBuf;

use offshoot_transport::PeerConnectError;

/// A registry that cannot be opened, written or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentRegistryError {
    /// A file that cannot be read or written.
    #[error("cannot {action} {}: {error}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Another process has the folder.
    #[error("another process has the registry in {}; stop it first", .0.display())]
    Busy(PathBuf),
    /// The log is longer than it can be.
    #[error("{} has {found} bytes, more than the {most} that a registry writes; move it away", .path.display())]
    TooLong {
        /// Which file.
        path: PathBuf,
        /// So long it is.
        found: u64,
        /// So long it may be.
        most: u64,
    },
    /// A record could not be cut off again.
    #[error("the log ends with a part of a record; open the registry again")]
    Broken,
    /// A record that is too long to be written.
    #[error("a record cannot be written: {0}")]
    Record(String),
    /// A registry that cannot be connected to, whatever happens.
    #[error(transparent)]
    Connect(#[from] PeerConnectError),
    /// There is nobody to ask.
    #[error("there is no registry in the list")]
    NoRegistry,
    /// Nobody answered.
    #[error("none of the {} registries answered; the first said: {}", .0.len(), .0.first().map_or("", |it| it.reason.as_str()))]
    Silent(Vec<SilentRegistry>),
}

/// A registry that did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentRegistry {
    /// Its address.
    pub registry: String,
    /// Why not.
    pub reason: String,
}
