//! One file a command.

pub(crate) mod binding;
pub(crate) mod cache;
pub(crate) mod carry;
pub(crate) mod checkpoint;
pub(crate) mod commit;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod conflicts;
pub(crate) mod diff;
pub(crate) mod discard;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod execs;
pub(crate) mod export;
pub(crate) mod fs;
pub(crate) mod gc;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod op;
pub(crate) mod policy;
pub(crate) mod ps;
pub(crate) mod pull;
pub(crate) mod recover;
pub(crate) mod resolve;
pub(crate) mod revert;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod vault;
pub(crate) mod version;
pub(crate) mod workspace;

use crate::args::Command;
use crate::context::Context;
use crate::error::Result;

/// Whether a command takes something back, or says how: it runs also where the settings of the project are wrong.
pub(crate) fn goes_back(command: &Command) -> bool {
    matches!(command, Command::Undo(_) | Command::Redo(_) | Command::Op(_) | Command::Status(_))
}

/// Whether a command may use what a vault keeps in reserve on a full disk: it gives more back.
pub(crate) fn frees_space(command: &Command) -> bool {
    use self::checkpoint::CheckpointCommand;
    use self::recover::RecoverCommand;
    use self::vault::VaultCommand;
    use self::workspace::WorkspaceCommand;
    matches!(
        command,
        Command::Gc(_)
            | Command::Vault(VaultCommand::Gc(_) | VaultCommand::Delete(_))
            | Command::Recover(RecoverCommand::Drop(_))
            | Command::Workspace(WorkspaceCommand::Delete(_))
            | Command::Checkpoint(CheckpointCommand::Delete(_))
            | Command::Discard(_)
            | Command::Undo(_)
    )
}

/// Runs a command and gives its exit code: that of its answer, or of the command that it ran.
pub(crate) fn run(command: Command, context: &Context) -> Result<u8> {
    match command {
        Command::Exec(args) | Command::Proxy(exec::ProxyCommand::Exec(args)) => {
            return exec::run(&args, context);
        }
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
        Command::Gc(args) => gc::run(&args, context),
        Command::History(args) => history::run(&args, context),
        Command::Version(args) => version::run(&args, context),
        Command::Config(command) => config::run(&command, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    }?;
    Ok(context.output.exit_code().number())
}
