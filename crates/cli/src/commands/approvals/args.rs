//! Arguments of `offshoot approvals`.

use clap::Args;
use offshoot_engine::approval::ApprovalScope;
use offshoot_engine::id::Id;

use crate::complete;

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// List those that were decided as well
    #[arg(short, long)]
    pub(super) all: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Approval: the start of its id
    #[arg(value_name = "ID", add = complete::approvals())]
    pub(super) id: String,
}

#[derive(Debug, Args)]
pub(super) struct ApproveArgs {
    #[command(flatten)]
    pub(super) which: Which,
    /// Say why
    #[arg(short, long, value_name = "TEXT")]
    pub(super) message: Option<String>,
    /// Approve the same command of the same agent's session from now on, until the approval would expire
    #[arg(long, conflicts_with = "always")]
    pub(super) session: bool,
    /// Approve it in a workspace that has changed since it was asked for, as you saw it: the snapshot that `approvals show` names
    #[arg(long, value_name = "SNAPSHOT", conflicts_with = "all")]
    pub(super) seen: Option<Id>,
    /// Add the smallest rule that allows the command to your policy
    #[arg(long)]
    pub(super) always: bool,
    /// Do not ask before adding the rule
    #[arg(short, long, requires = "always")]
    pub(super) yes: bool,
}

#[derive(Debug, Args)]
pub(super) struct DenyArgs {
    #[command(flatten)]
    pub(super) which: Which,
    /// Say why; whoever asked is told
    #[arg(short, long, value_name = "TEXT")]
    pub(super) message: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// Approvals: the starts of their ids
    #[arg(value_name = "ID", required_unless_present = "all", add = complete::approvals())]
    pub(super) ids: Vec<String>,
    /// Take all that wait; with -w, those of that workspace
    #[arg(long, conflicts_with = "ids")]
    pub(super) all: bool,
}

#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// Approval: the start of its id
    #[arg(value_name = "ID", add = complete::approvals())]
    pub(super) id: String,
    /// Give up after this time, such as 30s
    #[arg(long, value_name = "TIME", value_parser = super::super::exec::patience)]
    pub(super) timeout: Option<std::time::Duration>,
}

impl ApproveArgs {
    pub(super) fn scope(&self) -> ApprovalScope {
        match (self.session, self.always) {
            (true, _) => ApprovalScope::Session,
            (_, true) => ApprovalScope::Always,
            _ => ApprovalScope::Once,
        }
    }
}
