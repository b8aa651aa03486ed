//! `offshoot agent`: Offshoot's own coding agent.

mod chat;
mod editor;
mod ending;
mod progress;
mod prompt;
mod question;
mod run;
mod serve;
mod servers;
mod signals;
mod work;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Result;

pub(super) use self::chat::talk;
pub(super) use self::work::{Which, WorkArgs};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AgentCommand {
    /// Have the agent do a task in a workspace
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::RunArgs>),
    /// Talk with the agent about what it does in a workspace
    #[command(after_help = chat::EXAMPLES)]
    Chat(Box<chat::ChatArgs>),
    /// Serve an agent to other agents, by its file
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeArgs),
}

pub(crate) fn run(command: &AgentCommand, context: &Context) -> Result<()> {
    match command {
        AgentCommand::Run(args) => run::run(args, context),
        AgentCommand::Chat(args) => chat::run(args, context),
        AgentCommand::Serve(args) => serve::run(args, context),
    }
}
