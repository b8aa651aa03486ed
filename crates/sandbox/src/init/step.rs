//! What the init does, step by step, and what to say where a step fails.

use rustix::io::Errno;

/// What failed, and all that the parent needs to say it.
pub(super) struct Failure {
    pub(super) step: Step,
    pub(super) errno: Errno,
    /// Which one, where the step has several.
    pub(super) index: u32,
    /// What the kernel said at length.
    pub(super) detail: Detail,
}

/// A line of text without an allocation.
pub(super) struct Detail {
    pub(super) text: [u8; 100],
    pub(super) length: u8,
}

impl Detail {
    pub(super) const NONE: Self = Self { text: [0; 100], length: 0 };
}

/// What the init does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    Descriptors,
    Cover,
    Ids,
    Stage,
    Layers,
    ReadOnlyLayers,
    Directory,
    Root,
    Place,
    Pivot,
    Private,
    Devices,
    Proc,
    Hidden,
    Target,
    Folders,
    Network,
    Sockets,
    Signals,
    Terminal,
    Fork,
    Session,
    Limits,
    Privileges,
    WorkingDirectory,
    Sysfs,
    Landlock,
    Keyring,
    Groups,
    Filter,
    Guard,
}

impl Step {
    pub(crate) const ALL: [Self; 31] = [
        Self::Descriptors,
        Self::Cover,
        Self::Ids,
        Self::Stage,
        Self::Layers,
        Self::ReadOnlyLayers,
        Self::Directory,
        Self::Root,
        Self::Place,
        Self::Pivot,
        Self::Private,
        Self::Devices,
        Self::Proc,
        Self::Hidden,
        Self::Target,
        Self::Folders,
        Self::Network,
        Self::Sockets,
        Self::Signals,
        Self::Terminal,
        Self::Fork,
        Self::Session,
        Self::Limits,
        Self::Privileges,
        Self::WorkingDirectory,
        Self::Sysfs,
        Self::Landlock,
        Self::Keyring,
        Self::Groups,
        Self::Filter,
        Self::Guard,
    ];

    /// The wall that it puts up, by the name that it has in [`Walls`](crate::Walls).
    pub(crate) fn wall(self) -> Option<&'static str> {
        match self {
            Self::Sysfs => Some("sysfs"),
            Self::Landlock => Some("landlock"),
            Self::Keyring => Some("keyring"),
            Self::Groups => Some("groups"),
            Self::Filter => Some("seccomp"),
            _ => None,
        }
    }
}

/// The work of one step, with its name on what goes wrong.
pub(super) fn step<T>(step: Step, result: Result<T, Errno>) -> Result<T, Failure> {
    step_at(step, 0, result)
}

pub(super) fn step_at<T>(step: Step, index: usize, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { step, errno, index: index as u32, detail: Detail::NONE })
}
