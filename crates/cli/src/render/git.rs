//! What became of repositories, for people.

use offshoot_workspace::git::{GitEvent, GitNote, GitReport};

use super::{DIM, NAME, WARN, line, paint};

/// A line for everything that people should know. `whose` says whose refs stay: "yours", or a workspace's.
pub(crate) fn notes(report: &GitReport, whose: &str) -> String {
    report.notes.iter().map(|note| told(note, whose, "")).collect()
}

/// The same for what became of a workspace that followed the folder.
pub(crate) fn notes_in(report: &GitReport, workspace: &str) -> String {
    let place = format!("in {workspace}, ");
    report.notes.iter().map(|note| told(note, workspace, &place)).collect()
}

fn told(note: &GitNote, whose: &str, place: &str) -> String {
    let name = format!("{place}{}", paint(NAME, &line(short(&note.name))));
    let at = |id: &Option<String>| {
        let is_id = |id: &str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = id.as_deref().unwrap_or("nothing");
        line(if is_id(id) { &id[..12] } else { short(id) })
    };
    let (from, to) = (at(&note.from), at(&note.to));
    let side = side(&note.side);
    let git = paint(WARN, "git:");
    match &note.event {
        GitEvent::KeptApart(kept) => {
            let next = next(&note.name, kept);
            let kept = paint(NAME, &line(short(kept)));
            format!("{git} {name} was moved on both sides: {whose} stays, {side} is {kept}{next}\n")
        }
        GitEvent::CheckedOut(kept) => {
            let next = next(&note.name, kept);
            let kept = paint(NAME, &line(short(kept)));
            format!(
                "{git} {name} is checked out with changes of its own, so {whose} stays: {side} is {kept}{next}\n"
            )
        }
        GitEvent::Stayed => {
            format!("{git} {name} stays at {from}, not {to}: it was changed since\n")
        }
        GitEvent::Moved => format!("{git} {name} moved from {from} to {to}\n"),
        GitEvent::Rewound(commits) => {
            let far = match commits {
                Some(1) => " 1 commit".to_owned(),
                Some(commits) => format!(" {commits} commits"),
                None => String::new(),
            };
            format!(
                "{git} {name} goes back{far}, from {from} to {to}; `git reflog` has the old one\n"
            )
        }
        GitEvent::Replaced(None) => {
            format!(
                "{git} {name} no longer contains {from} and is at {to}; `git reflog` has the old one\n"
            )
        }
        GitEvent::Replaced(Some(kept)) => {
            let kept = paint(NAME, &line(short(kept)));
            format!("{git} {name} is of another repository now; what it was, {from}, is {kept}\n")
        }
        GitEvent::Switched => {
            format!("{git} {name} is at {to} now; it was at {from}\n")
        }
        GitEvent::NotBrought(why) => {
            let why = line(why);
            format!("{git} {name} of {} was not brought: {why}\n", plain(&note.side))
        }
        GitEvent::Deleted => format!("{git} {name} was deleted; it was at {from}\n"),
        GitEvent::CheckoutStayed(why) => {
            let text = format!("  HEAD and index stay as they are: {}", line(why));
            format!("{}\n", paint(DIM, &text))
        }
        GitEvent::FileStayed => {
            let path = format!("{}/{}", note.repository, line(&note.name));
            format!("{git} {path} was changed on both sides: {whose} stays\n")
        }
        GitEvent::DirectoryStayed(Some(kept)) => {
            let kept = paint(NAME, &line(kept));
            let path = &note.repository;
            format!("{git} {path} stays as it is: both sides changed it, and {side} is {kept}\n")
        }
        GitEvent::DirectoryStayed(None) => {
            format!(
                "{git} {} stays as it is: it was changed or deleted on both sides\n",
                note.repository
            )
        }
    }
}

/// What to do with a ref that was kept under another name.
fn next(name: &str, kept: &str) -> String {
    let kept = line(short(kept));
    match name {
        "refs/stash" => format!("; `git stash apply {kept}`"),
        _ if name.starts_with("refs/heads/") => {
            format!("; once your files are committed: `git merge {kept}`")
        }
        _ => format!("; `git show {kept}`"),
    }
}

/// A ref as people call it.
fn short(name: &str) -> &str {
    let kinds = ["refs/heads/", "refs/tags/"];
    kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name)
}

fn side(label: &str) -> String {
    format!("{}'s", plain(label))
}

fn plain(label: &str) -> String {
    if label == "head" { "the folder".to_owned() } else { line(label) }
}
