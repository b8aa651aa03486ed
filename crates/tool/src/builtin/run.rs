//! Running commands, through the engine.

use std::collections::BTreeMap;
use std::time::Duration;

use offshoot_engine::Project;
use offshoot_engine::exec::{Command, Exec, Input, check_named_hosts};
use offshoot_engine::id::Id;
use offshoot_engine::report::{self, Report};
use offshoot_engine::session::CallState;
use offshoot_protocol::{ExecEnvelopeDoc, ExecState};
use offshoot_tool_macros::tool;

use crate::background::Job;
use crate::blocking::blocking;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::host::ToolHost;
use crate::output::{ApprovalNeeded, ExecFacts, TextOutput, ToolOutput};

/// So long a command waits for others in its workspace.
const IN_LINE: Duration = Duration::from_secs(10 * 60);
/// So long a call waits for its command: unless it says otherwise, and at most.
const WAIT: u64 = 120;
const MOST_WAIT: u64 = 600;
/// A command in the background has so long to fail at once.
const FIRST_LOOK: Duration = Duration::from_millis(500);

/// Run a command in the workspace, a copy-on-write fork of the user's folder: the folder itself does not change. Give `command` (a
/// line of shell) or `argv`. The result has exit code, output and what files changed. Some commands need the approval of a person.
/// A denied command says why and what to do instead. A command that takes longer than `wait_seconds` goes on in the background.
#[tool(effects = "run", capability = "run", timeout_seconds = 0, crate = "crate")]
#[expect(clippy::too_many_arguments, reason = "each is an argument that a model may give")]
pub(crate) async fn run_command(
    /// A line of shell, run by `sh -c`.
    command: Option<String>,
    /// A program and its arguments, run without a shell. Either this or `command`.
    argv: Option<Vec<String>>,
    /// The directory to run in. Without it, where you work.
    directory: Option<String>,
    /// Variables to set.
    #[default]
    env: BTreeMap<String, String>,
    /// What the command reads from standard input.
    stdin: Option<String>,
    /// End the command after so many seconds. Without it, what the user configured.
    timeout_seconds: Option<f64>,
    /// Wait so many seconds for its end, at most 600. Without it, 120.
    wait_seconds: Option<u64>,
    /// Do not wait: see with `poll_command` what it does. Until it ends, other commands and edits of the workspace have to wait,
    /// unless it is `read_only`.
    #[default(false)]
    background: bool,
    /// Let any write fail. Such a command can run beside others.
    #[default(false)]
    read_only: bool,
    /// Hosts that the command may reach, such as `crates.io`, of those that the user named. Policy has the last word.
    #[default]
    allow_hosts: Vec<String>,
    context: CallContext,
) -> Result<ToolOutput, ToolError> {
    let wanted =
        Wanted { command, argv, directory, env, stdin, timeout_seconds, read_only, allow_hosts };
    let starting = context.clone();
    let started = blocking(&context, move |host| start(host, wanted, &starting)).await?;
    let job = match started {
        Started::Before(id, envelope) => {
            let note = "note: this call was made before; this is what came of it then";
            return blocking(&context, move |host| Ok(ended(host, id, &envelope, Some(note))))
                .await;
        }
        Started::Running(job) => job,
    };
    let id = job.exec.id();
    let wait = match background {
        true => FIRST_LOOK,
        false => Duration::from_secs(wait_seconds.unwrap_or(WAIT).min(MOST_WAIT)),
    };
    follow(&context, id, job, wait, 0).await
}

/// Look at a command in the background: what it printed, and how it ended if it has.
#[tool(effects = "read", capability = "run", timeout_seconds = 0, crate = "crate")]
pub(crate) async fn poll_command(
    /// Its id, as `run_command` told it.
    id: String,
    /// Leave out so many bytes of output that you have seen.
    #[default(0)]
    offset: usize,
    /// Wait so many seconds for its end, at most 600. Without it, do not wait.
    #[default(0)]
    wait_seconds: u64,
    context: CallContext,
) -> Result<ToolOutput, ToolError> {
    let id = parsed(&id, context.host())?;
    match context.host().background().get(&id) {
        Some(job) => {
            let wait = Duration::from_secs(wait_seconds.min(MOST_WAIT));
            tokio::select! {
                () = job.over() => {}
                () = context.token().cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
            told(&context, id, job, offset).await
        }
        None => blocking(&context, move |host| recorded(host, id)).await,
    }
}

/// End a command in the background. What it wrote is kept.
#[tool(effects = "run", capability = "run", timeout_seconds = 60, crate = "crate")]
pub(crate) async fn end_command(
    /// Its id, as `run_command` told it.
    id: String,
    context: CallContext,
) -> Result<ToolOutput, ToolError> {
    let id = parsed(&id, context.host())?;
    match context.host().background().get(&id) {
        Some(job) => {
            job.end().await;
            told(&context, id, job, 0).await
        }
        None => blocking(&context, move |host| recorded(host, id)).await,
    }
}

/// What a call wants to run.
struct Wanted {
    command: Option<String>,
    argv: Option<Vec<String>>,
    directory: Option<String>,
    env: BTreeMap<String, String>,
    stdin: Option<String>,
    timeout_seconds: Option<f64>,
    read_only: bool,
    allow_hosts: Vec<String>,
}

/// What starting a command came to.
enum Started {
    Running(Job),
    /// A call of this name ran it already, as this command.
    Before(Id, Box<ExecEnvelopeDoc>),
}

fn start(host: &ToolHost, wanted: Wanted, context: &CallContext) -> Result<Started, ToolError> {
    let mut command = command(host, wanted)?;
    if let Some(key) = context.key() {
        let project = host.workspace().project();
        if let Some(call) = project.call(&key)? {
            if let Some(job) = host.background().get(&call.id) {
                return Ok(Started::Running(job));
            }
            return match (call.state, project.envelope(&call.id)?) {
                (CallState::Ended, Some(envelope)) => {
                    Ok(Started::Before(call.id, Box::new(envelope)))
                }
                (CallState::Running, _) => Err(running_elsewhere(call.id)),
                _ => Err(cut_short(project, call.id)),
            };
        }
        command = command.call(key);
    }
    host.background().check_room()?;
    let exec = host.workspace().exec(command)?;
    Ok(Started::Running(host.background().follow(&exec, context)?))
}

fn running_elsewhere(id: Id) -> ToolError {
    ToolError::refused(format!("this call is made by another process, as command {id}"))
        .hint("poll_command tells how it ended")
}

/// What became of a command whose program was killed.
fn cut_short(project: &Project, id: Id) -> ToolError {
    let left = project.vault().left().unwrap_or_default();
    match left.contains(&id) {
        true => ToolError::refused(
            "this call was cut short before: its command ran, and what it wrote is set aside",
        )
        .hint("a person can take it back with `offshoot recover`; look at what is there before you run it once more"),
        false => ToolError::refused("this call was cut short before, and nothing that its command wrote is set aside")
            .hint("look at what is there before you run it once more"),
    }
}

fn command(host: &ToolHost, wanted: Wanted) -> Result<Command, ToolError> {
    let mut command = match (wanted.command, wanted.argv) {
        (Some(text), None) => Command::shell(text),
        (None, Some(argv)) if !argv.is_empty() => Command::new(argv),
        (Some(_), Some(_)) => {
            return Err(ToolError::refused("give either `command` or `argv`, not both"));
        }
        _ => return Err(ToolError::refused("give `command`, a line of shell, or `argv`")),
    };
    let directory = match wanted.directory {
        Some(text) => Some(host.path(&text)?.to_string().trim_start_matches('/').into()),
        None => host.start_directory().map(ToOwned::to_owned),
    };
    if let Some(directory) = directory {
        command = command.directory(directory);
    }
    for (name, value) in wanted.env {
        command = command.variable(format!("{name}={value}"));
    }
    if let Some(text) = wanted.stdin {
        command = command.input(Input::Bytes(text.into_bytes()));
    }
    if let Some(seconds) = wanted.timeout_seconds {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        let wrong = || ToolError::refused("`timeout_seconds` has to be a number above 0");
        command = command.timeout(limit.ok_or_else(wrong)?);
    }
    check_named_hosts(host.allowed_hosts(), &wanted.allow_hosts, host.how_allowed())?;
    for allowed in wanted.allow_hosts {
        command = command.allow(allowed);
    }
    Ok(command.read_only(wanted.read_only).wait(IN_LINE))
}

/// Waits for a command, and ends it with its call.
async fn follow(
    context: &CallContext,
    id: Id,
    job: Job,
    wait: Duration,
    offset: usize,
) -> Result<ToolOutput, ToolError> {
    tokio::select! {
        biased;
        () = job.over() => {}
        () = context.token().cancelled() => job.end().await,
        () = tokio::time::sleep(wait) => {}
    }
    told(context, id, job, offset).await
}

/// What there is to tell of a command now.
async fn told(
    context: &CallContext,
    id: Id,
    job: Job,
    offset: usize,
) -> Result<ToolOutput, ToolError> {
    let Some(envelope) = job.exec.outcome() else {
        return Ok(running(id, &job.exec, job.printed(offset)));
    };
    let tell = move |host: &ToolHost| {
        // Somebody may have decided since.
        let later = match envelope.result.state {
            ExecState::PendingApproval => host.workspace().project().envelope(&id)?,
            _ => None,
        };
        Ok(ended(host, id, later.as_ref().unwrap_or(&envelope), None))
    };
    blocking(context, tell).await
}

fn running(id: Id, exec: &Exec, (printed, end): (String, usize)) -> ToolOutput {
    let printed = printed.trim_end();
    let printed = if printed.is_empty() { "nothing new was printed" } else { printed };
    let text = format!(
        "running in the background\n--- output\n{printed}\n---\npoll_command with id {id} and offset {end} has what comes next; end_command ends it"
    );
    TextOutput::new(text).exec(ExecFacts::running(exec.id())).into()
}

/// How a command ended, or that a person has to decide.
fn ended(host: &ToolHost, id: Id, envelope: &ExecEnvelopeDoc, note: Option<&str>) -> ToolOutput {
    let mut envelope = envelope.clone();
    envelope.notes.extend(report::overlaps(host.workspace().project(), &envelope));
    let report = Report {
        hosts: host.allowed_hosts(),
        allows: host.how_allowed(),
        pending: "a person decides about it; nothing is changed until then",
        // The registry shortens it, and keeps all.
        output: usize::MAX,
    };
    let mut text = report.text(&envelope);
    if let Some(note) = note {
        text = format!("{note}\n{text}");
    }
    let facts = ExecFacts::of(id, &envelope);
    if envelope.result.state == ExecState::PendingApproval {
        let reason = envelope.result.approval.as_ref().map(|it| it.reason.clone());
        return ToolOutput::NeedsApproval(ApprovalNeeded {
            text,
            reason: reason.unwrap_or_default(),
            approval: Some(id),
            exec: Some(facts),
        });
    }
    TextOutput::new(text).failed(report::has_failed(&envelope)).exec(facts).into()
}

/// A command of this workspace that is only in the vault.
fn recorded(host: &ToolHost, id: Id) -> Result<ToolOutput, ToolError> {
    let envelope = host.workspace().project().envelope(&id)?;
    let name = host.workspace().name()?;
    let is_own = |it: &ExecEnvelopeDoc| it.result.workspace.as_deref() == Some(&*name);
    match envelope.filter(is_own) {
        Some(envelope) => Ok(ended(host, id, &envelope, None)),
        None => Err(no_such(&id.to_string(), host)),
    }
}

fn parsed(text: &str, host: &ToolHost) -> Result<Id, ToolError> {
    text.trim().parse().map_err(|_| no_such(text, host))
}

fn no_such(id: &str, host: &ToolHost) -> ToolError {
    let running: Vec<String> =
        host.background().running().iter().map(ToString::to_string).collect();
    let error = ToolError::refused(format!("there is no command {id:?} of this agent"));
    match running.is_empty() {
        true => error.hint("none is running in the background"),
        false => error.hint(format!("running are: {}", running.join(", "))),
    }
}
