//! Words about running a command.

use crate::exit_code::ExitCode;
use crate::word::words;

words! {
    /// What a command can reach.
    pub enum Network, default None {
        /// Nothing but its own loopback interface.
        None = "none",
        /// The hosts that were allowed, by the network proxy.
        Proxy = "proxy",
        /// Everything that the host reaches.
        Host = "host",
    }
}

words! {
    /// A limit of what a command may use.
    pub enum ResourceLimit {
        /// Memory of all its processes together.
        Memory = "memory",
        /// Processes and threads.
        Processes = "processes",
        /// Time of processors, of all its processes together.
        Cpu = "cpu",
        /// The size of one file.
        FileSize = "file_size",
        /// What it adds to its workspace.
        Disk = "disk",
    }
}

words! {
    /// Why a command was run a second time.
    pub enum RerunReason {
        /// Policy judged it read-only, so it ran on a read-only mount, where it tried to write.
        WroteToReadOnly = "wrote_to_read_only",
    }
}

words! {
    /// A way to make a state of files a directory.
    pub enum DriverName {
        /// The kernel stacks the layers; changes are what it writes into the topmost directory.
        Overlay = "overlay",
        /// A plain copy; changes are found by looking at all of it.
        Copy = "copy",
    }
}

words! {
    /// Which way to make a state of files a directory is wanted.
    pub enum DriverChoice, default Auto {
        /// The first that works.
        Auto = "auto",
        /// The kernel's overlayfs.
        Overlay = "overlay",
        /// A plain copy.
        Copy = "copy",
    }
}

impl DriverChoice {
    /// The one driver that is wanted; none where the first that works is.
    pub const fn only(self) -> Option<DriverName> {
        match self {
            Self::Auto => None,
            Self::Overlay => Some(DriverName::Overlay),
            Self::Copy => Some(DriverName::Copy),
        }
    }
}

words! {
    /// When to make a checkpoint before a command.
    pub enum CheckpointMode, default Auto {
        /// Before commands that change something.
        Auto = "auto",
        /// Before every command.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

words! {
    /// How far an exec came. The first seven are in their order; every one may lead to `failed`, and `deciding` to `denied` or
    /// `pending_approval`.
    pub enum ExecState {
        /// Offshoot checks the request.
        Validating = "validating",
        /// Policy decides whether it may run; nothing is touched before.
        Deciding = "deciding",
        /// The workspace is found or forked, and held.
        Preparing = "preparing",
        /// The inside is made.
        Mounting = "mounting",
        /// The command runs.
        Executing = "executing",
        /// What it changed is taken and recorded.
        Sealing = "sealing",
        /// It is over.
        Completed = "completed",
        /// Policy does not let it run.
        Denied = "denied",
        /// It waits for a person to approve it.
        PendingApproval = "pending_approval",
        /// It could not be brought to its end.
        Failed = "failed",
        /// It runs now; only in lists.
        Running = "running",
        /// It was cut short, and `recover` kept what it had written.
        Crashed = "crashed",
        /// A later version of Offshoot recorded a state that this one does not know; only in lists.
        Unknown = "unknown",
    }
}

impl ExecState {
    /// Whether policy did not let it run.
    pub const fn is_refusal(self) -> bool {
        self.refusal_code().is_some()
    }

    /// The exit code of what policy did not let run.
    pub const fn refusal_code(self) -> Option<ExitCode> {
        match self {
            Self::Denied => Some(ExitCode::Denied),
            Self::PendingApproval => Some(ExitCode::PendingApproval),
            Self::Validating
            | Self::Deciding
            | Self::Preparing
            | Self::Mounting
            | Self::Executing
            | Self::Sealing
            | Self::Completed
            | Self::Failed
            | Self::Running
            | Self::Crashed
            | Self::Unknown => None,
        }
    }

    /// The state that follows where all goes well.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Validating => Some(Self::Deciding),
            Self::Deciding => Some(Self::Preparing),
            Self::Preparing => Some(Self::Mounting),
            Self::Mounting => Some(Self::Executing),
            Self::Executing => Some(Self::Sealing),
            Self::Sealing => Some(Self::Completed),
            Self::Completed
            | Self::Denied
            | Self::PendingApproval
            | Self::Failed
            | Self::Running
            | Self::Crashed
            | Self::Unknown => None,
        }
    }
}

words! {
    /// Where the changes of a command are when its answer is printed.
    pub enum Durability {
        /// They are on disk and recorded.
        Flushed = "flushed",
        /// There was nothing to keep.
        None = "none",
    }
}

words! {
    /// What confines a command.
    pub enum Confinement {
        /// Namespaces of its own.
        Namespaces = "namespaces",
        /// Rules of the kernel's alone, where the system refuses namespaces.
        Rules = "rules",
        /// Nothing: it has no namespace of its own.
        None = "none",
    }
}

words! {
    /// Something that confines a command.
    pub enum Wall {
        /// Namespaces, and the mounts in them. Without, rules of Landlock and the filter of calls alone keep the command in.
        Namespaces = "namespaces",
        /// A `/proc` of its own processes alone.
        OwnProc = "own_proc",
        /// Rules of the kernel's Landlock beneath the mounts.
        Landlock = "landlock",
        /// System calls that no build needs are refused.
        Seccomp = "seccomp",
        /// Keys of the caller's session are out of reach.
        Keyring = "keyring",
        /// The caller's further groups are dropped.
        Groups = "groups",
        /// Root has ids that nobody has outside.
        OwnIds = "own_ids",
        /// What of `/sys` tells of the whole machine is empty.
        Sysfs = "sysfs",
    }
}

words! {
    /// What is asked of something that confines a command.
    pub enum Demand {
        /// It is not there.
        Off = "off",
        /// It is there if the system has it.
        Optional = "optional",
        /// Without it the command does not run.
        Required = "required",
    }
}

words! {
    /// Whether a command sees a path.
    pub enum Visibility {
        /// It is part of the workspace.
        Workspace = "workspace",
        /// It is the host's, read-only.
        Shown = "shown",
        /// It is a copy.
        Copied = "copied",
        /// A copy would be shown, but it holds what seems to be a credential and cannot be parted from it.
        Withheld = "withheld",
        /// A directory of the command's own is in its place.
        Private = "private",
        /// It is covered.
        Hidden = "hidden",
        /// Nothing is there.
        Absent = "absent",
    }
}

words! {
    /// What a command may do with the files of its workspace.
    pub enum FileAccess {
        /// It sees them.
        Read = "read",
        /// It changes them.
        Write = "write",
    }
}

words! {
    /// How the home directory looks from inside.
    pub enum HomeView {
        /// There is none.
        None = "none",
        /// A directory of the command's own, with toolchains and settings of the user's; what is written there is thrown away.
        ThrowAway = "throw_away",
        /// A directory that the vault keeps for a coding agent, with toolchains and settings of the user's.
        Kept = "kept",
        /// As on the host, and it cannot be written.
        ReadOnly = "read_only",
        /// It is part of the workspace.
        Workspace = "workspace",
    }
}

words! {
    /// What becomes of what an interrupted command wrote.
    pub enum AbandonedWork {
        /// It waits for somebody to decide.
        Offer = "offer",
        /// It becomes a checkpoint.
        Keep = "keep",
        /// It is thrown away.
        Discard = "discard",
    }
}

#[cfg(test)]
mod tests {
    use super::ExecState;

    #[test]
    fn every_way_ends() {
        let mut state = ExecState::Validating;
        let mut passed = vec![state];
        while let Some(next) = state.next() {
            assert!(next > state);
            state = next;
            passed.push(state);
        }
        assert_eq!(passed, ExecState::ALL[..7]);
        assert!(ExecState::ALL[6..].iter().all(|state| state.next().is_none()));
    }
}
