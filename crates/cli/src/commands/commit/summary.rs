//! What a commit did, for people.

use std::collections::BTreeMap;

use offshoot_vault::EntryKind;
use offshoot_vault::diff::{Change, ChangeKind};
use offshoot_vault::merge::conflict::Conflict;
use offshoot_workspace::git::Planted;
use offshoot_workspace::{CommitOutcome, Held, HeldReason};

use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint};

/// At most so many paths are named one by one.
const MOST_NAMED: usize = 16;
/// At most so many paths of what is held back for one reason.
const MOST_HELD: usize = 4;

/// All that is said at the end.
pub(super) fn text(outcome: &CommitOutcome) -> String {
    let mut text = match outcome.conflicts.is_empty() {
        true => done(outcome),
        false => refused(outcome),
    };
    if outcome.conflicts.is_empty() {
        text.push_str(&render::git::notes(&outcome.git, "yours"));
        text.push_str(&render::git::notes_in(&outcome.workspace_git, &outcome.workspace));
    }
    text.push_str(&held(&outcome.held));
    if !outcome.kept_conflicts.is_empty() {
        let kept = render::count(outcome.kept_conflicts.len() as u64, "conflict");
        let line = format!("what stays does not fit to what came home: {kept} in the workspace");
        text.push_str(&format!("{}\n", paint(WARN, &line)));
        text.push_str(&conflicts(&outcome.kept_conflicts));
    }
    if outcome.operation.is_some() {
        let undo = format!("take back: offshoot undo -w {}", outcome.workspace);
        text.push_str(&format!("{}\n", paint(DIM, &undo)));
    }
    text
}

fn done(outcome: &CommitOutcome) -> String {
    let name = paint(NAME, &outcome.workspace);
    if outcome.operation.is_none() && !outcome.dry_run {
        return format!("nothing to bring home from {name}\n");
    }
    let counts = render::change_counts(&outcome.brought);
    let mut text = match (outcome.dry_run, outcome.brought.is_empty()) {
        (true, true) => format!("nothing would come home from {name}\n"),
        (true, false) => format!("would come home from {name}: {counts}\n"),
        (false, true) => format!("everything from {name} was in the folder already\n"),
        (false, false) => format!("{} from {name}: {counts}\n", paint(GOOD, "came home")),
    };
    text.push_str(&changes(&outcome.brought));
    if outcome.meanwhile > 0 {
        let files = render::count(outcome.meanwhile, "file");
        let line =
            format!("{files} changed in the folder meanwhile; that was kept and merged with");
        text.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    text
}

fn refused(outcome: &CommitOutcome) -> String {
    let (name, workspace) = (paint(NAME, &outcome.workspace), &outcome.workspace);
    let count = render::count(outcome.conflicts.len() as u64, "conflict");
    let mut text =
        format!("{}: {count} of {name} with the folder\n", paint(BAD, "nothing was changed"));
    text.push_str(&conflicts(&outcome.conflicts));
    let next = format!("way on: offshoot pull -w {workspace}, decide them there, and commit again");
    text.push_str(&format!("{}\n", paint(DIM, &next)));
    text
}

/// The first changes, a line each, and how many more there are.
fn changes(changes: &[Change]) -> String {
    let (shown, git) = render::apart_from_git(render::without_frames(changes));
    let lines =
        shown.iter().take(MOST_NAMED).map(|change| format!("  {}\n", render::change(change)));
    let mut text: String = lines.collect();
    text.push_str(&more(shown.len(), MOST_NAMED));
    text.push_str(&render::git_files(git));
    text
}

/// Conflicts, a line each.
pub(crate) fn conflicts(conflicts: &[Conflict]) -> String {
    let line = |conflict: &Conflict| {
        let kind = paint(DIM, &format!("  ({})", conflict.kind.word()));
        format!("  {} {}{kind}\n", paint(BAD, "C"), conflict.path)
    };
    let mut text: String = conflicts.iter().take(MOST_NAMED).map(line).collect();
    text.push_str(&more(conflicts.len(), MOST_NAMED));
    text
}

fn more(number: usize, shown: usize) -> String {
    match number.saturating_sub(shown) {
        0 => String::new(),
        more => format!("{}\n", paint(DIM, &format!("  and {more} more"))),
    }
}

/// What stays in the workspace, by reason, with the option that brings it home.
pub(crate) fn held(held: &[Held]) -> String {
    let mut by_reason: BTreeMap<(&str, &str), (HeldReason, Vec<String>)> = BTreeMap::new();
    for held in held.iter().filter(|held| is_shown(&held.change)) {
        let known = by_reason.entry((held.reason.word(), why(held.reason)));
        let (_, paths) = known.or_insert_with(|| (held.reason, Vec::new()));
        paths.push(held.change.path.to_string());
    }
    by_reason.into_values().map(|(reason, paths)| reason_line(reason, &paths)).collect()
}

fn is_shown(change: &Change) -> bool {
    change.entry().kind() != EntryKind::Directory && change.kind() != ChangeKind::Metadata
}

fn why(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::Ignored => "ignored by .gitignore",
        HeldReason::Setuid => "setuid or setgid bits",
        HeldReason::Git(Planted::OtherCheckout) => "belongs to another checkout of the repository",
        HeldReason::Git(_) => "git would run or obey it",
        HeldReason::Unbound => "its folder is not bound any more",
        HeldReason::NotAsked => "not asked for",
        HeldReason::Left => "left out",
    }
}

fn reason_line(reason: HeldReason, paths: &[String]) -> String {
    let files = render::count(paths.len() as u64, "file");
    let why = why(reason);
    let option = reason.option().map(|o| format!("; {o} brings it home")).unwrap_or_default();
    let mut names = paths.iter().take(MOST_HELD).cloned().collect::<Vec<_>>().join(" ");
    if paths.len() > MOST_HELD {
        names.push_str(" ...");
    }
    format!("{} {files} ({why}{option}): {names}\n", paint(WARN, "stays:"))
}
