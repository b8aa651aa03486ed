//! Presets of coding agents.

use crate::word::words;

words! {
    /// What becomes of what a coding agent has in its home.
    pub enum HomeKeep {
        /// It stays for the next run.
        State = "state",
        /// It is kept equal to the user's own file while the agent runs.
        Credential = "credential",
        /// It stays, and values of it are those of the user's own file.
        Values = "values",
        /// It is the user's own, without credentials; changes are thrown away.
        Config = "config",
        /// It stays as long as there is not too much of it.
        Cache = "cache",
        /// It is thrown away.
        Drop = "drop",
    }
}

words! {
    /// What a file that holds a credential must be to be written to the user's home.
    pub enum CredentialFormat {
        /// A JSON document.
        Json = "json",
        /// TOML.
        Toml = "toml",
        /// Any text.
        Text = "text",
    }
}

words! {
    /// Where a preset comes from.
    pub enum PresetOrigin {
        /// It is part of the program.
        BuiltIn = "built_in",
        /// The user wrote it.
        User = "user",
    }
}

words! {
    /// What becomes of the sandbox that a coding agent puts around what it starts.
    pub enum OwnSandbox, default Kept {
        /// The preset switches it off: the walls of Offshoot are those in force.
        Off = "off",
        /// The preset leaves it as the agent and its user have it; the walls of Offshoot are around it.
        Kept = "kept",
    }
}

words! {
    /// What becomes of the logins of coding agents that run by a preset.
    pub enum CredentialMode, default Sync {
        /// They are kept equal to those of the user.
        Sync = "sync",
        /// They are copied in, and nothing comes back.
        Copy = "copy",
        /// Agents get none.
        None = "none",
    }
}
