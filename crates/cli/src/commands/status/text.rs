//! A status for people, and for scripts that read lines.

use std::collections::HashSet;

use offshoot_engine::binding::Binding;
use offshoot_engine::change::{Change, Noise, without_frames};
use offshoot_engine::file::VaultPath;
use offshoot_engine::status::WorkspaceStatus;
use offshoot_engine::text::display_bytes;
use offshoot_engine::wire;
use offshoot_protocol::Hint;

use crate::commands::commit::{conflict_lines, held_lines};
use crate::commands::conflicts;
use crate::error::Result;
use crate::invocation::{self, next_in};
use crate::render::listing::{EXPAND, Listing, METADATA};
use crate::render::{self, BAD, DIM, NAME, WARN, paint};

/// At most so many files are listed one by one, unless all are asked for.
const MOST_LISTED: usize = 50;

/// All there is to say. `hints` adds what could be done next.
pub(super) fn long(
    vault: &str,
    status: &WorkspaceStatus,
    mut noise: Option<&mut Noise<'_>>,
    hints: bool,
) -> Result<String> {
    let mut out = format!(
        "workspace {} of vault {}, forked from {}, {}\n",
        paint(NAME, &status.workspace.name),
        vault,
        render::short(&status.base.id),
        render::count(status.checkpoints, "checkpoint")
    );
    for folder in status.folders.iter().filter(|folder| !folder.git) {
        out.push_str(&format!("folder {}\n", display_bytes(&folder.path)));
    }
    out.extend(render::git_directory(&status.git).map(|line| format!("{line}\n")));
    if status.behind > 0 {
        let name = &status.workspace.name;
        let line = format!("the folder has changes that {name} does not have");
        let pull = format!(": `{}` brings them", next_in(name, "offshoot pull"));
        out.push_str(&format!("{}{}\n", paint(WARN, &line), paint(DIM, &pull)));
    }
    if !status.conflicts.is_empty() {
        out.push_str(&conflicts::lines(&status.conflicts));
    }
    let brought = Listing::new(status.brought(), noise.as_deref_mut())?;
    let brought = brought.and_metadata(status.preview.summary.telling_metadata(), METADATA);
    out.push_str(&format!("{}\n", brought.heading()));
    out.push_str(&brought.lines("  ", MOST_LISTED, EXPAND));
    out.push_str(&render::git::notes(&status.preview.proposal.git, "yours"));
    let own = format!("{}'s", status.workspace.name);
    out.push_str(&render::git::notes(&status.kept_apart, &own));
    out.push_str(&held_lines(&status.workspace.name, status.held(), noise)?);
    out.push_str(&in_the_way(vault, status));
    if let Some(operation) = &status.last_operation {
        out.push_str(&paint(
            DIM,
            &format!("last: {}", render::line(&render::paths_in(operation.to_owned()))),
        ));
        out.push('\n');
    }
    if hints {
        out.push_str(&next(status));
    }
    Ok(out)
}

/// What keeps a commit from doing what is listed.
fn in_the_way(vault: &str, status: &WorkspaceStatus) -> String {
    let preview = &status.preview;
    let mut out = gone(vault, &status.folders);
    let name = &status.workspace.name;
    if !preview.proposal.conflicts.is_empty() {
        let count = render::count(preview.proposal.conflicts.len() as u64, "conflict");
        let line = format!("{count} with the folder: a commit would change nothing");
        out.push_str(&format!("{}\n", paint(BAD, &line)));
        out.push_str(&conflict_lines(&preview.proposal.conflicts));
    }
    if let Some(refused) = preview.refused.as_ref().filter(|_| status.conflicts.is_empty()) {
        let line = format!("commit is refused: {}", render::line(&refused.to_string()));
        out.push_str(&format!("{}\n", paint(BAD, &line)));
    }
    out.extend(render::outdated(&preview.outdated, name));
    out
}

/// Says which folders are gone, and what to do when they were moved.
pub(super) fn gone(vault: &str, folders: &[Binding]) -> String {
    let gone = folders.iter().filter(|folder| folder.is_gone());
    let line = |folder: &Binding| {
        let line = format!("the folder {} is gone", display_bytes(&folder.path));
        let name = if folder.is_first() { "/" } else { &folder.name };
        let moved =
            Hint::command("offshoot binding move --vault").arg(vault).arg(name).words("DIR");
        let next = format!("; `{}` says where it is now", invocation::next(moved));
        format!("{}{}\n", paint(WARN, &line), paint(DIM, &next))
    };
    gone.map(line).collect()
}

/// What could be done next.
fn next(status: &WorkspaceStatus) -> String {
    let name = &status.workspace.name;
    if !status.conflicts.is_empty() {
        return conflicts::next_steps(&[wire::to_decide(name)], name);
    }
    if status.changes().is_empty() {
        return String::new();
    }
    if !status.preview.proposal.conflicts.is_empty() {
        let pull = next_in(name, "offshoot pull");
        return format!("{}\n", paint(DIM, &format!("resolve: {pull}")));
    }
    let review = next_in(name, "offshoot review");
    let text = match status.folders.is_empty() || status.folders.iter().any(Binding::is_gone) {
        true => format!("review: {review}"),
        false => format!("review: {review}   commit: {}", next_in(name, "offshoot commit")),
    };
    format!("{}\n", paint(DIM, &text))
}

/// A line for the workspace, and one for each path. What is held back has a line of its own instead of its change's.
pub(super) fn short(status: &WorkspaceStatus) -> String {
    let mut out = format!("## {}", paint(NAME, &status.workspace.name));
    if status.behind > 0 {
        out.push_str(&format!(" [behind {}]", status.behind));
    }
    out.push('\n');
    for conflict in &status.conflicts {
        out.push_str(&format!("{} {}\n", paint(BAD, "U"), conflict.path));
    }
    let undecided: HashSet<&VaultPath> = status.conflicts.iter().map(|open| &open.path).collect();
    let stays: HashSet<&VaultPath> = status.held().iter().map(|held| &held.change.path).collect();
    let changes: Vec<Change> = status.changes().into_iter().cloned().collect();
    for change in without_frames(&changes) {
        if undecided.contains(&change.path) {
            continue;
        }
        match stays.contains(&change.path) {
            true => out.push_str(&format!("{} {}\n", paint(DIM, "!"), change.path)),
            false => out.push_str(&format!("{}\n", render::change_for_scripts(change))),
        }
    }
    out
}
