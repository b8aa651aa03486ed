//! What a commit did, for people.

use std::collections::BTreeMap;

use offshoot_engine::change::{Change, ChangeKind, Folded, FoldedKind, Noise, Sorted};
use offshoot_engine::commit::{Brought, Held, HeldReason};
use offshoot_engine::conflict::Conflict;
use offshoot_engine::file::{EntryKind, VaultPath};
use offshoot_engine::git::Planted;
use offshoot_engine::wire;
use offshoot_protocol::{Goal, Hint, WayOnDoc};

use crate::error::Result;
use crate::invocation::next;
use crate::render::listing::{
    EXPAND, Listing, folded_texts, git_name, show_expanded, show_metadata, status_metadata,
};
use crate::render::way_on::{self, take_back};
use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint};

/// At most so many paths are named one by one.
pub(crate) const MOST_NAMED: usize = 16;
/// At most so many paths of what is held back for one reason.
const MOST_HELD: usize = 4;

/// All that is said at the end.
pub(super) fn text(outcome: &Brought, mut noise: Option<&mut Noise<'_>>) -> Result<String> {
    let ways = wire::commit_ways_on(outcome);
    let mut text = match outcome.conflicts.is_empty() {
        true => done(outcome, noise.as_deref_mut())?,
        false => refused(outcome, &ways),
    };
    if outcome.conflicts.is_empty() {
        text.push_str(&render::git::notes(&outcome.git, "yours"));
        let workspace = &outcome.workspace;
        text.push_str(&render::git::notes_in(&outcome.workspace_git, workspace, &outcome.git));
    }
    text.push_str(&held(&outcome.workspace, &outcome.held, noise)?);
    if !outcome.kept_conflicts.is_empty() {
        let kept = render::count(outcome.kept_conflicts.len() as u64, "conflict");
        let line = format!("what stays conflicts with what was committed: {kept} in the workspace");
        text.push_str(&format!("{}\n", paint(WARN, &line)));
        text.push_str(&conflicts(&outcome.kept_conflicts));
    }
    if let Some(line) = take_back(&ways) {
        text.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    Ok(text)
}

fn done(outcome: &Brought, noise: Option<&mut Noise<'_>>) -> Result<String> {
    let name = paint(NAME, &outcome.workspace);
    if outcome.operation.is_none() && !outcome.dry_run {
        return Ok(format!("nothing to commit from {name}\n"));
    }
    let (hint, metadata_hint) = match outcome.dry_run {
        true => (EXPAND.to_owned(), status_metadata(&outcome.workspace)),
        false => (show_expanded("head"), show_metadata("head")),
    };
    let brought = Listing::new(&outcome.brought, noise)?;
    let brought = brought.and_metadata(outcome.metadata.iter().collect(), metadata_hint);
    let counts = brought.heading();
    let nothing = outcome.brought.is_empty() && outcome.metadata.is_empty();
    let mut text = match (outcome.dry_run, nothing) {
        (true, true) => format!("nothing would be committed from {name}\n"),
        (true, false) => format!("would commit {name}: {counts}\n"),
        (false, true) => format!("everything from {name} was in the folder already\n"),
        (false, false) => format!("{} {name}: {counts}\n", paint(GOOD, "committed")),
    };
    text.push_str(&brought.lines("  ", MOST_NAMED, &hint));
    if outcome.meanwhile_own > 0 {
        let files = render::count(outcome.meanwhile_own, "file");
        let those = if outcome.meanwhile_own == 1 { "that change is" } else { "those changes are" };
        let line = format!("{files} changed in the folder meanwhile; {those} kept");
        text.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    Ok(text)
}

fn refused(outcome: &Brought, ways: &[WayOnDoc]) -> String {
    let name = paint(NAME, &outcome.workspace);
    let count = render::count(outcome.conflicts.len() as u64, "conflict");
    let outcome_word = match outcome.dry_run {
        true => "nothing would be committed",
        false => "nothing committed",
    };
    let mut text = format!("{}: {count} between {name} and the folder\n", paint(BAD, outcome_word));
    text.push_str(&conflicts(&outcome.conflicts));
    if let Some(pull) = way_on::to(Goal::Decide, ways) {
        let next = format!("next: {pull}, then resolve and commit again");
        text.push_str(&format!("{}\n", paint(DIM, &next)));
    }
    text
}

/// Conflicts, a line each.
pub(crate) fn conflicts(conflicts: &[Conflict]) -> String {
    let line = |conflict: &Conflict| {
        let kind = paint(DIM, &format!("  ({})", conflict.kind.word()));
        format!("  {} {}{kind}\n", paint(BAD, "C"), render::path(&conflict.path))
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

/// What stays in the workspace, by reason, with the option that commits it.
pub(crate) fn held(
    workspace: &str,
    held: &[Held],
    mut noise: Option<&mut Noise<'_>>,
) -> Result<String> {
    let mut by_reason: BTreeMap<(&str, &str), (HeldReason, Vec<&Change>)> = BTreeMap::new();
    let is_shown = |held: &&Held| held.reason.is_about_metadata() || is_shown(&held.change);
    for held in held.iter().filter(is_shown) {
        let known = by_reason.entry((held.reason.word().as_str(), why(held.reason)));
        let (_, changes) = known.or_insert_with(|| (held.reason, Vec::new()));
        changes.push(&held.change);
    }
    let lines = by_reason.into_values().map(|(reason, changes)| {
        let number = changes.len();
        if is_single(reason) {
            return Ok(trusted_lines(workspace, &trusted(held)));
        }
        let sorted = match noise.as_deref_mut() {
            Some(_) if is_about_refs(reason) => Sorted { single: changes, folded: Vec::new() },
            Some(noise) => noise.sort(changes, |change| change)?,
            None => Sorted { single: changes, folded: Vec::new() },
        };
        Ok(reason_line(reason, number, &sorted, noise.is_none()))
    });
    lines.collect()
}

fn is_shown(change: &Change) -> bool {
    change.entry().kind() != EntryKind::Directory && change.kind() != ChangeKind::Metadata
}

/// Why git's own files stay.
const OBEYED: &str = "git would run or obey it";
/// The same for several.
const OBEYED_ALL: &str = "git would run or obey them";

fn why(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::Ignored => "ignored by .gitignore",
        HeldReason::Excluded => "kept out of the vault by .offshootignore or by its name",
        HeldReason::IgnoreFile => "Offshoot would refuse it in the folder",
        HeldReason::Setuid => "modes that give others more rights, such as setuid or write access",
        HeldReason::Attributes => "extended attributes that an overlay file system would obey",
        HeldReason::Git(Planted::OtherCheckout) => "belongs to another checkout of the repository",
        HeldReason::Git(Planted::Gone) => "the workspace deleted its repository",
        HeldReason::Git(Planted::Newer) => "the folder has newer work in this working tree",
        HeldReason::Git(Planted::Todo) => "steps of git that are not finished",
        HeldReason::Git(Planted::Dependent) => {
            "the repository needs settings that git would obey, or objects that stay"
        }
        HeldReason::Git(Planted::FalseObject) => "git objects that are not what their names say",
        HeldReason::Git(Planted::Unchecked) => "packs of git that could not be checked",
        HeldReason::Git(Planted::TrustedRef) => {
            "switching to it brings files that this machine would run or obey"
        }
        HeldReason::Git(Planted::TrustedRepository) => {
            "its commits or its index have files that this machine would run or obey, or cannot be read"
        }
        HeldReason::Git(Planted::RemoteRef) => {
            "only a fetch on this machine says what a remote has"
        }
        HeldReason::Git(Planted::Shadow) => {
            "git would find it in place of another ref of the same name, or of HEAD"
        }
        HeldReason::Pipe | HeldReason::Git(Planted::Pipe) => "a named pipe: whoever reads it waits",
        HeldReason::Git(Planted::Hidden) => "it hides changes from git status",
        HeldReason::Git(_) => OBEYED,
        HeldReason::Trusted(file) if file.compiled => &file.why,
        HeldReason::Trusted(_) => "something on this machine would run or obey it",
        HeldReason::Unbound => "its folder is not bound any more",
        HeldReason::NotAsked => "not asked for",
        HeldReason::Left => "left out",
    }
}

/// What something on this machine would run or obey, each with what that is: nobody should take it unseen.
fn trusted_lines(workspace: &str, trusted: &[&Held]) -> String {
    let (files, them) = match trusted.len() {
        1 => ("1 file".to_owned(), "it"),
        number => (format!("{number} files"), "them"),
    };
    let look = trusted.first().map(|held| {
        let path = held.change.path.to_string();
        next(Hint::command("offshoot diff").words("-w").arg(workspace).arg(&path))
    });
    let look = look.unwrap_or_default();
    let stays = paint(WARN, "stays:");
    let mut text = format!(
        "{stays} {files} that something on this machine would run or obey. Look at {them} (`{look}`); --take PATH or --allow trusted commits {them}:\n"
    );
    text.push_str(&trusted_files(trusted));
    text
}

/// What would run or obey each file, a line each.
pub(super) fn trusted_files(trusted: &[&Held]) -> String {
    let line = |held: &&Held| {
        let why = paint(DIM, held.reason.detail().unwrap_or_default());
        format!("  {}  {why}\n", render::change(&held.change))
    };
    let text: String = trusted.iter().take(MOST_NAMED).map(line).collect();
    text + &more(trusted.len(), MOST_NAMED)
}

/// The files of a list that something on this machine would run or obey, but for those that are told of together.
pub(super) fn trusted(held: &[Held]) -> Vec<&Held> {
    held.iter().filter(|held| is_shown(&held.change) && is_single(held.reason)).collect()
}

/// Whether a file is trusted and told of by itself. What interpreters write beside sources is not: every run of a program may leave many.
fn is_single(reason: HeldReason) -> bool {
    matches!(reason, HeldReason::Trusted(file) if !file.compiled)
}

/// Whether a reason is about refs, which people know by other names than those of their files.
fn is_about_refs(reason: HeldReason) -> bool {
    matches!(reason, HeldReason::Git(Planted::TrustedRef | Planted::RemoteRef))
}

/// The ref that a file of a repository holds, as people call it.
fn ref_text(path: &VaultPath) -> Option<String> {
    let names = path.names();
    let git = names.iter().position(|name| name.ends_with(b".git"))?;
    let refs = git + names[git..].iter().position(|name| name == b"refs")?;
    if names[refs - 1] == b"logs" {
        return None;
    }
    let (kind, rest) = names[refs + 1..].split_first()?;
    let rest = render::line(&String::from_utf8_lossy(&rest.join(&b'/')));
    let name = match (kind.as_slice(), rest.is_empty()) {
        (b"stash", true) => "the stash".to_owned(),
        (b"heads", false) => format!("branch {rest}"),
        (b"tags", false) => format!("tag {rest}"),
        (b"remotes", false) => rest,
        _ => return None,
    };
    let mut directory = path.clone();
    while directory.names().len() > refs {
        directory = directory.parent()?;
    }
    let git = git_name(&directory);
    Some(if git == "git" { name } else { format!("{name} ({git})") })
}

fn reason_line(
    reason: HeldReason,
    number: usize,
    sorted: &Sorted<&Change>,
    expanded: bool,
) -> String {
    let named = |change: &&Change| match is_about_refs(reason) && !expanded {
        true => ref_text(&change.path),
        false => None,
    };
    let are_refs = !sorted.single.is_empty() && sorted.single.iter().all(|it| named(it).is_some());
    let files = render::count(number as u64, if are_refs { "ref" } else { "file" });
    let them = if number == 1 { "it" } else { "them" };
    let why = match why(reason) {
        OBEYED if number > 1 => OBEYED_ALL,
        why => why,
    };
    let option = reason.option().map(|option| match option.starts_with("--allow") {
        true => format!("; --take PATH or {option} commits {them}"),
        false => format!("; {option} commits {them}"),
    });
    let option = option.unwrap_or_default();
    let stays = format!("{} {files} ({why}{option}):", paint(WARN, "stays:"));
    if expanded && number > 1 {
        let lines =
            sorted.single.iter().map(|change| format!("  {}\n", render::path(&change.path)));
        return format!("{stays}\n{}", lines.collect::<String>());
    }
    let names = sorted.single.iter().take(MOST_HELD);
    let mut names: Vec<String> =
        names.map(|change| named(change).unwrap_or_else(|| render::path(&change.path))).collect();
    if sorted.single.len() > MOST_HELD {
        names.push("...".to_owned());
    }
    let between = if are_refs { ", " } else { " " };
    let single = Some(names.join(between)).filter(|names| !names.is_empty());
    let folded = match (single.is_some(), sorted.folded.as_slice()) {
        // Its number of files was said already.
        (false, [Folded { at, kind: FoldedKind::Output, items }]) => match items.as_slice() {
            [one] => vec![render::path(&one.path)],
            _ => vec![format!("{}/", render::path(at))],
        },
        (_, folded) => folded_texts(folded),
    };
    let names = single.into_iter().chain(folded).collect::<Vec<_>>().join(", ");
    format!("{stays} {names}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_called_as_people_call_them() {
        for (path, name) in [
            ("/.git/refs/stash", Some("the stash")),
            ("/.git/refs/heads/a/refs", Some("branch a/refs")),
            ("/.git/refs/remotes/origin/main", Some("origin/main")),
            ("/refs/.git/refs/tags/v1", Some("tag v1 (git in /refs)")),
            ("/.git/modules/m/refs/heads/main", Some("branch main (git submodule m)")),
            ("/.git/packed-refs", None),
            ("/.git/logs/refs/heads/main", None),
        ] {
            let path = VaultPath::parse(path.as_bytes()).unwrap();
            assert_eq!(ref_text(&path).as_deref(), name, "{path}");
        }
    }
}
