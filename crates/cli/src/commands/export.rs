//! `offshoot export`: a workspace's history for another program.

use std::path::PathBuf;

use clap::Args;
use offshoot_engine::commit::HeldReason;
use offshoot_engine::file::VaultPath;
use offshoot_engine::git::{ExportRequest, GitFolder};
use offshoot_engine::vault::Vault;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_engine::{git, wire};
use offshoot_protocol::{GitExportDoc, Hint};

use super::init::open_directory;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::progress::Patience;
use crate::render::{self, DIM, NAME, WARN, paint};

/// So many commits are shown.
const SHOWN: usize = 10;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  offshoot export --git agent/fix -w fix    its snapshots as commits on branch agent/fix\n  offshoot export --git agent/fix -w fix    again: what is new goes on top\n  offshoot export --git fix --repo ../clone\n\nWorking tree, index and HEAD stay as they are. `offshoot fs export` writes files to a folder,\n`offshoot vault export` a whole vault to a file."
)]
pub(crate) struct ExportArgs {
    /// Write to this branch
    #[arg(long, value_name = "BRANCH")]
    git: Option<String>,
    /// Use this repository [default: the one of the vault's folder]
    #[arg(long, value_name = "DIR", requires = "git")]
    repo: Option<PathBuf>,
    /// Export all history, not only what came after the fork
    #[arg(long, requires = "git")]
    all: bool,
    /// Export ignored files too
    #[arg(long, requires = "git")]
    ignored: bool,
    /// Replace a branch that has other commits
    #[arg(long, requires = "git")]
    force: bool,
    /// Set the author of the commits [default: as git is configured]
    #[arg(long, value_name = "NAME <MAIL>", requires = "git")]
    author: Option<String>,
}

pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<()> {
    let Some(branch) = &args.git else {
        return Err(CliError::usage("say what to export to: --git BRANCH").hint(
            Hint::command("offshoot fs export / DIR")
                .text(" writes files to a folder, ")
                .then("offshoot vault export FILE")
                .text(" a vault to a file"),
        ));
    };
    let vault = &context.vault()?.vault;
    let workspace = context.workspace_to_change(vault)?;
    let options = context.engine.git(args.author.as_deref())?;
    let folder = GitFolder::require(&repository(args, vault)?, &options)?;
    let patience = Patience::new(context.config().ui.progress, context.is_silent(), "exporting");
    let request = ExportRequest {
        workspace: &workspace,
        branch,
        at: &VaultPath::top(),
        all: args.all,
        ignored: args.ignored,
        force: args.force,
        actor: context.engine.actor(),
    };
    let exported = git::export(vault, &folder, &request)?;
    drop(patience);
    note_trusted(context, vault, &workspace)?;
    let document = wire::git_export(&exported, &workspace, branch, folder.top());
    context.output.done(document, summary)
}

/// Says what the branch has that a commit holds back: whoever checks it out has it.
fn note_trusted(context: &Context, vault: &Vault, workspace: &WorkspaceRecord) -> Result<()> {
    let preview = context.preview(vault, workspace, false)?;
    let trusted = preview.proposal.stays().filter(|held| {
        matches!(held.reason, HeldReason::Trusted(_)) && held.change.after.is_some()
    });
    let names: Vec<String> = trusted.map(|held| render::path(&held.change.path)).collect();
    if let [first, more @ ..] = &names[..] {
        let more = match more.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        context.output.note(format!(
            "the branch has {first}{more}, which something on this machine would run or obey once it is checked out"
        ));
    }
    Ok(())
}

/// The folder whose repository is written to.
fn repository(args: &ExportArgs, vault: &Vault) -> Result<PathBuf> {
    if let Some(repo) = &args.repo {
        return open_directory(repo);
    }
    git::folder(vault).map_err(|error| error.hint("name a repository with --repo DIR"))
}

fn summary(document: &GitExportDoc) -> String {
    let branch = paint(NAME, &render::line(&document.branch));
    let mut text = match (document.commits.len() as u64, &document.tip) {
        (0, Some(_)) => format!("branch {branch} has everything already\n"),
        (0, None) => {
            "nothing to export: the workspace has no changes that git can see\n".to_owned()
        }
        (count, _) => {
            let tip = document.tip.as_deref().map_or("", short);
            format!(
                "{} on branch {branch}, at {}\n",
                render::count(count, "commit"),
                paint(WARN, tip)
            )
        }
    };
    let hidden = document.commits.len().saturating_sub(SHOWN);
    if hidden > 0 {
        text.push_str(&paint(DIM, &format!("  {hidden} earlier\n")));
    }
    for made in document.commits.iter().skip(hidden) {
        text.push_str(&format!(
            "  {} {}\n",
            paint(WARN, short(&made.commit)),
            render::line(&made.subject)
        ));
    }
    text.push_str(&left_out(document));
    text
}

fn left_out(document: &GitExportDoc) -> String {
    let left = &document.left_out;
    let mut parts = Vec::new();
    let mut add = |count: u64, what: &str, more: &str| {
        if count > 0 {
            parts.push(format!("{}{more}", render::count(count, what)));
        }
    };
    add(left.ignored, "ignored file", " (--ignored takes them along)");
    add(left.empty_directories, "empty directory", "");
    add(left.pipes.len() as u64, "pipe", "");
    add(left.repositories.len() as u64, "nested repository", "");
    add(document.collected, "collected snapshot", "");
    match parts.is_empty() {
        true => String::new(),
        false => paint(DIM, &format!("left out: {}\n", parts.join(", "))),
    }
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
