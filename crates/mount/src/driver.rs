//! The ways to make a root a directory.

/// A way to make a root a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// The kernel stacks the layers; changes are what it writes into the topmost directory.
    Overlay,
    /// A plain copy; changes are found by looking at all of it.
    Copy,
}

impl Driver {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Copy => "copy",
        }
    }
}

/// Which way is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriverChoice {
    /// The first that works.
    #[default]
    Auto,
    /// This one or none.
    Only(Driver),
}
