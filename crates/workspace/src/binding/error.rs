//! Why a folder cannot be bound.

use std::path::PathBuf;

/// Why a folder cannot be bound, or let go of.
#[derive(Debug, thiserror::Error)]
pub enum BindingError {
    /// There is nothing at the path.
    #[error("cannot open {}: {error}", .path.display())]
    Missing {
        /// The path.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// Something other than a folder.
    #[error("{} is not a folder; only folders can be bound", .0.display())]
    NotAFolder(PathBuf),
    /// A place that is never bound.
    #[error("{} cannot be taken into a vault: {why}", .path.display())]
    Refused {
        /// The folder.
        path: PathBuf,
        /// The reason.
        why: String,
        /// Whether whoever wants it all the same can have it.
        can_force: bool,
    },
    /// The vault is bound to it.
    #[error("{} is bound already, as {name}", .path.display())]
    Already {
        /// The folder.
        path: PathBuf,
        /// What it is called.
        name: String,
    },
    /// Folders of one vault do not lie in each other.
    #[error("{} lies in {}: folders of one vault cannot lie in each other", .inner.display(), .outer.display())]
    Nested {
        /// The one that lies in the other.
        inner: PathBuf,
        /// The other.
        outer: PathBuf,
    },
    /// Another vault's.
    #[error("{} belongs to the vault {vault}, which is bound to {}", .path.display(), .bound.display())]
    OtherVault {
        /// The folder.
        path: PathBuf,
        /// The folder of the other vault that it is or lies in.
        bound: PathBuf,
        /// The other vault.
        vault: String,
        /// Whether nothing in it would be missed; only where it has this very folder, and one that is gone is said to be there.
        unused: Option<bool>,
    },
    /// There are files in the vault that the folder would get with the next commit, although they never were in a folder.
    #[error("{place} has files in .offshoot/bound/{name} that never were in a folder of that name")]
    Planted {
        /// The name that was asked for.
        name: String,
        /// What has them.
        place: String,
    },
    /// The first folder is the top of the tree.
    #[error("the vault was made from this folder, which is the top of its tree")]
    First,
    /// Somebody else changed what the vault is bound to.
    #[error("the folders of this vault were changed meanwhile")]
    Overtaken,
}
