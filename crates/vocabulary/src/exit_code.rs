//! What the exit codes of `offshoot` mean.

use crate::word::words;

words! {
    /// The exit codes of `offshoot`, by the words that error documents have for them. They never change their meaning.
    pub enum ExitCode {
        /// It worked.
        Success = "success",
        /// Something failed that has no code of its own; also `diff --exit-code` with differences, and `doctor` with a problem.
        ///
        /// Read the message: it names what failed. `offshoot doctor` checks whether this machine can run Offshoot.
        Failure = "failure",
        /// The command line or the configuration is wrong.
        ///
        /// Nothing was done. `offshoot COMMAND --help` shows the options with examples, and `offshoot config show` shows each setting with
        /// the file that it comes from.
        Usage = "usage",
        /// Something that was named is not there.
        ///
        /// `candidates` in the JSON answer has the names that are close, or all if none is. `offshoot ls` lists workspaces, `offshoot vault
        /// list` vaults, `offshoot execs` commands and `offshoot checkpoint list` checkpoints.
        ///
        /// What was collected by `gc` is reported so too: `gc.keep_operations` and `gc.keep_age` say how long it is kept.
        NotFound = "not_found",
        /// The state does not allow it: a name is taken, a prefix is ambiguous, something changed meanwhile, or a merge has conflicts.
        ///
        /// Trying again does not help until something else is changed. After a merge or a pull with conflicts, `offshoot conflicts` lists
        /// them and `offshoot resolve` decides them. A commit with conflicts writes nothing: `offshoot pull` brings them into the workspace
        /// first. If a prefix is ambiguous, give more of the id: `candidates` has those that fit.
        Conflict = "conflict",
        /// Stored data is damaged.
        ///
        /// Copy the vault's directory before anything else. `offshoot vault check` lists everything that is damaged, and `offshoot vault
        /// check --repair` keeps what can be kept.
        Damaged = "damaged",
        /// The disk is full, read-only, or fails; the output cannot be written; or root would change another user's vault.
        ///
        /// On a full disk, `offshoot gc` and `offshoot workspace delete` still work and free space. Then try again: nothing is half done.
        Storage = "storage",
        /// The vault was written by a newer version.
        ///
        /// Update Offshoot. Nothing was changed.
        NewerFormat = "newer_format",
        /// Another process kept the vault or the workspace busy for too long.
        ///
        /// Try again later: this is the one code for which that alone can help. `offshoot ps` lists what runs, `--wait` waits for a
        /// workspace, and `store.busy_timeout` says how long to wait for a vault.
        Busy = "busy",
        /// A command inside of a workspace called `offshoot`, where vaults cannot be seen.
        ///
        /// Leave the shell of the workspace, and call it from the host.
        Inside = "inside",
        /// `exec`: policy or a person denies the command, or it could do nothing in a workspace. `approvals`: who asks may not decide. `mcp`: the tool is not trusted.
        ///
        /// `offshoot policy explain -- CMD` says which rule decides and which rule would allow it. `offshoot mcp trust SERVER` shows what a
        /// server says about its tools, and asks.
        Denied = "denied",
        /// `exec`: the command waits for a person to approve it; what it would change is not real yet.
        ///
        /// `offshoot approvals show ID` shows what it does, and `offshoot approvals approve ID` makes it real. `exec --wait-approval` waits for
        /// the decision.
        PendingApproval = "pending_approval",
        /// `exec`: the command timed out and was killed. `mcp`: the server did not answer in time.
        ///
        /// What it wrote until then is recorded. `--timeout 10m` gives it more time, `--timeout none` as much as it wants.
        Timeout = "timeout",
        /// `exec`: Offshoot failed before, around or after the command; the envelope says how.
        ///
        /// `error` in the envelope has the reason, with a code of its own: a workspace that is busy is `busy` there, and `exec` exits with
        /// 125. If `recoverable` is true, what the command wrote is set aside: `offshoot recover list` shows it.
        ExecFailed = "exec_failed",
        /// `exec`: the command was found and cannot be executed.
        ///
        /// Check its mode and its first line. A file without `#!` needs its interpreter in front.
        NotExecutable = "not_executable",
        /// `exec`: the command was not found.
        ///
        /// A line of shell needs `--shell 'LINE'`. Programs in your home are found if the sandbox shows them; `offshoot exec -- env` prints
        /// the `PATH` inside.
        CommandNotFound = "command_not_found",
        /// SIGHUP ended `offshoot`, as when its terminal is closed; the message says what it left.
        ///
        /// The same holds as after Ctrl-C. A command that ran already decides about the exit code of `exec` and `run` itself.
        HungUp = "hung_up",
        /// Ctrl-C (SIGINT) ended `offshoot`; the message says what it left.
        ///
        /// What `exec` and `run` wrote until then is recorded. An interrupted commit is finished or taken back by the next command.
        Interrupted = "interrupted",
        /// SIGQUIT ended `offshoot`; the message says what it left.
        ///
        /// The same holds as after Ctrl-C. A command that ran already is killed at once, and `exec` and `run` exit with 137.
        Quit = "quit",
        /// SIGTERM ended `offshoot`; the message says what it left.
        ///
        /// The same holds as after Ctrl-C.
        Terminated = "terminated",
    }
}

impl ExitCode {
    /// The number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Damaged => 5,
            Self::Storage => 6,
            Self::NewerFormat => 7,
            Self::Busy => 8,
            Self::Inside => 9,
            Self::Denied => 122,
            Self::PendingApproval => 123,
            Self::Timeout => 124,
            Self::ExecFailed => 125,
            Self::NotExecutable => 126,
            Self::CommandNotFound => 127,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Quit => 131,
            Self::Terminated => 143,
        }
    }

    /// The code of a process that this signal ended; none for signals that ask nobody to end.
    pub const fn of_signal(signal: i32) -> Option<Self> {
        match signal {
            1 => Some(Self::HungUp),
            2 => Some(Self::Interrupted),
            3 => Some(Self::Quit),
            15 => Some(Self::Terminated),
            _ => None,
        }
    }

    /// Whether what was asked for was done.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success)
    }
}
