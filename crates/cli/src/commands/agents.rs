//! `offshoot agents`: agents that are served, found by registries.

use std::time::Duration;

use clap::{Args, Subcommand};
use offshoot_engine::settings::parse_duration;
use offshoot_fleet::{
    AgentReply, AgentStatus, CallBody, FleetClient, FleetClientOptions, FleetError, SpokenMessage,
    ToolRequest,
};
use offshoot_protocol::{
    AgentCallDoc, AgentDoneDoc, AgentListDoc, AgentShowDoc, ExitCode, Hint, ServedAgentDoc,
    ServedQuestionDoc, ServedTaskDoc,
};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::fleet::{self, RegistryArgs};
use crate::output;
use crate::render::{NAME, line, paint, table};

const LIST_EXAMPLES: &str = "\
Examples:
  offshoot agents list
  offshoot agents list --capability rust --json
  offshoot agents list --registry tcp://127.0.0.1:7410,tcp://127.0.0.1:7411

All registries are asked. One that does not answer is named, and so is an agent on which they
do not agree.";

const SHOW_EXAMPLES: &str = "\
Examples:
  offshoot agents show worker
  offshoot agents show worker --json";

const CALL_EXAMPLES: &str = "\
Examples:
  offshoot agents call worker \"fix the failing test\"
  offshoot agents call worker --key nightly-1 --wait 1h \"update the dependencies\"

The task is durable before it begins. With --key, the same call made again gets the same
answer, whatever happened in between. Exit codes: 0 done, 1 the task failed, 3 no such agent,
124 the time was over; then the task goes on, and the same call with its key gets the answer
later.";

const ANSWER_EXAMPLES: &str = "\
Examples:
  offshoot agents answer worker 3 grant
  offshoot agents answer worker 3 deny -m \"not on a Friday\"
  offshoot agents answer worker 3 text -m \"use the second one\"

`offshoot agents show worker` lists open questions. What your policy asks is decided with
`offshoot approvals`.";

const TAIL_EXAMPLES: &str = "Examples:\n  offshoot agents tail worker";

/// How people who use the command line are called.
const OPERATOR: &str = "operator";
/// How long an agent may take for what it knows.
const SOON: Duration = Duration::from_secs(10);

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AgentsCommand {
    /// List agents that registries know
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show tasks and questions of an agent
    #[command(after_help = SHOW_EXAMPLES)]
    Show(OneArgs),
    /// Give an agent a task, and wait for its answer
    #[command(after_help = CALL_EXAMPLES)]
    Call(CallArgs),
    /// Answer a question of an agent
    #[command(after_help = ANSWER_EXAMPLES)]
    Answer(AnswerArgs),
    /// Follow what an agent does, as lines of JSON
    #[command(after_help = TAIL_EXAMPLES)]
    Tail(OneArgs),
    /// Cancel a task
    #[command(after_help = "Examples:\n  offshoot agents cancel worker 3")]
    Cancel(TaskArgs),
    /// Begin a dead task again
    #[command(after_help = "Examples:\n  offshoot agents resend worker 3")]
    Resend(TaskArgs),
    /// Drop a dead task
    #[command(after_help = "Examples:\n  offshoot agents drop worker 3")]
    Drop(TaskArgs),
    /// Have an agent begin nothing new
    #[command(after_help = "Examples:\n  offshoot agents suspend worker")]
    Suspend(OneArgs),
    /// Have a suspended agent work again
    #[command(after_help = "Examples:\n  offshoot agents resume worker")]
    Resume(OneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only agents that can do this
    #[arg(long, value_name = "NAME")]
    capability: Option<String>,
    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The agent
    agent: String,
    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// The agent
    agent: String,
    /// The number of the task
    task: u64,
    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The agent
    agent: String,
    /// What to do
    #[arg(value_name = "TASK", required = true)]
    text: Vec<String>,
    /// Name the call: made again under this name it gets the same answer
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Wait so long for the answer
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    wait: Duration,
    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The agent
    agent: String,
    /// The number of the task that asks
    task: u64,
    /// Grant it, deny it, or answer by the words of -m
    #[arg(value_parser = ["grant", "deny", "text"])]
    answer: String,
    /// Give a reason, or the answer
    #[arg(short, long, value_name = "TEXT", required_if_eq("answer", "text"))]
    message: Option<String>,
    /// Answer this question, if the task has several
    #[arg(long, value_name = "KEY")]
    question: Option<String>,
    #[command(flatten)]
    registry: RegistryArgs,
}

fn time(text: &str) -> std::result::Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "write a time such as 30s or 10m".to_owned())
}

pub(crate) fn run(command: &AgentsCommand, context: &Context) -> Result<()> {
    match command {
        AgentsCommand::List(args) => list(args, context),
        AgentsCommand::Show(args) => show(args, context),
        AgentsCommand::Call(args) => call(args, context),
        AgentsCommand::Answer(args) => answer(args, context),
        AgentsCommand::Tail(args) => tail(args, context),
        AgentsCommand::Cancel(args) => of_task("cancel", args, context),
        AgentsCommand::Resend(args) => of_task("resend", args, context),
        AgentsCommand::Drop(args) => of_task("drop", args, context),
        AgentsCommand::Suspend(args) => of_agent("suspend", args, context),
        AgentsCommand::Resume(args) => of_agent("resume", args, context),
    }
}

/// Does something with a client, on a runtime that ends with it.
fn with<T>(
    registry: &RegistryArgs,
    context: &Context,
    work: impl AsyncFnOnce(&FleetClient) -> std::result::Result<T, FleetError>,
) -> Result<T> {
    let options = FleetClientOptions {
        name: caller(context.actor().agent.as_deref()),
        registries: registry.registries(),
        listen: None,
        secret: Some(fleet::secret(context)?),
    };
    let runtime = fleet::runtime()?;
    let done = runtime.block_on(async {
        let client = FleetClient::start(options)?;
        work(&client).await
    });
    runtime.shutdown_background();
    done.map_err(fleet::error)
}

/// Who calls: a person is the operator, and an agent never is.
fn caller(agent: Option<&str>) -> String {
    let Some(agent) = agent else { return OPERATOR.to_owned() };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let name: String = agent.chars().filter(|letter| plain(*letter)).take(64).collect();
    format!("agent.{}", name.to_ascii_lowercase())
}

/// Calls a tool for operators.
async fn operate(
    client: &FleetClient,
    agent: &str,
    tool: &str,
    input: Value,
) -> std::result::Result<Value, FleetError> {
    let tool = ToolRequest { name: format!("agent.{tool}"), input };
    let call = CallBody { tools: vec![tool], ..CallBody::default() };
    client.call(agent, &call, SOON).await
}

fn list(args: &ListArgs, context: &Context) -> Result<()> {
    let wanted = args.capability.as_deref();
    let found = with(&args.registry, context, async |client| client.discover(wanted).await)?;
    let of = |found: offshoot_fleet::DiscoveredAgent| {
        let shown = |name: &String| name != "agent" && !name.starts_with("agent:");
        ServedAgentDoc {
            name: found.card.id,
            title: found.card.name,
            capabilities: found.card.capabilities.into_iter().filter(shown).collect(),
            address: found.card.address,
            registries: found.registries,
        }
    };
    let silent = found.silent.iter().map(|it| format!("{}: {}", it.registry, it.reason));
    let document = AgentListDoc {
        silent: silent.collect(),
        disagreements: found.disagreements.iter().map(|it| it.agent_id.clone()).collect(),
        agents: found.agents.into_iter().map(of).collect(),
    };
    for silent in &document.silent {
        context.output.note(format!("no answer of {silent}"));
    }
    for agent in &document.disagreements {
        context.output.note(format!("registries do not agree on {agent}"));
    }
    context.output.data(document, |document| {
        if document.agents.is_empty() {
            return "no agents\n".to_owned();
        }
        let rows = document.agents.iter().map(|agent| {
            let name = paint(NAME, &line(&agent.name));
            let capabilities = line(&agent.capabilities.join(", "));
            vec![name, line(&agent.title), capabilities, line(&agent.address)]
        });
        table(&["AGENT", "TITLE", "CAPABILITIES", "ADDRESS"], rows.collect())
    })
}

fn status(agent: &str, registry: &RegistryArgs, context: &Context) -> Result<AgentStatus> {
    with(registry, context, async |client| {
        let status = operate(client, agent, "status", Value::Null).await?;
        serde_json::from_value(status)
            .map_err(|error| FleetError::Answer { name: agent.to_owned(), why: error.to_string() })
    })
}

fn show(args: &OneArgs, context: &Context) -> Result<()> {
    let status = status(&args.agent, &args.registry, context)?;
    let task = |task: offshoot_fleet::AgentTask| ServedTaskDoc {
        task: task.task,
        from: task.from,
        state: task.state,
        attempt: task.attempt,
        text: task.text,
    };
    let question = |asked: offshoot_fleet::AgentQuestion| ServedQuestionDoc {
        task: asked.task,
        ask: match asked.details["ask"].as_str() {
            Some(ask) => ask.to_owned(),
            None if asked.details["approvals"].is_array() => "approvals".to_owned(),
            None => OPERATOR.to_owned(),
        },
        key: asked.key,
        text: asked.text,
    };
    let document = AgentShowDoc {
        name: status.name,
        life: status.life.to_string(),
        accepted: status.accepted,
        done: status.done,
        tasks: status.tasks.into_iter().map(task).collect(),
        dead: status.dead.into_iter().map(task).collect(),
        questions: status.questions.into_iter().map(question).collect(),
    };
    context.output.data(document, |document| {
        let mut text = format!(
            "{} is {}: {} of {} tasks done\n",
            line(&document.name),
            document.life,
            document.done,
            document.accepted
        );
        let rows = document.tasks.iter().chain(&document.dead).map(|task| {
            let (number, from) = (task.task.to_string(), line(&task.from));
            vec![number, from, line(&task.state), task.attempt.to_string(), line(&task.text)]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            text += "\n";
            text += &table(&["TASK", "FROM", "STATE", "ATTEMPT", "WHAT"], rows);
        }
        for asked in &document.questions {
            let (task, ask, what) = (asked.task, line(&asked.ask), line(&asked.text));
            text += &format!("\ntask {task} asks {ask}: {what}\n");
        }
        text
    })
}

fn call(args: &CallArgs, context: &Context) -> Result<()> {
    let message = SpokenMessage { role: "user".to_owned(), content: args.text.join(" ") };
    let body = CallBody { messages: vec![message], key: args.key.clone(), ..CallBody::default() };
    let called: std::result::Result<AgentReply, FleetError> =
        with(&args.registry, context, async |client| {
            Ok(client.call(&args.agent, &body, args.wait).await)
        })?;
    let reply = called.map_err(|error| match error.is_late() {
        true => late(args),
        false => fleet::error(error),
    })?;
    let document = AgentCallDoc {
        agent: args.agent.clone(),
        answer: reply.message.content,
        task: reply.task,
        workspace: reply.workspace,
        session: reply.session,
        changed: reply.changed,
    };
    context.output.data(document, |document| {
        let mut text = format!("{}\n", document.answer.trim_end());
        if let Some(workspace) = &document.workspace {
            let (task, changed) = (document.task, document.changed);
            text += &format!("task {task} in workspace {workspace}: {changed} changed\n");
        }
        text
    })
}

fn late(args: &CallArgs) -> CliError {
    let message = format!("{} did not answer in time; the task goes on", args.agent);
    let hint = match &args.key {
        Some(_) => Hint::from("the same call with its key gets the answer later"),
        None => Hint::command("offshoot agents show").arg(&args.agent).text(" shows the task"),
    };
    CliError::new(ExitCode::Timeout, message).hint(hint)
}

fn answer(args: &AnswerArgs, context: &Context) -> Result<()> {
    context.actor().require_person("answer questions of agents")?;
    let status = status(&args.agent, &args.registry, context)?;
    let mut open = status.questions.iter().filter(|asked| {
        let is_meant = args.question.as_ref().is_none_or(|key| *key == asked.key);
        asked.task == args.task && is_meant
    });
    let (Some(asked), None) = (open.next(), open.next()) else {
        let message = format!("task {} of {} has no such open question", args.task, args.agent);
        let hint = Hint::command("offshoot agents show").arg(&args.agent).text(" lists them");
        return Err(CliError::new(ExitCode::NotFound, message).hint(hint));
    };
    let grant = match args.answer.as_str() {
        "grant" => Some(true),
        "deny" => Some(false),
        _ => None,
    };
    let input = json!({
        "task": args.task, "key": asked.key, "grant": grant, "reason": args.message, "text": args.message,
    });
    with(&args.registry, context, async |client| {
        operate(client, &args.agent, "answer", input).await
    })?;
    did("answer", &args.agent, Some(args.task), context)
}

fn of_task(what: &str, args: &TaskArgs, context: &Context) -> Result<()> {
    context.actor().require_person("look after agents")?;
    let input = json!({ "task": args.task });
    with(&args.registry, context, async |client| operate(client, &args.agent, what, input).await)?;
    did(what, &args.agent, Some(args.task), context)
}

fn of_agent(what: &str, args: &OneArgs, context: &Context) -> Result<()> {
    context.actor().require_person("look after agents")?;
    with(&args.registry, context, async |client| {
        operate(client, &args.agent, what, Value::Null).await
    })?;
    did(what, &args.agent, None, context)
}

fn did(what: &str, agent: &str, task: Option<u64>, context: &Context) -> Result<()> {
    let document = AgentDoneDoc { agent: agent.to_owned(), did: what.to_owned(), task };
    context.output.done(document, |document| {
        let (agent, did) = (line(&document.agent), done_word(&document.did));
        match document.task {
            Some(task) => format!("{agent}: task {task} {did}\n"),
            None => format!("{agent}: {did}\n"),
        }
    })
}

/// What was done, as people are told.
fn done_word(did: &str) -> &'static str {
    match did {
        "answer" => "has its answer",
        "cancel" => "cancelled",
        "resend" => "begins again",
        "drop" => "dropped",
        "suspend" => "suspended",
        _ => "works again",
    }
}

fn tail(args: &OneArgs, context: &Context) -> Result<()> {
    with(&args.registry, context, async |client| {
        let (_open, mut stream) = client.tail(&args.agent).await?;
        // It ends with the agent, or with Ctrl-C.
        while let Ok(Some(bytes)) = stream.read().await {
            if output::print_bytes(&bytes).is_err() {
                break;
            }
        }
        Ok(())
    })
}
