//! Words about what policy says.

use crate::word::words;

words! {
    /// Whether a command may run, and under which condition; the strictest is the last.
    pub enum PolicyDecision {
        /// It runs.
        Allow = "allow",
        /// It runs, and there is a checkpoint to come back to.
        AllowWithCheckpoint = "allow_with_checkpoint",
        /// It runs when a person says so.
        RequireApproval = "require_approval",
        /// It does not run.
        Deny = "deny",
    }
}

words! {
    /// A kind of effect, from the most harmless to the worst.
    pub enum EffectCategory {
        /// It changes nothing and stays inside.
        ReadOnly = "read_only",
        /// It wants a person at a terminal.
        Interactive = "interactive",
        /// It changes files, or nobody can say that it does not.
        Mutating = "mutating",
        /// It reaches for the network.
        Networked = "networked",
        /// It deletes or overwrites what it did not make.
        Destructive = "destructive",
        /// It reaches beyond the workspace: more rights, the host, credentials, or code that nobody can see beforehand.
        HostEscapeRisk = "host_escape_risk",
    }
}

words! {
    /// Whose rules they are, from the widest to the narrowest.
    pub enum PolicyLayer {
        /// What is always there.
        BuiltIn = "built_in",
        /// Your own rules.
        User = "user",
        /// The project's rules.
        Project = "project",
        /// Rules of one request.
        Request = "request",
    }
}

words! {
    /// What part of a command line was judged.
    pub enum CommandPart {
        /// A program with its arguments.
        Program = "program",
        /// A redirection.
        Redirection = "redirection",
        /// A variable that is set.
        Assignment = "assignment",
        /// Something that could not be understood.
        Unclear = "unclear",
    }
}

words! {
    /// What is done to a path.
    pub enum PathAccess {
        /// It is read.
        Read = "read",
        /// It is made or changed.
        Write = "write",
        /// It goes.
        Delete = "delete",
    }
}

words! {
    /// What a file of rules is written in.
    pub enum PolicyLanguage {
        /// Rules.
        Toml = "toml",
        /// A Rego module.
        Rego = "rego",
    }
}
