//! The commands: one file each, which the list here names.

mod acp;
mod agent;
mod agents;
mod approvals;
mod audit;
mod binding;
mod cache;
mod carry;
mod checkpoint;
mod commit;
mod completions;
mod config;
mod conflicts;
mod diff;
mod discard;
mod doctor;
mod exec;
mod execs;
mod export;
mod fs;
mod gc;
mod history;
mod hook;
mod init;
mod integrate;
mod log;
mod logs;
mod man;
mod mcp;
mod merge;
mod models;
mod op;
mod policy;
mod presets;
mod providers;
mod ps;
mod pull;
mod recover;
mod registry;
mod resolve;
mod revert;
mod review;
mod run;
mod sandbox;
mod sessions;
mod show;
mod snapshot;
mod status;
mod timeline;
mod vault;
mod version;
mod workspace;

use clap::Subcommand;

use crate::context::{Context, Needs};
use crate::error::Result;

#[derive(Debug, Subcommand)]
// Building the options of all commands takes longer than most commands do: clap builds those of the one that is asked for.
#[command(defer = true)]
pub(crate) enum Command {
    /// Create a vault from a folder, or bring it up to date
    Init(init::InitArgs),
    /// Create, list and check vaults
    #[command(subcommand)]
    Vault(vault::VaultCommand),
    /// Manage the folders of a vault
    #[command(subcommand)]
    Binding(binding::BindingCommand),
    /// List and clear package caches
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    /// Fork, list and delete workspaces
    #[command(subcommand, visible_alias = "ws")]
    Workspace(workspace::WorkspaceCommand),
    /// List workspaces, as `workspace list` does
    #[command(hide = true)]
    Ls(workspace::LsArgs),
    /// Fork a workspace, as `workspace create` does
    #[command(hide = true, alias = "fork", after_help = workspace::CREATE_EXAMPLES)]
    New(workspace::CreateArgs),
    /// Mark states of a workspace and go back to them
    #[command(subcommand)]
    Checkpoint(checkpoint::CheckpointCommand),
    /// Create checkpoints
    #[command(subcommand, hide = true)]
    Snapshot(snapshot::SnapshotCommand),
    /// Run one command in a workspace
    Exec(Box<exec::ExecArgs>),
    /// Run a shell, or any command, in a workspace in this terminal
    #[command(aliases = ["shell", "sh"])]
    Run(Box<run::RunArgs>),
    /// Stand between an editor and its agent, which runs in a workspace
    Acp(Box<acp::AcpArgs>),
    /// Run commands
    #[command(subcommand, hide = true)]
    Proxy(exec::ProxyCommand),
    /// Explain and test which commands may run
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Decide about commands that wait for a person
    Approvals(approvals::ApprovalsArgs),
    /// List commands that ran
    Execs(execs::ExecsArgs),
    /// Print the output of a command
    Logs(logs::LogsArgs),
    /// List running commands
    Ps(ps::PsArgs),
    /// End a running command
    Kill(ps::KillArgs),
    /// Keep or drop what interrupted commands left
    #[command(subcommand)]
    Recover(recover::RecoverCommand),
    /// Show what happened in a workspace, command by command
    Timeline(timeline::TimelineArgs),
    /// Show, verify and export the audit log
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Show what changed in a workspace
    #[command(alias = "st")]
    Status(status::StatusArgs),
    /// Show the difference between two states
    Diff(diff::DiffArgs),
    /// Merge workspaces, checkpoints or snapshots
    Merge(merge::MergeArgs),
    /// List the conflicts of a workspace
    Conflicts(conflicts::ConflictsArgs),
    /// Resolve conflicts
    Resolve(resolve::ResolveArgs),
    /// Review the changes of a workspace, hunk by hunk
    Review(review::ReviewArgs),
    /// Show the history of a workspace
    Log(log::LogArgs),
    /// Show a snapshot, checkpoint, workspace, exec or operation
    Show(show::ShowArgs),
    /// Undo the last operation
    Undo(revert::RevertArgs),
    /// Redo what was undone
    Redo(revert::RevertArgs),
    /// Show the operation log, or go back in it
    #[command(subcommand)]
    Op(op::OpCommand),
    /// Bring the changes of a workspace into the folder
    #[command(aliases = ["apply", "ci"])]
    Commit(commit::CommitArgs),
    /// Merge the changes of the folder into a workspace
    Pull(pull::PullArgs),
    /// Discard a workspace and its changes
    Discard(discard::DiscardArgs),
    /// Export a workspace's history to a git branch
    Export(export::ExportArgs),
    /// Read and change files of a workspace without running anything
    #[command(subcommand)]
    Fs(fs::FsCommand),
    /// Have Offshoot's own coding agent do a task
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    /// Find, call and look after agents that are served
    #[command(subcommand)]
    Agents(agents::AgentsCommand),
    /// Serve a registry, by which agents find each other
    #[command(subcommand)]
    Registry(registry::RegistryCommand),
    /// List, show and fork sessions of agents
    #[command(subcommand, alias = "session")]
    Sessions(sessions::SessionsCommand),
    /// Serve agents over the Model Context Protocol, or call tools of other servers
    Mcp(mcp::McpArgs),
    /// Have a coding agent that runs outside use Offshoot for its commands
    Integrate(integrate::IntegrateArgs),
    /// Answer a coding agent that asks about a shell command
    #[command(hide = true)]
    Hook(hook::HookArgs),
    /// Delete unreferenced data
    Gc(gc::GcArgs),
    /// List the versions of a file
    History(history::HistoryArgs),
    /// Show or change the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Show what commands may read, reach and use
    #[command(subcommand)]
    Sandbox(sandbox::SandboxCommand),
    /// List and show presets of coding agents
    #[command(subcommand, alias = "preset")]
    Presets(presets::PresetsCommand),
    /// List language models, their limits and prices
    #[command(alias = "model")]
    Models(models::ModelsArgs),
    /// List and check providers of language models
    #[command(subcommand, alias = "provider")]
    Providers(providers::ProvidersCommand),
    /// Check that this machine can run Offshoot
    Doctor(doctor::DoctorArgs),
    /// Print the version
    Version(version::VersionArgs),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Print or install the manual pages
    Man(man::ManArgs),
}

impl Command {
    /// What a command asks of what it starts from.
    pub(crate) fn needs(&self) -> Needs<'_> {
        Needs {
            named: self.named(),
            lenient_settings: self.goes_back(),
            frees_space: self.frees_space(),
        }
    }

    /// Whether a command says nothing about vaults: it runs also where none can be seen.
    pub(crate) fn needs_no_vault(&self) -> bool {
        matches!(
            self,
            Self::Completions(_)
                | Self::Man(_)
                | Self::Config(_)
                | Self::Doctor(_)
                | Self::Sandbox(_)
                | Self::Presets(_)
                | Self::Models(_)
                | Self::Providers(_)
                | Self::Hook(_)
                | Self::Agents(_)
                | Self::Registry(_)
        )
    }

    /// The workspace that is named without an option.
    fn named(&self) -> Option<&str> {
        let named = match self {
            Self::Status(args) => &args.named,
            Self::Undo(args) | Self::Redo(args) => &args.named,
            Self::Commit(args) => &args.named,
            Self::Pull(args) => &args.named,
            Self::Discard(args) => &args.named,
            _ => return None,
        };
        named.text()
    }

    /// Whether a command takes something back, or says how: it runs also where the settings of the project are wrong.
    fn goes_back(&self) -> bool {
        matches!(self, Self::Undo(_) | Self::Redo(_) | Self::Op(_) | Self::Status(_))
    }

    /// Whether a command may use what a vault keeps in reserve on a full disk: it gives more back.
    fn frees_space(&self) -> bool {
        use self::checkpoint::CheckpointCommand;
        use self::recover::RecoverCommand;
        use self::sessions::SessionsCommand;
        use self::vault::VaultCommand;
        use self::workspace::WorkspaceCommand;
        matches!(
            self,
            Self::Gc(_)
                | Self::Vault(VaultCommand::Gc(_) | VaultCommand::Delete(_))
                | Self::Recover(RecoverCommand::Drop(_))
                | Self::Workspace(WorkspaceCommand::Delete(_))
                | Self::Checkpoint(CheckpointCommand::Delete(_))
                | Self::Sessions(SessionsCommand::Delete(_))
                | Self::Discard(_)
                | Self::Undo(_)
        )
    }
}

/// Runs a command and gives its exit code: that of its answer, or of the command that it ran. `grammar` is the command line as a whole.
pub(crate) fn run(
    command: Command,
    context: &Context,
    grammar: fn() -> clap::Command,
) -> Result<u8> {
    match command {
        Command::Exec(args) | Command::Proxy(exec::ProxyCommand::Exec(args)) => {
            return exec::run(&args, context);
        }
        Command::Approvals(args) => match approvals::run(&args, context)? {
            Some(code) => return Ok(code),
            None => Ok(()),
        },
        Command::Acp(args) => acp::run(&args, context),
        Command::Review(args) => review::run(&args, context),
        Command::Run(args) => return run::run(&args, context),
        Command::Diff(args) => diff::run(&args, context),
        Command::Vault(command) => vault::run(&command, context),
        Command::Op(command) => op::run(&command, context),
        Command::Merge(args) => merge::run(&args, context),
        Command::Commit(args) => commit::run(&args, context),
        Command::Pull(args) => pull::run(&args, context),
        Command::Policy(command) => policy::run(&command, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Presets(command) => presets::run(&command, context),
        Command::Models(args) => models::run(&args, context),
        Command::Providers(command) => providers::run(&command, context),
        Command::Sandbox(command) => sandbox::run(&command, context),
        Command::Init(args) => init::run(&args, context),
        Command::Binding(command) => binding::run(&command, context),
        Command::Cache(command) => cache::run(&command, context),
        Command::Workspace(command) => workspace::run(&command, context),
        Command::Ls(args) => workspace::ls(&args, context),
        Command::New(args) => workspace::run(&workspace::WorkspaceCommand::Create(args), context),
        Command::Checkpoint(command) => checkpoint::run(&command, context),
        Command::Snapshot(command) => snapshot::run(&command, context),
        Command::Execs(args) => execs::run(&args, context),
        Command::Logs(args) => logs::run(&args, context),
        Command::Ps(args) => ps::run(&args, context),
        Command::Kill(args) => ps::kill(&args, context),
        Command::Recover(command) => recover::run(&command, context),
        Command::Timeline(args) => timeline::run(&args, context),
        Command::Audit(command) => audit::run(&command, context),
        Command::Status(args) => status::run(&args, context),
        Command::Log(args) => log::run(&args, context),
        Command::Show(args) => show::run(&args, context),
        Command::Undo(args) => revert::undo(&args, context),
        Command::Redo(args) => revert::redo(&args, context),
        Command::Conflicts(args) => conflicts::run(&args, context),
        Command::Resolve(args) => resolve::run(&args, context),
        Command::Discard(args) => discard::run(&args, context),
        Command::Export(args) => export::run(&args, context),
        Command::Fs(command) => fs::run(&command, context),
        Command::Agent(command) => agent::run(&command, context),
        Command::Agents(command) => agents::run(&command, context),
        Command::Registry(command) => registry::run(&command, context),
        Command::Sessions(command) => sessions::run(&command, context),
        Command::Mcp(args) => mcp::run(&args, context),
        Command::Integrate(args) => integrate::run(&args, context),
        Command::Hook(args) => hook::run(&args, context),
        Command::Gc(args) => gc::run(&args, context),
        Command::History(args) => history::run(&args, context),
        Command::Version(args) => version::run(&args, context),
        Command::Config(command) => config::run(&command, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context, grammar()),
    }?;
    Ok(context.output.exit_code().number())
}
