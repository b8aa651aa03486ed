//! `offshoot commit --git`: what is said about a git commit of what reached the folder.

use offshoot_engine::commit::{GitCommitted, GitOutcome};
use offshoot_engine::file::VaultPath;
use offshoot_engine::wire;
use offshoot_protocol::{GitOutcomeDoc, Hint};

use crate::error::body;
use crate::render::{self, BAD, DIM, GOOD, NAME, WARN, paint};

/// What became of it, for programs.
pub(super) fn document(made: &GitOutcome) -> GitOutcomeDoc {
    match made {
        GitOutcome::Commit(made) => wire::git_commit(Some(made), None),
        GitOutcome::Nothing | GitOutcome::NothingPlanned => wire::git_commit(None, None),
        GitOutcome::Failed(error) | GitOutcome::Failing(error) => {
            wire::git_commit(None, Some(body(error)))
        }
        GitOutcome::Planned(made) => {
            let known = Some(made.commit.clone()).filter(|_| !made.is_new);
            GitOutcomeDoc { commit: known, ..wire::git_commit(Some(made), None) }
        }
    }
}

/// What git in the folder does not have afterwards, and what to do about it.
pub(super) fn left(
    submodules: &[VaultPath],
    uncommitted: bool,
    made: Option<&GitOutcome>,
) -> Vec<Hint> {
    let is_made = matches!(made, Some(GitOutcome::Commit(_) | GitOutcome::Planned(_)));
    let files = (uncommitted && !is_made).then(|| {
        Hint::from("the folder has changes that git has not committed, such as those of an earlier commit: ")
            .then("git add")
            .text(" and ")
            .then("git commit")
            .text(" in the folder commit them")
    });
    let bump = |path: &VaultPath| {
        let name = String::from_utf8_lossy(&path.relative()).into_owned();
        Hint::from(format!("submodule {name} is at another commit, which --git does not record: "))
            .then("git add")
            .arg(name)
            .text(" and ")
            .then("git commit")
            .text(" in the folder record it")
    };
    submodules.iter().map(bump).chain(files).collect()
}

/// What is said about it; `submodules` came along, which it does not record.
pub(super) fn text(made: &GitOutcome, submodules: bool) -> String {
    let nothing = match submodules {
        true => "there is nothing else in it for git",
        false => "there is nothing new in it for git",
    };
    match made {
        GitOutcome::Commit(made) => {
            let id = paint(WARN, made.commit.get(..12).unwrap_or(&made.commit));
            let what = if made.is_new { "git commit" } else { "fast-forward to" };
            let merges = merges(made, ["it merges ", "is"]);
            let skipped = skipped(made, ["hooks were not run", "it is not signed"]);
            format!("{} {id} {}{merges}\n{skipped}", paint(GOOD, what), on(made))
        }
        GitOutcome::Planned(made) => {
            let id = made.commit.get(..12).unwrap_or(&made.commit);
            let what = match made.is_new {
                true => "would make a git commit".to_owned(),
                false => format!("would fast-forward to {}", paint(WARN, id)),
            };
            let merges = merges(made, ["it would merge ", "would be"]);
            let skipped = skipped(made, ["hooks will not run", "it will not be signed"]);
            format!("{what} {}{merges}\n{skipped}", on(made))
        }
        GitOutcome::NothingPlanned => format!("would make no git commit: {nothing}\n"),
        GitOutcome::Failing(error) => {
            let error = body(error);
            let why = format!("would make no git commit: {}", error.message);
            let next = error.hint.as_deref().map(|hint| format!("next: {hint}\n"));
            format!("{}\n{}", render::line(&why), paint(DIM, &next.unwrap_or_default()))
        }
        GitOutcome::Nothing => format!("no git commit: {nothing}\n"),
        GitOutcome::Failed(error) => {
            let error = body(error);
            let why = format!(
                "the files are in the folder, but no git commit was made: {}",
                error.message
            );
            let next = "`git add` and `git commit` in the folder";
            let next = format!("next: {}", error.hint.as_deref().unwrap_or(next));
            format!("{} {}\n{}\n", paint(BAD, "git:"), render::line(&why), paint(DIM, &next))
        }
    }
}

/// What a commit moves, and how many files it changes.
fn on(made: &GitCommitted) -> String {
    let files = render::count(made.files, "file");
    let named = |branch: &str| format!("branch {}", paint(NAME, &render::line(branch)));
    let place = made.branch.as_deref().map_or_else(|| "HEAD".to_owned(), named);
    format!("on {place}: {files}")
}

/// The ref whose commits it has, and that goes unless somebody uses it.
fn merges(made: &GitCommitted, [merges, is]: [&str; 2]) -> String {
    let (Some(name), Some(tip)) = (&made.merged, &made.merged_commit) else { return String::new() };
    let name = render::line(name.strip_prefix("refs/heads/").unwrap_or(name));
    let tip = tip.get(..12).unwrap_or(tip);
    match (made.is_new, made.merged_stays) {
        (true, false) => format!("; {merges}{name}, which {is} gone (it was at {tip})"),
        (false, false) => format!("; {name} {is} gone"),
        (true, true) => format!("; {merges}{name}, which stays: a working tree uses it"),
        (false, true) => format!("; {name} stays: a working tree uses it"),
    }
}

/// Lines about what git would have done with a commit, and was not done.
fn skipped(made: &GitCommitted, [hooks, signed]: [&str; 2]) -> String {
    let hooks = (!made.hooks.is_empty()).then(|| format!("  {hooks}: {}", made.hooks.join(", ")));
    let signed = made.unsigned.then(|| format!("  {signed}, though commit.gpgSign is set"));
    let lines = hooks.into_iter().chain(signed);
    lines.map(|line| format!("{}\n", paint(DIM, &line))).collect()
}
