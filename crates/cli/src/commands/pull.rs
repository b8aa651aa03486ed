//! `offshoot pull`: what changed in the folder comes into the main line and into a workspace.

use clap::Args;
use offshoot_protocol::ExitCode;
use offshoot_workspace::{PullService, Pulled, wire};

use super::commit::conflict_lines;
use super::init::report_skipped;
use crate::args::Named;
use crate::context::Context;
use crate::error::Result;
use crate::progress::Patience;
use crate::render::{self, BAD, DIM, NAME, paint};

const EXAMPLES: &str = "\
Examples:
  offshoot pull             merge the folder into the only workspace
  offshoot pull fix         or into workspace fix
  offshoot pull --head      only bring the main line up to date
  offshoot undo -w fix      undo the merge

The folder itself is not touched. If both sides changed the same lines, the files in the workspace
get conflict markers, and the exit code is 4.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PullArgs {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Update only the main line, and no workspace
    #[arg(long)]
    head: bool,
}

pub(crate) fn run(args: &PullArgs, context: &Context) -> Result<ExitCode> {
    let vault = &context.vault()?.vault;
    let told = |event: &_| context.tell(event);
    let mut options = context.home_options(&told);
    // One thing that turns is enough.
    options.import.progress = None;
    let service = PullService::new(vault, &context.actor, options, context.diff_options());
    let progress = context.settings.config.ui.progress;
    let waiting = Patience::new(progress, context.is_silent(), "reading the folder");
    let pulled = match args.head {
        true => service.pull_head(),
        false => service.pull(&context.workspace_to_change(vault)?),
    };
    drop((waiting, service));
    let pulled = pulled?;
    report_skipped(context, &pulled.report);
    context.note_left_git(&pulled.git_directory);
    context.note_taken_git(&pulled.git_directory);
    context.output.done(wire::pull(&pulled), |_| text(&pulled))?;
    Ok(if pulled.conflicts.is_empty() { ExitCode::Success } else { ExitCode::Conflict })
}

fn text(pulled: &Pulled) -> String {
    let mut text = String::new();
    if pulled.head_moved {
        let counts = render::change_counts(&pulled.captured);
        text.push_str(&format!("new in the folder: {counts}\n"));
        text.push_str(&render::changes(&pulled.captured, "  "));
    }
    let Some(workspace) = &pulled.workspace else {
        if !pulled.head_moved {
            text.push_str("head is up to date with the folder\n");
        }
        return text;
    };
    let name = paint(NAME, workspace);
    let nothing = pulled.changes.is_empty() && pulled.conflicts.is_empty();
    if pulled.operation.is_none() || (nothing && pulled.git.notes.is_empty()) {
        text.push_str(&format!("workspace {name} is up to date\n"));
        return text;
    }
    let counts = render::change_counts(&pulled.changes);
    text.push_str(&format!("pulled into workspace {name}: {counts}\n"));
    text.push_str(&render::changes(&pulled.changes, "  "));
    text.push_str(&render::git::notes(&pulled.git, &format!("{workspace}'s")));
    if !pulled.conflicts.is_empty() {
        let count = render::count(pulled.conflicts.len() as u64, "conflict");
        text.push_str(&format!("{} to decide:\n", paint(BAD, &count)));
        text.push_str(&conflict_lines(&pulled.conflicts));
    }
    let undo = format!("take back: offshoot undo -w {workspace}");
    text.push_str(&format!("{}\n", paint(DIM, &undo)));
    text
}
