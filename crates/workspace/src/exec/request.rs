//! What somebody asks for.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::{CheckpointMode, DriverChoice, Network};
use offshoot_sandbox::{Cancel, Stdin, Terminal};
use offshoot_store::Id;
use offshoot_vault::{Actor, CallKey};

/// One command to be run in a workspace.
#[derive(Debug)]
pub struct ExecutionRequest {
    /// The id that it is recorded under.
    pub id: Id,
    /// What to run.
    pub command: CommandLine,
    /// Where to start: relative to the workspace, or an absolute path inside. The workspace itself where there is none.
    pub cwd: Option<PathBuf>,
    /// All variables that the command gets.
    pub environment: Vec<(OsString, OsString)>,
    /// The names of variables that the caller set or passed on beyond the usual ones.
    pub set_by_caller: Vec<OsString>,
    /// What it reads; taken when the command starts.
    pub stdin: Stdin,
    /// Whether it reads something.
    pub has_stdin: bool,
    /// A terminal of its own, in place of pipes; taken when the command starts.
    pub terminal: Option<Terminal>,
    /// It is a shell that a person works in: its prompt says which workspace it is in, where the shell allows that.
    pub mark_prompt: bool,
    /// A person's session at a terminal, which others can join.
    pub session: bool,
    /// It joins a session that keeps its workspace busy.
    pub joins: bool,
    /// Keep what it prints.
    pub record: bool,
    /// How long it may take.
    pub timeout: ExecutionTimeout,
    /// It may change nothing.
    pub read_only: bool,
    /// Where it runs.
    pub place: ExecutionWorkspace,
    /// When to make a checkpoint.
    pub checkpoint: CheckpointMode,
    /// What it may reach.
    pub network: Option<Network>,
    /// Rules of hosts that it reaches by the proxy, beside those of the profile.
    pub allow: Vec<String>,
    /// The profile that it runs by; the user's own where none is named.
    pub sandbox: Option<String>,
    /// The preset that it runs by: it is a coding agent.
    pub preset: Option<String>,
    /// What of the host it sees beside what the profile lets it see.
    pub show: Vec<PathBuf>,
    /// How to mount the workspace.
    pub driver: DriverChoice,
    /// Compare the layers of the workspace with its tree first; nothing runs where they differ.
    pub verify: bool,
    /// Show the changes as a patch too.
    pub patch: bool,
    /// How long to wait for a workspace in which something else runs.
    pub wait: Option<Duration>,
    /// How long to wait for a person, where one has to decide.
    pub wait_approval: ApprovalWait,
    /// Keep a workspace that is made for it, even where nothing changes.
    pub keep: bool,
    /// Who asks.
    pub actor: Actor,
    /// What an agent calls it: nothing runs twice under one key.
    pub call: Option<CallKey>,
    /// How somebody in this process ends it.
    pub cancel: Option<Arc<Cancel>>,
}

impl ExecutionRequest {
    /// What it may reach, as far as that was settled.
    pub fn reach(&self) -> Network {
        self.network.unwrap_or_default()
    }
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments.
    Argv(Vec<OsString>),
    /// A text for the shell.
    Shell(OsString),
}

impl CommandLine {
    /// What is executed.
    pub fn arguments(&self) -> Vec<OsString> {
        match self {
            Self::Argv(arguments) => arguments.clone(),
            Self::Shell(text) => vec!["/bin/sh".into(), "-c".into(), text.clone()],
        }
    }

    /// One line for people.
    pub fn display(&self) -> String {
        match self {
            Self::Shell(text) => text.to_string_lossy().into_owned(),
            Self::Argv(arguments) => {
                let words =
                    arguments.iter().map(|argument| shell_word(&argument.to_string_lossy()));
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// An argument as a shell would take it.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,@%+".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Where a command runs, as it was asked for: nothing is looked up before the command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionWorkspace {
    /// In the workspace of this name, or of an id that starts with it. Where there is none, it is forked from the main line.
    Workspace(String),
    /// In this workspace and no other. Where it is gone, nothing runs.
    Existing {
        /// Which.
        id: Id,
        /// What it was called when this was asked for.
        name: String,
    },
    /// In a new one.
    Fork {
        /// What it starts from, as a REF; without it, the main line as it is when the command may run.
        from: Option<String>,
        /// For an ephemeral one: how long it lives without being used.
        lifetime: Option<Duration>,
    },
}

impl ExecutionWorkspace {
    /// The workspace that was named.
    pub fn workspace(&self) -> Option<&str> {
        match self {
            Self::Workspace(name) | Self::Existing { name, .. } => Some(name),
            Self::Fork { .. } => None,
        }
    }
}

/// How long to wait for a person to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalWait {
    /// Not at all.
    #[default]
    None,
    /// Until somebody decides, or it is too late to.
    Forever,
    /// So long at most.
    For(Duration),
}

/// How long a command may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionTimeout {
    /// As long as it wants.
    None,
    /// So many milliseconds.
    Millis(u64),
}

impl Default for ExecutionTimeout {
    fn default() -> Self {
        Self::Millis(300_000)
    }
}

impl ExecutionTimeout {
    /// The time, where there is a limit.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::Millis(millis) => Some(Duration::from_millis(millis)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_a_shell_takes_them() {
        let argv = |arguments: &[&str]| {
            CommandLine::Argv(arguments.iter().map(Into::into).collect()).display()
        };
        assert_eq!(argv(&["git", "commit", "-m", "it's done"]), r"git commit -m 'it'\''s done'");
        assert_eq!(argv(&["a", ""]), "a ''");
        assert_eq!(argv(&["sh", "-c", "echo \"a\tb\""]), "sh -c 'echo \"a\tb\"'");
        assert_eq!(CommandLine::Shell("a | b".into()).display(), "a | b");
        let shell = CommandLine::Shell("a | b".into()).arguments();
        assert_eq!(shell, ["/bin/sh", "-c", "a | b"]);
    }
}
