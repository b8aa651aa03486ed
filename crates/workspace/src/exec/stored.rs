//! A request in words, for another process: a worker, or whoever runs it once a person approved of it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_protocol::{CheckpointMode, DriverChoice, Network, Text};
use offshoot_sandbox::Stdin;
use offshoot_store::Id;
use offshoot_vault::{Actor, CallKey};
use serde::{Deserialize, Serialize};

use super::request::{
    ApprovalWait, CommandLine, ExecutionRequest, ExecutionTimeout, ExecutionWorkspace,
};

/// A request in words: all of it but what it reads and who ends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRequest {
    id: Id,
    command: Line,
    cwd: Option<Text>,
    environment: Vec<(Text, Text)>,
    set_by_caller: Vec<Text>,
    mark_prompt: bool,
    session: bool,
    joins: bool,
    record: bool,
    timeout_ms: Option<u64>,
    read_only: bool,
    place: Target,
    checkpoint: CheckpointMode,
    network: Option<Network>,
    allow: Vec<String>,
    sandbox: Option<String>,
    #[serde(default)]
    preset: Option<String>,
    show: Vec<Text>,
    driver: DriverChoice,
    verify: bool,
    patch: bool,
    wait: Option<Duration>,
    keep: bool,
    wait_approval: Awaited,
    actor: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallKey>,
}

/// How long to wait for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Awaited {
    Not,
    Forever,
    For(Duration),
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Argv(Vec<Text>),
    Shell(Text),
}

/// Where it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Target {
    Workspace(String),
    Existing { id: Id, name: String },
    Fork { from: Option<String>, lifetime: Option<Duration> },
}

impl StoredRequest {
    /// The variables that the caller set, with their values.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&Text, &Text)> {
        let set = self.environment.iter().filter(|(name, _)| self.set_by_caller.contains(name));
        set.map(|(name, value)| (name, value))
    }

    /// A request, without what it reads and who ends it. Every field is named, so that a new one is not forgotten.
    pub fn of(request: &ExecutionRequest) -> Self {
        let ExecutionRequest {
            id,
            command,
            cwd,
            environment,
            set_by_caller,
            stdin: _,
            has_stdin: _,
            terminal: _,
            mark_prompt,
            session,
            joins,
            record,
            timeout,
            read_only,
            place,
            checkpoint,
            network,
            allow,
            sandbox,
            preset,
            show,
            driver,
            verify,
            patch,
            wait,
            keep,
            wait_approval,
            actor,
            call,
            cancel: _,
        } = request;
        let words =
            |words: &[OsString]| words.iter().map(|word| Text::new(word.as_bytes())).collect();
        Self {
            id: *id,
            command: match command {
                CommandLine::Argv(arguments) => Line::Argv(words(arguments)),
                CommandLine::Shell(text) => Line::Shell(Text::new(text.as_bytes())),
            },
            cwd: cwd.as_deref().map(path_text),
            environment: environment
                .iter()
                .map(|(name, value)| (Text::new(name.as_bytes()), Text::new(value.as_bytes())))
                .collect(),
            set_by_caller: words(set_by_caller),
            mark_prompt: *mark_prompt,
            session: *session,
            joins: *joins,
            record: *record,
            timeout_ms: match timeout {
                ExecutionTimeout::None => None,
                ExecutionTimeout::Millis(millis) => Some(*millis),
            },
            read_only: *read_only,
            place: match place {
                ExecutionWorkspace::Workspace(name) => Target::Workspace(name.clone()),
                ExecutionWorkspace::Existing { id, name } => {
                    Target::Existing { id: *id, name: name.clone() }
                }
                ExecutionWorkspace::Fork { from, lifetime } => {
                    Target::Fork { from: from.clone(), lifetime: *lifetime }
                }
            },
            checkpoint: *checkpoint,
            network: *network,
            allow: allow.clone(),
            sandbox: sandbox.clone(),
            preset: preset.clone(),
            show: show.iter().map(|path| path_text(path)).collect(),
            driver: *driver,
            verify: *verify,
            patch: *patch,
            wait: *wait,
            keep: *keep,
            wait_approval: match wait_approval {
                ApprovalWait::None => Awaited::Not,
                ApprovalWait::Forever => Awaited::Forever,
                ApprovalWait::For(limit) => Awaited::For(*limit),
            },
            actor: actor.clone(),
            call: call.clone(),
        }
    }

    /// The request again, which reads nothing and which nobody ends yet; none where a text in it is none.
    pub fn into_request(self) -> Option<ExecutionRequest> {
        let words = |words: Vec<Text>| words.iter().map(os_string).collect::<Option<Vec<_>>>();
        let environment = self.environment.iter();
        let environment =
            environment.map(|(name, value)| Some((os_string(name)?, os_string(value)?)));
        Some(ExecutionRequest {
            id: self.id,
            command: match self.command {
                Line::Argv(arguments) => CommandLine::Argv(words(arguments)?),
                Line::Shell(text) => CommandLine::Shell(os_string(&text)?),
            },
            cwd: match &self.cwd {
                Some(cwd) => Some(path(cwd)?),
                None => None,
            },
            environment: environment.collect::<Option<_>>()?,
            set_by_caller: words(self.set_by_caller)?,
            stdin: Stdin::Empty,
            has_stdin: false,
            terminal: None,
            mark_prompt: self.mark_prompt,
            session: self.session,
            joins: self.joins,
            record: self.record,
            timeout: self.timeout_ms.map_or(ExecutionTimeout::None, ExecutionTimeout::Millis),
            read_only: self.read_only,
            place: match self.place {
                Target::Workspace(name) => ExecutionWorkspace::Workspace(name),
                Target::Existing { id, name } => ExecutionWorkspace::Existing { id, name },
                Target::Fork { from, lifetime } => ExecutionWorkspace::Fork { from, lifetime },
            },
            checkpoint: self.checkpoint,
            network: self.network,
            allow: self.allow,
            sandbox: self.sandbox,
            preset: self.preset,
            show: self.show.iter().map(path).collect::<Option<_>>()?,
            driver: self.driver,
            verify: self.verify,
            patch: self.patch,
            wait: self.wait,
            keep: self.keep,
            wait_approval: match self.wait_approval {
                Awaited::Not => ApprovalWait::None,
                Awaited::Forever => ApprovalWait::Forever,
                Awaited::For(limit) => ApprovalWait::For(limit),
            },
            actor: self.actor,
            call: self.call,
            cancel: None,
        })
    }
}

fn path_text(path: &Path) -> Text {
    Text::new(path.as_os_str().as_bytes())
}

/// The path of a text; none where its base64 is none.
fn path(text: &Text) -> Option<PathBuf> {
    os_string(text).map(PathBuf::from)
}

fn os_string(text: &Text) -> Option<OsString> {
    text.to_bytes().map(OsString::from_vec)
}
