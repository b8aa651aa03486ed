//! What confines a running command, as it was found to be.

use std::path::PathBuf;

use offshoot_vocabulary::{HomeView, Network};
use rustix::io::Errno;

use crate::message::Top;
use crate::spec::Limits;

/// What confines a running command. Nothing in here is taken from what was asked for: it is what the init made and what the kernel
/// answered when it was asked, just before the command was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// Namespaces of its own.
    pub namespaces: Vec<&'static str>,
    /// What it reaches.
    pub network: Network,
    /// How its home looks.
    pub home: HomeView,
    /// The workspace can be written.
    pub writable: bool,
    /// Directories that are private and gone afterwards.
    pub private: Vec<PathBuf>,
    /// Directories that are masked.
    pub hidden: Vec<PathBuf>,
    /// Directories in which projects may lie and of which nothing stays.
    pub scratch: Vec<DiscardedDirectory>,
    /// Directories that outlive it.
    pub caches: Vec<&'static str>,
    /// Who renames directories.
    pub renames: Renames,
    /// What it may use: those of the limits asked for that the kernel has and holds it to.
    pub limits: Limits,
    /// The version of Landlock's rules that hold.
    pub landlock: Option<u32>,
    /// What else it cannot do.
    pub restrictions: Vec<Restriction>,
}

impl InForce {
    /// Whether no namespace is the command's own: what there is then is rules.
    pub fn is_bare(&self) -> bool {
        self.namespaces.is_empty()
    }

    /// What every command is usually kept from, and this one was not, because the system refuses what would do it.
    pub fn gaps(&self) -> Vec<&'static str> {
        let has = |restriction| self.restrictions.contains(&restriction);
        let mut gaps = Vec::new();
        if !has(Restriction::OwnProc) {
            gaps.push("names and arguments of all processes can be seen");
        }
        if self.is_bare() {
            const SIGNALS: u32 = 6;
            gaps.extend([
                "modes and times of your files outside the workspace can be changed, and their names and sizes seen",
                "memory, processes and time of processors are not limited for all processes together",
                "the workspace is not at the project's own path",
            ]);
            if self.landlock.is_none_or(|version| version < SIGNALS) {
                gaps.push("your other processes can be signalled, and so can the one that ends what the command leaves running");
            }
        }
        gaps
    }

    /// Nothing at all.
    pub fn nothing() -> Self {
        Self {
            namespaces: Vec::new(),
            network: Network::Host,
            home: HomeView::None,
            writable: true,
            private: Vec::new(),
            hidden: Vec::new(),
            scratch: Vec::new(),
            caches: Vec::new(),
            renames: Renames::Native,
            limits: Limits::default(),
            landlock: None,
            restrictions: Vec::new(),
        }
    }
}

/// A directory that the command could write and of which nothing stays; what it wrote can be looked at until the keeper ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscardedDirectory {
    /// Where the command saw it, which is where the host has a directory of its own.
    pub path: PathBuf,
    pub(crate) top: Top,
    /// Its name below that.
    pub(crate) below: Vec<u8>,
}

/// Who renames directories of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renames {
    /// The kernel alone.
    Native,
    /// The broker, where the kernel cannot.
    Brokered,
    /// The kernel alone, because it refused to tell a broker about renames.
    Refused(Errno),
}

/// Something that a command cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Restriction {
    /// The root of its file system is mounted read-only.
    ReadOnlyRoot,
    /// What it executes gives it no further rights.
    NoNewPrivs,
    /// It has no capability, and none can come back.
    NoCapabilities,
    /// It sees the usual devices and no other.
    MinimalDev,
    /// A crash leaves no dump of memory.
    NoCoreDumps,
    /// Of `/proc` it can change nothing but its own processes.
    ReadOnlyProc,
    /// Of the host it sees what is on a list.
    ListedRoot,
    /// Root inside is nobody outside.
    OwnIds,
    /// What of `/sys` tells of the whole machine is empty.
    MaskedSysfs,
    /// Landlock lets it write where writing is meant, and nowhere else.
    Landlock,
    /// System calls that no build needs are refused.
    CallFilter,
    /// Its session keyring is its own.
    OwnKeyring,
    /// No supplementary group gives it anything.
    NoGroups,
    /// Of `/proc` it sees its own processes, and of others nothing.
    OwnProc,
}

impl Restriction {
    /// All that there are.
    pub const ALL: [Self; 14] = [
        Self::ReadOnlyRoot,
        Self::NoNewPrivs,
        Self::NoCapabilities,
        Self::MinimalDev,
        Self::NoCoreDumps,
        Self::ReadOnlyProc,
        Self::ListedRoot,
        Self::OwnIds,
        Self::MaskedSysfs,
        Self::Landlock,
        Self::CallFilter,
        Self::OwnKeyring,
        Self::NoGroups,
        Self::OwnProc,
    ];

    /// What it keeps a command from, for people.
    pub fn keeps(self) -> &'static str {
        match self {
            Self::ReadOnlyRoot => {
                "nothing can be written beside the workspace and private directories"
            }
            Self::NoNewPrivs => "setuid programs give no rights",
            Self::NoCapabilities => "no capability, also for root",
            Self::MinimalDev => "the usual devices and no other, which cannot be changed",
            Self::NoCoreDumps => "no dump of memory among the files",
            Self::ReadOnlyProc => "settings of the kernel cannot be changed",
            Self::ListedRoot => "of the machine there is what is on a list",
            Self::OwnIds => "root's commands are nobody outside",
            Self::MaskedSysfs => "firmware, traces and power are out of sight",
            Self::Landlock => "a second lock on writes, beneath the mounts",
            Self::CallFilter => "system calls that no build needs are refused",
            Self::OwnKeyring => "keys of your session are out of reach",
            Self::NoGroups => "no further group opens anything",
            Self::OwnProc => "other processes cannot be seen",
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnlyRoot => "read_only_root",
            Self::NoNewPrivs => "no_new_privs",
            Self::NoCapabilities => "no_capabilities",
            Self::MinimalDev => "minimal_dev",
            Self::NoCoreDumps => "no_core_dumps",
            Self::ReadOnlyProc => "read_only_proc",
            Self::ListedRoot => "listed_root",
            Self::OwnIds => "own_ids",
            Self::MaskedSysfs => "masked_sysfs",
            Self::Landlock => "landlock",
            Self::CallFilter => "seccomp",
            Self::OwnKeyring => "own_keyring",
            Self::NoGroups => "no_groups",
            Self::OwnProc => "own_proc",
        }
    }
}

/// What a process can tell about itself without allocating: a bit for each restriction, and one for the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings(u64);

impl Findings {
    const WRITABLE: u32 = 63;

    pub(crate) fn from_number(number: i64) -> Self {
        Self(number.cast_unsigned())
    }

    pub(crate) fn number(self) -> i64 {
        self.0.cast_signed()
    }

    /// Adds a restriction where it was found to hold.
    pub(crate) fn add(&mut self, restriction: Restriction, holds: bool) {
        self.0 |= u64::from(holds) << restriction as u32;
    }

    pub(crate) fn add_writable(&mut self, writable: bool) {
        self.0 |= u64::from(writable) << Self::WRITABLE;
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn writable(self) -> bool {
        self.0 >> Self::WRITABLE != 0
    }

    /// The restrictions that were found.
    pub(crate) fn restrictions(self) -> Vec<Restriction> {
        let holds = |restriction: &Restriction| self.0 & (1 << *restriction as u32) != 0;
        Restriction::ALL.into_iter().filter(holds).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_found_is_not_in_force() {
        for missing in Restriction::ALL {
            let mut found = Findings::default();
            for restriction in Restriction::ALL {
                found.add(restriction, restriction != missing);
            }
            let told = Findings::from_number(found.number());
            let expected: Vec<_> = Restriction::ALL.into_iter().filter(|r| *r != missing).collect();
            assert_eq!(told.restrictions(), expected);
            assert!(!told.writable());
            found.add_writable(true);
            assert!(Findings::from_number(found.number()).writable());
        }
    }
}
