//! Words about the program itself.

use crate::word::words;

words! {
    /// What a project's file may do with a setting.
    pub enum ProjectRule {
        /// Whatever it wants.
        Free = "free",
        /// Ask for less than its reader has.
        Narrow = "narrow",
        /// Nothing: only the reader sets it.
        Never = "never",
    }
}

words! {
    /// How something is that `doctor` looked at.
    pub enum DoctorState {
        /// As it should be.
        Ok = "ok",
        /// Works, but something is missing.
        Warning = "warning",
        /// Does not work.
        Problem = "problem",
    }
}

words! {
    /// What an argument is.
    pub enum ArgumentKindDoc {
        /// A word at its place.
        Positional = "positional",
        /// An option with a value.
        Option = "option",
        /// An option without one.
        Flag = "flag",
    }
}

words! {
    /// A choice that may be left to what the output turns out to be.
    pub enum When {
        /// Only if the output is a terminal.
        Auto = "auto",
        /// In any case.
        Always = "always",
        /// In no case.
        Never = "never",
    }
}

words! {
    /// A shell that completes commands.
    pub enum Shell {
        /// Bash.
        Bash = "bash",
        /// Zsh.
        Zsh = "zsh",
        /// Fish.
        Fish = "fish",
        /// Elvish.
        Elvish = "elvish",
        /// PowerShell.
        Powershell = "powershell",
    }
}
