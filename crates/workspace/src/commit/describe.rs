//! Words for what was committed.

use offshoot_tree::EntryKind;
use offshoot_tree::diff::{Change, ChangeKind};

use crate::git::git_directory;
use crate::standing::PathContext;

/// The longest part of a message in the operation log.
const LONGEST: usize = 72;

/// How many of the changes are to files, or to directories alone.
pub(super) fn count(changes: &[Change]) -> usize {
    let files = changes.iter().filter(|c| c.entry().kind() != EntryKind::Directory).count();
    let is_content = |change: &&Change| change.kind() != ChangeKind::Metadata;
    if files > 0 { files } else { changes.iter().filter(is_content).count() }
}

/// What is said about a commit that nobody said anything about. `metadata` are those of which only times and the like change.
pub(super) fn message(
    workspace: &str,
    (changes, metadata): (&[Change], &[Change]),
    reader: &PathContext,
) -> String {
    let files = changes.iter().filter(|change| change.entry().kind() != EntryKind::Directory);
    let names: Vec<String> =
        files.filter(|change| !is_of_git(change)).map(|it| reader.display(&it.path)).collect();
    match names.as_slice() {
        [] if changes.iter().any(is_of_git) => format!("{workspace}: git only"),
        [] if changes.is_empty() && !metadata.is_empty() => format!("{workspace}: metadata only"),
        // Only commits that were kept apart are merged.
        [] if changes.is_empty() => format!("{workspace}: merge its commits"),
        [] => format!("{workspace}: {}", plural(count(changes), "change")),
        [one] => format!("{workspace}: {one}"),
        [first, rest @ ..] => format!("{workspace}: {first} and {} more", rest.len()),
    }
}

/// The line of the operation log.
pub(super) fn summary(
    workspace: &str,
    message: Option<&str>,
    (changes, metadata): (&[Change], &[Change]),
) -> String {
    let own: Vec<Change> = changes.iter().filter(|change| !is_of_git(change)).cloned().collect();
    let files = match (own.is_empty(), changes.is_empty() && !metadata.is_empty()) {
        (true, true) => "metadata only".to_owned(),
        (true, false) => "git only".to_owned(),
        (false, _) => plural(count(&own), "file"),
    };
    let first = message.and_then(|text| text.lines().next()).map(str::trim);
    match first.filter(|line| !line.is_empty()) {
        Some(line) => format!("commit {workspace}: {} ({files})", shortened(line)),
        None => format!("commit {workspace} ({files})"),
    }
}

/// What git keeps for itself says nothing about what was done.
pub(super) fn is_of_git(change: &Change) -> bool {
    git_directory(&change.path).is_some()
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let start: String = line.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
