//! A status for people, and for scripts that read lines.

use std::collections::HashSet;

use offshoot_vault::{VaultPath, display_bytes};

use super::Status;
use crate::commands::commit::held_lines;
use crate::commands::conflicts;
use crate::render::{self, BAD, DIM, NAME, WARN, paint};

/// All there is to say. `hints` adds what could be done next.
pub(super) fn long(status: &Status, hints: bool) -> String {
    let mut out = format!(
        "workspace {} of vault {}, forked from {}, {}\n",
        paint(NAME, &status.workspace.name),
        status.vault,
        render::short(&status.base.id),
        render::count(status.checkpoints, "checkpoint")
    );
    for folder in status.folders.iter().filter(|folder| !folder.git) {
        out.push_str(&format!("folder {}\n", display_bytes(&folder.path)));
    }
    out.extend(render::git_directory(&status.git).map(|line| format!("{line}\n")));
    if status.behind > 0 {
        let line = format!("head is {} ahead", render::count(status.behind, "snapshot"));
        let pull = format!(": `offshoot pull -w {}` brings them", status.workspace.name);
        out.push_str(&format!("{}{}\n", paint(WARN, &line), paint(DIM, &pull)));
    }
    if !status.conflicts.is_empty() {
        out.push_str(&conflicts::lines(&status.conflicts));
    }
    out.push_str(&format!("{}\n", render::change_counts(&status.summary.changes)));
    let changes = status.to_bring_home();
    let (shown, git) = render::apart_from_git(render::without_frames(&changes));
    shown.iter().for_each(|change| out.push_str(&format!("  {}\n", render::change(change))));
    out.push_str(&render::git_files(git));
    out.push_str(&held_lines(&status.stays));
    if let Some(operation) = &status.last_operation {
        out.push_str(&paint(DIM, &format!("last: {}", render::line(operation))));
        out.push('\n');
    }
    if hints {
        out.push_str(&next(status));
    }
    out
}

/// What could be done next.
fn next(status: &Status) -> String {
    let name = &status.workspace.name;
    if !status.conflicts.is_empty() {
        return conflicts::next_steps(name);
    }
    if status.summary.changes.is_empty() {
        return String::new();
    }
    let text = match status.folders.is_empty() {
        true => format!("look: offshoot review -w {name}"),
        false => format!("look: offshoot review -w {name}   bring home: offshoot commit -w {name}"),
    };
    format!("{}\n", paint(DIM, &text))
}

/// A line for the workspace, and one for each path. What is held back has a line of its own instead of its change's.
pub(super) fn short(status: &Status) -> String {
    let mut out = format!("## {}", paint(NAME, &status.workspace.name));
    if status.behind > 0 {
        out.push_str(&format!(" [behind {}]", status.behind));
    }
    out.push('\n');
    for conflict in &status.conflicts {
        out.push_str(&format!("{} {}\n", paint(BAD, "U"), conflict.path));
    }
    let undecided: HashSet<&VaultPath> = status.conflicts.iter().map(|open| &open.path).collect();
    let stays = status.held_paths();
    for change in render::without_frames(&status.summary.changes) {
        if undecided.contains(&change.path) {
            continue;
        }
        match stays.contains(&change.path) {
            true => out.push_str(&format!("{} {}\n", paint(DIM, "!"), change.path)),
            false => out.push_str(&format!("{}\n", render::change(change))),
        }
    }
    out
}
