//! Asking about files that something on this machine would run or obey, where somebody is there to answer.

use std::io::Write;

use offshoot_engine::commit::{Commit, Pattern};
use offshoot_engine::vault::Vault;
use offshoot_engine::workspace::WorkspaceRecord;
use offshoot_protocol::Hint;

use super::summary;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::invocation::next;
use crate::terminal;

/// The commit with the files that somebody takes who is shown what would run or obey them.
pub(super) fn about_trusted(
    context: &Context,
    vault: &Vault,
    workspace: &WorkspaceRecord,
    commit: Commit,
) -> Result<Commit> {
    if context.output.is_json() || !terminal::is_attended() {
        return Ok(commit);
    }
    let preview = context.engine.preview_of(vault, workspace, &commit)?;
    let trusted = summary::trusted(&preview.proposal.selected.held);
    let Some(first) = trusted.first() else { return Ok(commit) };
    let path = first.change.path.to_string();
    let look = next(Hint::command("offshoot diff").words("-w").arg(&workspace.name).arg(&path));
    let them = if trusted.len() == 1 { "it" } else { "them" };
    let question = format!(
        "something on this machine would run or obey:\n{}commit {them} too? `{look}` shows what is in {them} [y/N] ",
        summary::trusted_files(&trusted)
    );
    crate::output::eprint(&question);
    drop(std::io::stderr().flush());
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
    match answer.trim() {
        "y" | "Y" | "yes" => {
            let paths = trusted.iter().map(|held| Pattern::of_path(held.change.path.clone()));
            Ok(commit.take(paths))
        }
        _ => Ok(commit),
    }
}
