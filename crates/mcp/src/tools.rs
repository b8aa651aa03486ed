//! The tools: one table.

mod approvals;
mod changes;
mod commit;
mod edit;
mod exec;
mod files;
mod history;
mod schema;
mod search;

use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_engine::{Error, Result};
use offshoot_protocol::ExitCode;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::answer::Answer;
use crate::arguments::{Arguments, WORKSPACE};
use crate::call::{Call, blocking, complete};
use crate::consent::{Agreeing, Consent, Outcome, Proposal};
use crate::options::McpTools;
use crate::question::{self, Reply, Way};
use crate::session::Session;

pub(crate) use changes::standing;

/// A tool.
pub(crate) struct ToolSpec {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    hints: Hints,
    work: Work,
}

/// What clients are told about a tool before they let it be called.
#[derive(Clone, Copy)]
enum Hints {
    /// It only looks.
    Reads,
    /// It changes files, and what was there before is one undo away.
    Changes,
    /// The same, and once more changes nothing.
    Sets,
    /// It only adds.
    Adds,
    /// It runs what it is given.
    Runs,
}

/// So long a call waits for commands that run in its workspace.
const IN_LINE: Duration = Duration::from_secs(10 * 60);
/// How often one that changes files looks whether they are done.
const LOOK: Duration = Duration::from_millis(50);

/// What a tool does.
enum Work {
    /// One call of the engine, or a few.
    Plain(fn(&Session, &Arguments) -> Result<Answer>),
    /// The same for what changes files of the workspace, which waits for commands that run there.
    Change(fn(&Session, &Arguments) -> Result<Answer>),
    /// A command.
    Exec,
    /// Something that changes the folder.
    Folder(fn(&Session, &Arguments, Consent) -> Result<Outcome>),
}

/// All tools.
pub(crate) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "exec",
        title: "Run a command",
        description: "Run a command in the workspace, a copy-on-write fork of the user's folder: the folder itself does not change. \
            Give `command` (a line of shell) or `argv`. The result has output, exit code and what files changed. Some commands need \
            the approval of a person: then the state is pending_approval, and `wait_seconds` waits for the decision. A denied \
            command says why and what to do instead.",
        input: schema::input::<exec::ExecArgs>,
        output: schema::output::<exec::BriefDoc>,
        hints: Hints::Runs,
        work: Work::Exec,
    },
    ToolSpec {
        name: "read",
        title: "Read a file",
        description: "Read a file of the workspace, whole or from line `offset` on.",
        input: schema::input::<files::ReadArgs>,
        output: schema::framed::<offshoot_protocol::FileDoc>,
        hints: Hints::Reads,
        work: Work::Plain(files::read),
    },
    ToolSpec {
        name: "write",
        title: "Write a file",
        description: "Write a file of the workspace: what was there is replaced, missing directories are made.",
        input: schema::input::<files::WriteArgs>,
        output: schema::framed::<offshoot_protocol::EditDoc>,
        hints: Hints::Sets,
        work: Work::Change(files::write),
    },
    ToolSpec {
        name: "edit",
        title: "Replace text in a file",
        description: "Replace `old_text` by `new_text` in a file. `old_text` must be in the file exactly as given, and once unless \
            `replace_all` is true: give enough lines around it.",
        input: schema::input::<edit::EditArgs>,
        output: schema::framed::<offshoot_protocol::EditDoc>,
        hints: Hints::Changes,
        work: Work::Change(edit::edit),
    },
    ToolSpec {
        name: "search",
        title: "Search in files",
        description: "Find lines of the workspace's files that match a regular expression, as grep does. Git directories, binary \
            files and very large ones are left out.",
        input: schema::input::<search::SearchArgs>,
        output: schema::output::<search::SearchDoc>,
        hints: Hints::Reads,
        work: Work::Plain(search::search),
    },
    ToolSpec {
        name: "list",
        title: "List files",
        description: "List a directory of the workspace, with `depth` levels below it.",
        input: schema::input::<files::ListArgs>,
        output: schema::framed::<offshoot_protocol::ListDoc>,
        hints: Hints::Reads,
        work: Work::Plain(files::list),
    },
    ToolSpec {
        name: "diff",
        title: "Show changes",
        description: "Show what changed in the workspace since it was forked, or since a checkpoint, as a patch.",
        input: schema::input::<changes::DiffArgs>,
        output: schema::framed::<offshoot_protocol::DiffDoc>,
        hints: Hints::Reads,
        work: Work::Plain(changes::diff),
    },
    ToolSpec {
        name: "status",
        title: "Show the workspace",
        description: "Show which workspace this is, what a commit would bring into the user's folder, conflicts, and what was done last.",
        input: schema::input::<changes::StatusArgs>,
        output: schema::framed::<offshoot_protocol::StatusDoc>,
        hints: Hints::Reads,
        work: Work::Plain(changes::status),
    },
    ToolSpec {
        name: "checkpoint",
        title: "Mark this state",
        description: "Mark the state of the workspace, so that `undo` with `to` can go back to it.",
        input: schema::input::<history::CheckpointArgs>,
        output: schema::framed::<offshoot_protocol::CheckpointDoc>,
        hints: Hints::Adds,
        work: Work::Plain(history::checkpoint),
    },
    ToolSpec {
        name: "undo",
        title: "Go back",
        description: "Undo the last operation of the workspace (a command, a write, an edit), or go back to a checkpoint with `to`.",
        input: schema::input::<history::UndoArgs>,
        output: schema::output::<history::WentBack>,
        hints: Hints::Changes,
        work: Work::Folder(history::undo),
    },
    ToolSpec {
        name: "commit",
        title: "Bring changes into the user's folder",
        description: "Bring what the workspace changed into the user's folder. The user has to agree, or has allowed it when the \
            server was started. With `dry_run` it only says what would be committed.",
        input: schema::input::<commit::CommitArgs>,
        output: schema::framed::<offshoot_protocol::CommitDoc>,
        hints: Hints::Changes,
        work: Work::Folder(commit::commit),
    },
    ToolSpec {
        name: "approvals",
        title: "Look at approvals",
        description: "See commands that wait for a person to approve them: `list` them, `show` one with its diff and output, or \
            `wait` until somebody has decided. Deciding is for people.",
        input: schema::input::<approvals::ApprovalsArgs>,
        output: schema::output::<approvals::ApprovalsAnswer>,
        hints: Hints::Reads,
        work: Work::Plain(approvals::approvals),
    },
];

impl ToolSpec {
    /// What clients are told.
    pub(crate) fn listed(&self, names_workspace: bool) -> Tool {
        let mut input = (self.input)();
        if names_workspace && let Some(Value::Object(all)) = input.get_mut("properties") {
            let text = "The workspace; without it, the session's own. `exec` and changes fork it if there is none.";
            all.insert(
                WORKSPACE.to_owned(),
                serde_json::json!({ "type": "string", "description": text }),
            );
        }
        let Hint { reads, destroys, again, world } = self.hints.hint();
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(reads)
            .destructive(destroys)
            .idempotent(again)
            .open_world(world);
        Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(hints)
    }
}

/// The hints of the protocol.
struct Hint {
    reads: bool,
    destroys: bool,
    again: bool,
    world: bool,
}

impl Hints {
    fn hint(self) -> Hint {
        let hint = |reads, destroys, again, world| Hint { reads, destroys, again, world };
        match self {
            Self::Reads => hint(true, false, true, false),
            Self::Changes => hint(false, true, false, false),
            Self::Sets => hint(false, true, true, false),
            Self::Adds => hint(false, false, false, false),
            Self::Runs => hint(false, true, false, true),
        }
    }
}

impl Call {
    /// Does what a call asks for.
    pub(crate) async fn perform(
        self,
        tool: &'static ToolSpec,
        request: CallToolRequestParams,
    ) -> Result<CallToolResponse> {
        let way = question::way(&self.context).filter(|_| self.session.project.may_elicit());
        if let Some(word) = &request.request_state {
            let reply = question::reply(request.input_responses.as_ref());
            return self.answered(tool, word, reply).await;
        }
        let arguments = Arguments::new(request.arguments)?;
        match tool.work {
            Work::Plain(work) => {
                let session = self.session;
                Ok(complete(blocking(move || work(&session, &arguments)).await?))
            }
            Work::Change(work) => self.change(work, arguments).await,
            Work::Exec => exec::call(self, arguments, way).await,
            Work::Folder(work) => {
                let consent = match (self.shared.options.allow_commit, way) {
                    (true, _) => Consent::Given,
                    (false, Some(_)) => Consent::Ask,
                    (false, None) => Consent::None,
                };
                self.folder(work, arguments, consent, way).await
            }
        }
    }

    /// Changes files of the workspace when no command runs there any more: agents call tools at the same time.
    async fn change(
        self,
        work: fn(&Session, &Arguments) -> Result<Answer>,
        arguments: Arguments,
    ) -> Result<CallToolResponse> {
        let (began, arguments) = (Instant::now(), Arc::new(arguments));
        loop {
            let (session, arguments) = (Arc::clone(&self.session), Arc::clone(&arguments));
            let error = match blocking(move || work(&session, &arguments)).await {
                Ok(answer) => return Ok(complete(answer)),
                Err(error) => error,
            };
            if error.code != ExitCode::Busy || began.elapsed() >= IN_LINE {
                return Err(error);
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.context.ct.cancelled() => return Err(error),
            }
        }
    }

    /// Goes on with what waited for an answer.
    async fn answered(
        self,
        tool: &'static ToolSpec,
        word: &str,
        reply: Reply,
    ) -> Result<CallToolResponse> {
        let over = || {
            Error::usage("that question is not open any more")
                .hint("call the tool again, without requestState")
        };
        // What is done is what was asked about, whatever comes along this time.
        match tool.work {
            Work::Exec => {
                let running: exec::Running = self.shared.unpark(word).ok_or_else(over)?;
                match running.is_of(&self.session) {
                    true => exec::go_on(self, running, reply).await,
                    false => Err(over()),
                }
            }
            Work::Folder(work) => {
                let agreeing: Agreeing = self.shared.unpark(word).ok_or_else(over)?;
                match Arc::ptr_eq(&agreeing.session, &self.session) {
                    true => self.agreed(work, agreeing.arguments, agreeing.proposal, reply).await,
                    false => Err(over()),
                }
            }
            Work::Plain(_) | Work::Change(_) => Err(over()),
        }
    }

    /// Changes the folder, or asks whether it may.
    async fn folder(
        self,
        work: fn(&Session, &Arguments, Consent) -> Result<Outcome>,
        arguments: Arguments,
        consent: Consent,
        way: Option<Way>,
    ) -> Result<CallToolResponse> {
        let session = Arc::clone(&self.session);
        let (outcome, arguments) = blocking(move || {
            let outcome = work(&session, &arguments, consent)?;
            Ok((outcome, arguments))
        })
        .await?;
        let (message, proposal) = match outcome {
            Outcome::Done(answer) => return Ok(complete(answer)),
            Outcome::Question { message, proposal } => (message, proposal),
        };
        if way == Some(Way::Returns) {
            let session = Arc::clone(&self.session);
            let word = self.shared.park(Agreeing { session, arguments, proposal });
            return Ok(question::required(message, word).into());
        }
        let reply = tokio::select! {
            reply = question::ask(self.context.peer.clone(), message) => reply,
            () = self.context.ct.cancelled() => Reply::Nothing,
        };
        self.agreed(work, arguments, proposal, reply).await
    }

    /// Changes the folder if somebody agreed.
    async fn agreed(
        self,
        work: fn(&Session, &Arguments, Consent) -> Result<Outcome>,
        arguments: Arguments,
        proposal: Proposal,
        reply: Reply,
    ) -> Result<CallToolResponse> {
        let refused = |what: &str, note: Option<String>| {
            let note = note.map(|note| format!(": {note}")).unwrap_or_default();
            Error::new(ExitCode::Denied, format!("{what}{note}; the folder is as it was"))
        };
        match reply {
            Reply::Yes(_) => {}
            Reply::No(note) => return Err(refused("the user declined", note)),
            Reply::Nothing => return Err(refused("the user did not answer", None)),
        }
        let session = self.session;
        let outcome = blocking(move || work(&session, &arguments, Consent::To(proposal))).await?;
        match outcome {
            Outcome::Done(answer) => Ok(complete(answer)),
            Outcome::Question { .. } => {
                let message = "the workspace changed while the user was asked; nothing was done";
                Err(Error::new(ExitCode::Conflict, message)
                    .hint("call the tool again, so that the user sees what there is now"))
            }
        }
    }
}

impl McpTools {
    /// Only those of `only`, all if there are none, and none of `without`.
    pub fn new(only: &[String], without: &[String]) -> Result<Self> {
        let all: Vec<&'static str> = Self::names().collect();
        for name in only.iter().chain(without) {
            if !all.contains(&name.as_str()) {
                return Err(Error::usage(format!("there is no tool {name}"))
                    .hint(format!("tools are {}", all.join(", "))));
            }
        }
        let has = |list: &[String], name: &str| list.iter().any(|one| one == name);
        let left = all.into_iter().filter(|name| only.is_empty() || has(only, name));
        Ok(Self::of(left.filter(|name| !has(without, name))))
    }

    /// The names of all tools.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TOOLS.iter().map(|tool| tool.name)
    }
}
