//! Options that all commands take, or many of them.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::complete;

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Work on this workspace [default: $OFFSHOOT_WORKSPACE, else the only one; commands that only read use the most recent one]
    #[arg(short, long, global = true, value_name = "NAME", add = complete::workspaces())]
    pub(crate) workspace: Option<String>,
    /// Work on this vault [default: $OFFSHOOT_VAULT, else the one of the current folder]
    #[arg(long, global = true, value_name = "NAME", add = complete::vaults())]
    pub(crate) vault: Option<String>,
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors and the data asked for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Set a configuration key for this command, as KEY=VALUE
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Keep vaults in this directory [default: $OFFSHOOT_HOME, $XDG_DATA_HOME/offshoot or ~/.local/share/offshoot]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
}

// A workspace that is named without an option. A doc comment here, and on whatever else is flattened into the options of a
// command, would take the place of what the command says about itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct Named {
    /// Workspace, as with -w
    #[arg(value_name = "WORKSPACE", add = complete::workspaces())]
    named: Option<String>,
}

impl Named {
    /// What was typed.
    pub(crate) fn text(&self) -> Option<&str> {
        self.named.as_deref()
    }
}
