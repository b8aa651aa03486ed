//! Running commands.

mod brief;
mod progress;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use offshoot_engine::exec::{ApprovalWait, Command, Event, Exec, Input};
use offshoot_engine::id::Id;
use offshoot_engine::report::{self, Report};
use offshoot_engine::{Error, Result};
use offshoot_protocol::{ApprovalScope, ExecEnvelopeDoc};
use rmcp::model::CallToolResponse;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::mpsc;

pub(in crate::tools) use self::brief::BriefDoc;
use self::progress::Progress;
use super::IN_LINE;
use crate::answer::{Answer, MOST_TEXT};
use crate::arguments::Arguments;
use crate::call::{Call, blocking, complete};
use crate::parked::PATIENCE;
use crate::question::{self, Reply, Way};
use crate::session::{ALLOWS, Session};

/// So many events wait for the client.
const EVENTS: usize = 64;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecArgs {
    /// A line of shell, run by `sh -c`.
    command: Option<String>,
    /// A program and its arguments, run without a shell. Either this or `command`.
    argv: Option<Vec<String>>,
    /// The directory to run in. Without it, where the server was started in the project.
    cwd: Option<String>,
    /// Variables to set.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// What the command reads from standard input.
    stdin: Option<String>,
    /// End the command after so many seconds. Without it, what the user configured.
    timeout_seconds: Option<f64>,
    /// Let any write fail.
    #[serde(default)]
    read_only: bool,
    /// Hosts that the command may reach, such as `crates.io`, of those that the user named for this server. Policy has the last word.
    #[serde(default)]
    allow_hosts: Vec<String>,
    /// If a person has to approve the command, wait so many seconds for the decision.
    #[serde(default)]
    wait_seconds: u32,
}

/// A command that runs or waits.
#[derive(Debug)]
pub(super) struct Running {
    exec: Exec,
    events: mpsc::Receiver<Event>,
    session: Arc<Session>,
    /// What a person is asked about.
    approval: Option<Id>,
    notes: Vec<String>,
}

impl Running {
    /// Whether it is over.
    fn is_over(&self) -> bool {
        self.exec.outcome().is_some()
    }

    pub(super) fn is_of(&self, session: &Arc<Session>) -> bool {
        Arc::ptr_eq(&self.session, session)
    }

    fn start(session: Arc<Session>, arguments: &Arguments, elicits: bool) -> Result<Self> {
        let args: ExecArgs = arguments.parse()?;
        let name = session.name_to_run(arguments.workspace())?;
        let command = command(&session, args, elicits)?;
        let exec = session.project.exec_in(&name, command)?;
        session.runs(&exec);
        let (sender, events) = mpsc::channel(EVENTS);
        let stream = exec.events();
        let reader = std::thread::Builder::new().name("offshoot-mcp-events".to_owned());
        let reading = reader.spawn(move || {
            for event in stream {
                if sender.blocking_send(event).is_err() {
                    return;
                }
            }
        });
        let running = Self { exec, events, session, approval: None, notes: Vec::new() };
        match reading {
            Ok(_) => Ok(running),
            Err(error) => Err(Error::new(
                offshoot_protocol::ExitCode::Failure,
                format!("cannot start a thread: {error}"),
            )),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over() {
            self.exec.cancel();
        }
    }
}

fn command(session: &Session, args: ExecArgs, elicits: bool) -> Result<Command> {
    let mut command = match (args.command, args.argv) {
        (Some(text), None) => Command::shell(text),
        (None, Some(argv)) if !argv.is_empty() => Command::new(argv),
        (Some(_), Some(_)) => {
            return Err(Error::usage("give either `command` or `argv`, not both"));
        }
        _ => return Err(Error::usage("give `command`, a line of shell, or `argv`")),
    };
    let directory = match args.cwd {
        Some(text) => {
            let path = session.path(&text)?.to_string();
            Some(path.trim_start_matches('/').into())
        }
        None => session.directory.clone(),
    };
    if let Some(directory) = directory {
        command = command.directory(directory);
    }
    for (name, value) in args.env {
        command = command.variable(format!("{name}={value}"));
    }
    if let Some(text) = args.stdin {
        command = command.input(Input::Bytes(text.into_bytes()));
    }
    if let Some(seconds) = args.timeout_seconds {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        let wrong = || Error::usage("`timeout_seconds` has to be a number above 0");
        command = command.timeout(limit.ok_or_else(wrong)?);
    }
    session.check_hosts(&args.allow_hosts)?;
    for host in args.allow_hosts {
        command = command.allow(host);
    }
    let wait = approval_wait(elicits, args.wait_seconds);
    Ok(command.read_only(args.read_only).wait(IN_LINE).wait_approval(wait))
}

/// How long a command waits for a person: as long as one who is asked in the client has time, or as the call says.
fn approval_wait(elicits: bool, seconds: u32) -> ApprovalWait {
    let asked = Duration::from_secs(seconds.into());
    match (elicits, seconds) {
        (true, _) => ApprovalWait::For(PATIENCE.max(asked)),
        (false, 0) => ApprovalWait::None,
        (false, _) => ApprovalWait::For(asked),
    }
}

/// Runs a command.
pub(super) async fn call(
    call: Call,
    arguments: Arguments,
    way: Option<Way>,
) -> Result<CallToolResponse> {
    let session = Arc::clone(&call.session);
    let running = blocking(move || Running::start(session, &arguments, way.is_some())).await?;
    follow(call, running, way).await
}

/// Goes on with a command that waited for an answer.
pub(super) async fn go_on(
    call: Call,
    mut running: Running,
    reply: Reply,
) -> Result<CallToolResponse> {
    settle(&mut running, reply).await;
    follow(call, running, None).await
}

/// Tells how far a command is, until it is over or somebody has to be asked.
async fn follow(call: Call, mut running: Running, way: Option<Way>) -> Result<CallToolResponse> {
    let mut progress = Progress::new(&call.context);
    let mut asking: Option<Pin<Box<dyn Future<Output = Reply> + Send>>> = None;
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            event = running.events.recv() => match event {
                None => break,
                Some(Event::Output { bytes, .. }) => progress.add(&bytes),
                Some(Event::Waiting { holder }) => progress.say(&format!("waiting for {holder}\n")),
                Some(Event::Pending { approval }) => {
                    let Some(way) = way else { continue };
                    running.approval = Some(approval);
                    let session = Arc::clone(&running.session);
                    let message = blocking(move || {
                        report::question(&session.project, &session.client, &approval)
                    })
                    .await?;
                    if way == Way::Returns {
                        let word = call.shared.park(running);
                        return Ok(question::required(message, word).into());
                    }
                    asking = Some(Box::pin(question::ask(call.context.peer.clone(), message)));
                }
                Some(_) => {}
            },
            reply = answer(&mut asking), if asking.is_some() => {
                asking = None;
                settle(&mut running, reply).await;
            }
            () = call.context.ct.cancelled(), if !is_cancelled => {
                is_cancelled = true;
                running.exec.cancel();
            }
            () = progress.due(), if progress.has_news() => progress.tell().await,
        }
    }
    progress.tell().await;
    let envelope = running.exec.wait();
    let mut envelope = ExecEnvelopeDoc::clone(&envelope);
    envelope.notes.append(&mut running.notes);
    envelope.notes.extend(running.session.notes());
    let session = Arc::clone(&running.session);
    let told = blocking(move || {
        let overlaps = report::overlaps(&session.project, &envelope);
        envelope.notes.extend(overlaps);
        Ok(answer_of(&session, envelope))
    });
    Ok(complete(told.await?))
}

/// The answer to a question that was asked.
async fn answer(asking: &mut Option<Pin<Box<dyn Future<Output = Reply> + Send>>>) -> Reply {
    match asking {
        Some(asking) => asking.await,
        None => std::future::pending().await,
    }
}

/// Does what a person said. Whoever said nothing leaves it as it is, and nobody waits any longer.
async fn settle(running: &mut Running, reply: Reply) {
    let Some(approval) = running.approval else { return };
    let (approves, note) = match reply {
        Reply::Yes(note) => (Some(ApprovalScope::Once), note),
        Reply::No(note) => (None, note),
        Reply::Nothing => {
            running.notes.push("nobody answered the question in the client".to_owned());
            return running.exec.cancel();
        }
    };
    let session = Arc::clone(&running.session);
    let decided = blocking(move || {
        let client = &session.client;
        session.project.answer_elicited(&approval, client, approves, note.as_deref())
    });
    if let Err(error) = decided.await {
        running.notes.push(format!("the answer could not be taken: {error}"));
        running.exec.cancel();
    }
}

fn answer_of(session: &Session, envelope: ExecEnvelopeDoc) -> Answer {
    let report = Report {
        hosts: session.hosts(),
        allows: ALLOWS,
        pending: "the tool approvals waits for the decision: action wait, id {id}",
        output: MOST_TEXT / 2,
    };
    let (said, failed) = (report.text(&envelope), report::has_failed(&envelope));
    Answer::of(&BriefDoc::new(envelope), said).failed(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_who_is_asked_has_ten_minutes() {
        let minutes = |count: u64| ApprovalWait::For(Duration::from_secs(count * 60));
        assert_eq!(approval_wait(true, 0), minutes(10));
        assert_eq!(approval_wait(true, 5), minutes(10));
        assert_eq!(approval_wait(true, 1200), minutes(20));
        assert_eq!(approval_wait(false, 0), ApprovalWait::None);
        assert_eq!(approval_wait(false, 60), minutes(1));
    }
}
