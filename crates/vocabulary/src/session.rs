//! Words about sessions of agents.

use crate::word::words;

words! {
    /// How a session stands.
    pub enum SessionState, default Open {
        /// A process works on it, or one was interrupted.
        Open = "open",
        /// It waits for a person.
        Waiting = "waiting",
        /// Nothing is expected any more.
        ///
        /// It can still be taken up again.
        Ended = "ended",
    }
}

words! {
    /// What a call of an agent asks for.
    pub enum CallKind {
        /// A command.
        Exec = "exec",
        /// A change of files without a command.
        Change = "change",
    }
}

words! {
    /// What became of a call of an agent.
    pub enum CallState {
        /// Its command runs.
        Running = "running",
        /// Its command started, and the process that ran it is gone.
        Interrupted = "interrupted",
        /// Its command is over, or never ran; the record of it says how.
        Ended = "ended",
        /// The files are changed.
        Changed = "changed",
    }
}
