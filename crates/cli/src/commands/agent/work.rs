//! An agent at work: what it is started with, and the session that it works in.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use offshoot_coder::{
    AgentProgress, Coder, CoderError, CoderOptions, ProgressListener, Redactor, Rested, TurnEnd,
    TurnSettings,
};
use offshoot_engine::session::Session;
use offshoot_engine::settings::{parse_duration, parse_money};
use offshoot_engine::{Project, Workspace};
use offshoot_protocol::ExitCode;
use offshoot_provider::{ApiKey, ChosenProvider, Cost, ProviderPlan};
use offshoot_tool::ToolRegistry;

use super::servers::Servers;
use crate::complete;
use crate::context::{Context, current_dir};
use crate::error::{CliError, Result};
use crate::provider_choice::{self, ProviderArgs, lookup};

/// What is said to a model whose turn was cancelled, where the user only wants it to go on.
const GO_ON: &str = "Go on where you were stopped.";
/// The provider of sessions in which a script answered.
const SCRIPTED: &str = "scripted";

// Not a doc comment: clap would say it of the command. What every command takes that has the agent work.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    provider: ProviderArgs,
    /// Let the agent reach these hosts
    #[arg(long, value_name = "allow=HOSTS")]
    net: Vec<String>,
    /// Give it the trusted tools of these servers; '' for none [default: agent.mcp]
    #[arg(long, value_name = "SERVERS", value_delimiter = ',')]
    mcp: Option<Vec<String>>,
    /// Pause when it cost so many US dollars [default: agent.max_cost]
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<u64>,
    /// Pause after so many answers [default: agent.max_turns]
    #[arg(long, value_name = "COUNT")]
    max_turns: Option<u64>,
    /// Pause after this time of work, such as 10m [default: agent.max_time]
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Duration>,
}

// The same: which session it is.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// Go on with this session, by its name or the start of its id
    #[arg(long, value_name = "SESSION", add = complete::sessions())]
    pub(super) resume: Option<String>,
    /// Name of the new session [default: a friendly one]
    #[arg(long, conflicts_with = "resume")]
    pub(super) name: Option<String>,
}

/// Which session an agent works in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    /// One that is there.
    Old(&'a str),
    /// A new one, of this name if it has one.
    New(Option<&'a str>),
}

/// Where an agent begins.
#[derive(Clone, Debug)]
pub(super) enum Start {
    /// In a session that is there.
    Old(Session),
    /// In a new one, of this name if it has one.
    New(Option<String>),
}

/// Finds the session that is meant. No new one is made yet.
pub(super) fn start(which: Which<'_>, context: &Context) -> Result<Start> {
    Ok(match which {
        Which::Old(name) => Start::Old(session(name, context, &project(context)?)?),
        Which::New(name) => Start::New(name.map(str::to_owned)),
    })
}

impl SessionArgs {
    pub(super) fn which(&self) -> Which<'_> {
        match &self.resume {
            Some(name) => Which::Old(name),
            None => Which::New(self.name.as_deref()),
        }
    }
}

impl WorkArgs {
    /// What the agent is started with, and the servers that it calls. No session is made yet.
    pub(super) fn options(
        &self,
        context: &Context,
        start: &Start,
        listener: impl ProgressListener + 'static,
    ) -> Result<(CoderOptions, Servers)> {
        let plan = self.plan(context, start)?;
        let chosen = plan.build(lookup(context)).map_err(provider_choice::error)?;
        let settings = self.settings(context, &chosen);
        let hosts = crate::commands::mcp::hosts(&self.net)?;
        let names = self.mcp.clone().unwrap_or_else(|| context.config().agent.mcp());
        let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let mut registry = ToolRegistry::builtin();
        let servers = Servers::open(&names, &mut registry, context)?;
        let options = CoderOptions::shared(Arc::clone(&chosen.provider), settings)
            .hosts(hosts)
            .registry(registry)
            .directory(current_dir()?)
            .redactor(redactor(context, &chosen))
            .listener(move |progress: AgentProgress| listener.tell(progress));
        Ok((options, servers))
    }

    /// Who answers: where options do not say it, the model that a session has, or that of the settings.
    fn plan(&self, context: &Context, start: &Start) -> Result<ProviderPlan> {
        let Start::Old(session) = start else { return self.provider.plan(context) };
        let head = session.head()?;
        let is_named = self.provider.model.is_some() || self.provider.provider.is_some();
        if !is_named && head.provider == SCRIPTED {
            let name = &session.record().name;
            let error = CliError::usage(format!("a script answered in session {name}"));
            return Err(error.hint("name what answers now with --provider or --model"));
        }
        let mut defaults = provider_choice::defaults(context);
        if !head.provider.is_empty() && !head.model.is_empty() && head.provider != SCRIPTED {
            defaults.model = Some(format!("{}/{}", head.provider, head.model));
        }
        self.provider.plan_with(context, defaults)
    }

    fn settings(&self, context: &Context, chosen: &ChosenProvider) -> TurnSettings {
        let own = &context.config().agent;
        let mut settings = TurnSettings::new(chosen.model.id.clone());
        if let Some(window) = chosen.model.context {
            settings.window = window;
        }
        settings.max_output = chosen.model.output;
        let (cost, time) =
            (self.max_cost.unwrap_or(own.max_cost), self.max_time.unwrap_or(own.max_time));
        let limits = &mut settings.limits;
        limits.steps = Some(self.max_turns.unwrap_or(own.max_turns)).filter(|steps| *steps > 0);
        // Settings are in millionths of a dollar.
        let picodollars = cost.saturating_mul(1_000_000);
        limits.money = (picodollars > 0).then_some(Cost { picodollars });
        limits.time_ms = (time > Duration::ZERO).then(|| millis(time));
        settings
    }
}

/// Knows the keys in use, and the values of variables that are named like a credential.
pub(super) fn redactor(context: &Context, chosen: &ChosenProvider) -> Redactor {
    let variables = context.engine.viewer().variables;
    let texts = variables.iter().filter_map(|(name, value)| name.to_str().zip(value.to_str()));
    Redactor::new(chosen.keys.iter().map(ApiKey::expose)).with_variables(texts)
}

fn dollars(text: &str) -> std::result::Result<u64, String> {
    parse_money(text).ok_or_else(|| "write an amount such as 2.50".to_owned())
}

fn time(text: &str) -> std::result::Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "write a time such as 30s or 10m".to_owned())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Where agents work: a runtime of this thread.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CliError::new(ExitCode::Failure, format!("cannot start: {error}")))
}

/// Takes a session up, or begins one.
pub(super) async fn open(start: Start, context: &Context, options: CoderOptions) -> Result<Coder> {
    let opened = match start {
        Start::Old(session) => Coder::resume(session, options).await,
        Start::New(name) => {
            let options = match name {
                Some(name) => options.name(name),
                None => options,
            };
            Coder::begin(&workspace(context, &project(context)?)?, options).await
        }
    };
    let coder = opened.map_err(failed)?;
    for note in coder.notes() {
        match context.output.is_json() {
            true => context.output.note(note),
            false => context.output.at_once(&format!("note: {note}")),
        }
    }
    Ok(coder)
}

/// Ends what still runs, before the program does, and tells of it.
pub(super) async fn finish(coder: &mut Coder, context: &Context) -> Result<()> {
    for ended in coder.finish().await.map_err(failed)? {
        context.output.note(format!("ended with the agent, what it wrote is kept: {ended}"));
    }
    Ok(())
}

/// Goes on with what is open, though the user has nothing to say.
pub(super) async fn go_on(coder: &mut Coder) -> Result<Rested> {
    let rested = match coder.run().await.map_err(failed)? {
        Rested::Paused(_) => coder.resume_turn(None).await,
        Rested::Idle { .. } if coder.state().ended() == Some(TurnEnd::Cancelled) => {
            coder.say(GO_ON).await
        }
        rested => Ok(rested),
    };
    rested.map_err(failed)
}

pub(super) fn failed(error: CoderError) -> CliError {
    match error {
        CoderError::Engine(error) => error,
        other => CliError::new(ExitCode::Failure, other.to_string()),
    }
}

fn project(context: &Context) -> Result<Project> {
    Ok(match context.vault_name() {
        Some(name) => context.engine.vault(name)?,
        None => context.engine.project(current_dir()?)?,
    })
}

/// The session that is meant, of the workspace that is named, if one is.
fn session(name: &str, context: &Context, project: &Project) -> Result<Session> {
    let Some(workspace) = context.workspace_name() else { return project.session(name) };
    let all = project.workspace(workspace)?.sessions()?;
    if let Some(session) = all.into_iter().find(|session| session.record().name == name) {
        return Ok(session);
    }
    let session = project.session(name)?;
    let own = session.workspace().name()?;
    match own == workspace {
        true => Ok(session),
        false => {
            let error = format!("session {name} is in workspace {own}, not in {workspace}");
            Err(CliError::usage(error).hint("leave -w out: a session works in its own workspace"))
        }
    }
}

fn workspace(context: &Context, project: &Project) -> Result<Workspace> {
    let Some(name) = context.workspace_name() else { return project.fork_anew() };
    let found = project.workspaces()?.into_iter().find(|it| it.name().is_ok_and(|own| own == name));
    Ok(match found {
        Some(workspace) => workspace,
        None => project.fork(name)?,
    })
}
