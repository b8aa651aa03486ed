//! How a root appears.

use std::path::PathBuf;

/// How a root appears to whoever works in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// As layers that are yet to be stacked, in a namespace of whoever works there.
    Layers(Layers),
    /// As a directory of the host.
    Directory(PathBuf),
}

/// Layers for overlayfs: names below one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The directory that all names are relative to.
    pub directory: PathBuf,
    /// What lies below, topmost first.
    pub lower: Vec<PathBuf>,
    /// What only holds bytes of files that the lowest of those describes.
    pub data: Vec<PathBuf>,
    /// Where changes go; none where nothing can be written.
    pub upper: Option<UpperNames>,
    /// Directories of the root to look up once before anybody works there.
    pub look_up: Vec<PathBuf>,
}

/// Where the changes to stacked layers go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpperNames {
    /// The directory for them.
    pub directory: PathBuf,
    /// A fresh directory beside it, for the kernel's own use.
    pub work: PathBuf,
}
