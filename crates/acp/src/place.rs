//! Where a process of the agent runs: a workspace, and the rules that hold there.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_engine::exec::{Command, CommandLine, Exec, ExecutionTimeout, Input, start_directory};
use offshoot_engine::id::Id;
use offshoot_engine::policy::{Context, judge};
use offshoot_engine::preset::{PresetFit, PresetReach};
use offshoot_engine::sandbox::Rules;
use offshoot_engine::{Offshoot, Project, Workspace};
use offshoot_protocol::{ExitCode, Hint, Network};

use crate::name;
use crate::settings::AcpSettings;

/// Where a process is wanted.
pub(crate) enum Place {
    /// In a new workspace of this folder's project, or in the one that was named.
    New(PathBuf),
    /// Where a session was before.
    Before(PathBuf, String),
    /// In this workspace, which was made for it.
    In(PathBuf, Workspace),
}

/// What was made on the way to a process.
pub(crate) struct Started {
    pub(crate) workspace: Workspace,
    pub(crate) name: String,
    pub(crate) made_at: Option<Id>,
    pub(crate) exec: Exec,
    pub(crate) input: io::PipeWriter,
    /// The directory below the top of the project that it stands in.
    pub(crate) below: Option<PathBuf>,
}

/// Finds or forks the workspace, and starts the agent there.
pub(crate) fn run(
    engine: &Offshoot,
    settings: &AcpSettings,
    place: &Place,
) -> offshoot_engine::Result<Started> {
    let (Place::New(folder) | Place::Before(folder, _) | Place::In(folder, _)) = place;
    let project = engine.project(folder)?;
    may_run(settings, &project, folder)?;
    let (workspace, is_made) = workspace(settings, &project, place)?;
    let (name, head) = (workspace.name()?, workspace.record()?.state.head);
    let made_at = is_made.then_some(head);
    let (read, input) = io::pipe().map_err(|error| {
        offshoot_engine::Error::new(ExitCode::Failure, format!("cannot make a pipe: {error}"))
    })?;
    let below = start_directory(project.vault(), &folder.canonicalize().unwrap_or_default())?;
    let line = CommandLine::Argv(settings.command.clone());
    let rules = engine_rules(settings, &project)?;
    let network = network(settings, project.engine(), &rules)?;
    let agent = confined(settings, network, line, below.as_deref())
        .time(ExecutionTimeout::None)
        .record(false)
        .input(Input::From(read.into()));
    match workspace.exec(by_preset(settings, project.engine(), agent)) {
        Ok(exec) => Ok(Started { workspace, name, made_at, exec, input, below }),
        Err(error) => {
            if is_made {
                workspace.delete()?;
            }
            Err(error)
        }
    }
}

/// A command with what the agent has: the agent itself, or one of its own that is tried.
pub(crate) fn confined(
    settings: &AcpSettings,
    network: Option<(Network, Vec<String>)>,
    line: CommandLine,
    below: Option<&Path>,
) -> Command {
    let mut command = Command::of(line).rules(settings.rules.iter().cloned());
    if let Some(below) = below.filter(|below| !below.as_os_str().is_empty()) {
        command = command.directory(below);
    }
    command = settings.variables.iter().fold(command, |command, item| command.variable(item));
    command = settings.show.iter().fold(command, |command, path| command.show(path));
    if let Some(profile) = &settings.sandbox {
        command = command.sandbox(profile);
    }
    if let Some((network, allow)) = network {
        command = command.network(network);
        command = allow.into_iter().fold(command, |command, rule| command.allow(rule));
    }
    command
}

/// The agent with what its preset gives it.
fn by_preset(settings: &AcpSettings, engine: &Offshoot, agent: Command) -> Command {
    let Some(preset) = &settings.preset else { return agent };
    let set = preset.acp.iter().flat_map(|acp| &acp.set);
    let is_given = |name: &str| {
        let mut given = settings.variables.iter().map(|item| item.to_string_lossy());
        given.any(|item| item.split('=').next() == Some(name))
    };
    let set = set.filter(|(name, _)| !is_given(name));
    let agent = set.fold(agent, |agent, (name, value)| agent.variable(format!("{name}={value}")));
    agent.preset(preset, &engine.viewer())
}

/// What the agent can reach: what was asked for, and the hosts of its preset.
fn network(
    settings: &AcpSettings,
    engine: &Offshoot,
    rules: &Rules,
) -> offshoot_engine::Result<Option<(Network, Vec<String>)>> {
    let asked = settings.network.clone();
    let Some(preset) = &settings.preset else { return Ok(asked) };
    let fit = PresetFit { preset, terminal: false, trusted: false };
    let (sandbox, says) = (settings.sandbox.as_deref(), asked.as_ref().map(|(net, _)| *net));
    let caller = (&engine.viewer(), settings.variables.as_slice());
    Ok(match fit.reach(rules, sandbox, says, caller)? {
        PresetReach::Hosts(hosts) => {
            let mut allow = asked.map(|(_, allow)| allow).unwrap_or_default();
            allow.extend(hosts);
            Some((Network::Proxy, allow))
        }
        PresetReach::AsAsked | PresetReach::Barred => asked,
    })
}

/// The rules that hold in a project.
fn engine_rules(settings: &AcpSettings, project: &Project) -> offshoot_engine::Result<Rules> {
    project.engine().rules(project.folder()?.as_deref(), &settings.rules)
}

/// The workspace to run in, and whether it is new.
fn workspace(
    settings: &AcpSettings,
    project: &Project,
    place: &Place,
) -> offshoot_engine::Result<(Workspace, bool)> {
    if let Place::In(_, workspace) = place {
        return Ok((workspace.clone(), true));
    }
    if let Place::Before(_, session) = place
        && let Some(noted) = project.conversation(session)
    {
        let mut all = project.workspaces()?.into_iter();
        if let Some(known) = all.find(|known| known.id().to_string() == noted.workspace) {
            return Ok((known, false));
        }
    }
    if let Some(named) = &settings.workspace {
        let known = project.workspaces()?.into_iter();
        for workspace in known {
            if workspace.name()? == *named {
                return Ok((workspace, false));
            }
        }
        return Ok((project.fork(named)?, true));
    }
    let agent = name::agent(settings);
    Ok((numbered(&agent, |name| project.fork(name))?, true))
}

/// Makes a workspace with the first number behind its name that is free.
pub(crate) fn numbered(
    name: &str,
    make: impl Fn(&str) -> offshoot_engine::Result<Workspace>,
) -> offshoot_engine::Result<Workspace> {
    let mut tries = (1_u32..).map(|number| make(&format!("{name}-{number}")));
    let taken = |made: &offshoot_engine::Result<Workspace>| {
        made.as_ref().is_err_and(|error| error.code == ExitCode::Conflict)
    };
    match tries.find(|made| !taken(made)) {
        Some(made) => made,
        None => Err(offshoot_engine::Error::new(ExitCode::Conflict, "no name is left")),
    }
}

/// Fails where policy does not let the agent start. Nobody can be asked before there is a session.
fn may_run(
    settings: &AcpSettings,
    project: &Project,
    folder: &Path,
) -> offshoot_engine::Result<()> {
    let (rules, context) = surroundings(settings, project, folder)?;
    let line = CommandLine::Argv(settings.command.clone());
    let verdict = judge(&rules.policy, &line, &context);
    if verdict.decision.runs() {
        return Ok(());
    }
    let program = settings.command.first().map(|word| word.to_string_lossy().into_owned());
    let message = format!(
        "policy does not let {} start: {} ({})",
        program.unwrap_or_default(),
        verdict.reason,
        verdict.decision
    );
    let words = settings.command.iter().map(|word| word.to_string_lossy().into_owned());
    let hint = Hint::from("see which rule says so: ").then("offshoot policy explain --");
    Err(offshoot_engine::Error::new(ExitCode::Denied, message).hint(words.fold(hint, Hint::arg)))
}

/// The rules that hold in a project, and what policy is told about what runs there.
pub(crate) fn surroundings(
    settings: &AcpSettings,
    project: &Project,
    folder: &Path,
) -> offshoot_engine::Result<(Rules, Context)> {
    let (engine, top) = (project.engine(), project.folder()?);
    let rules = engine_rules(settings, project)?;
    let profile = rules.profiles.profile(settings.sandbox.as_deref())?;
    let workspace = top.unwrap_or_else(|| folder.to_owned());
    let context = Context {
        cwd: folder.to_owned(),
        workspace,
        folders: Vec::new(),
        home: engine.options().user_home(),
        network: network(settings, engine, &rules)?.map_or(profile.network, |(network, _)| network),
        read_only: false,
        unconfined: profile.is_open(),
        terminal: false,
        stdin: true,
        environment: Vec::new(),
    };
    Ok((rules, context))
}
