//! What the exit codes of `offshoot` mean.

/// The exit codes of `offshoot`. They never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// It worked.
    Success = 0,
    /// Something failed that has no code of its own; also `diff --exit-code` when there are differences.
    Failure = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// Something that was named is not there.
    NotFound = 3,
    /// The state does not allow it: a name is taken, a prefix is ambiguous, something changed meanwhile; also `merge` with conflicts.
    Conflict = 4,
    /// Stored data is damaged.
    Damaged = 5,
    /// The disk is full, read-only, or fails.
    Storage = 6,
    /// The vault was written by a newer version.
    NewerFormat = 7,
    /// Another process kept the vault busy for too long.
    Busy = 8,
    /// It was called inside of a workspace, where vaults cannot be seen.
    Inside = 9,
    /// `exec`: policy denied the command; nothing ran.
    Denied = 122,
    /// `exec`: the command waits for a person's approval; nothing ran.
    PendingApproval = 123,
    /// `exec`: the command's time was over before it was.
    Timeout = 124,
    /// `exec`: Offshoot itself failed; the envelope says how.
    ExecFailed = 125,
    /// `exec`: the command was found and could not be executed.
    NotExecutable = 126,
    /// `exec`: the command was not found.
    CommandNotFound = 127,
    /// SIGINT, as Ctrl-C sends it, ended `offshoot`.
    Interrupted = 130,
    /// SIGTERM ended `offshoot`.
    Terminated = 143,
}

impl ExitCode {
    /// All codes.
    pub const ALL: [Self; 18] = [
        Self::Success,
        Self::Failure,
        Self::Usage,
        Self::NotFound,
        Self::Conflict,
        Self::Damaged,
        Self::Storage,
        Self::NewerFormat,
        Self::Busy,
        Self::Inside,
        Self::Denied,
        Self::PendingApproval,
        Self::Timeout,
        Self::ExecFailed,
        Self::NotExecutable,
        Self::CommandNotFound,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The word for it in error documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Damaged => "damaged",
            Self::Storage => "storage",
            Self::NewerFormat => "newer_format",
            Self::Busy => "busy",
            Self::Inside => "inside",
            Self::Denied => "denied",
            Self::PendingApproval => "pending_approval",
            Self::Timeout => "timeout",
            Self::ExecFailed => "exec_failed",
            Self::NotExecutable => "not_executable",
            Self::CommandNotFound => "command_not_found",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
        }
    }
}
