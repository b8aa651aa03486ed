//! Errors of git as people see them.

use offshoot_protocol::{ExitCode, Hint};
use offshoot_workspace::git::GitError;
use offshoot_workspace::wire;

use super::Error;
use crate::text::line;
use crate::way_on;

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        let hint = hint(&error);
        let code = match error {
            GitError::Missing(_) | GitError::NoRepository(_) => ExitCode::NotFound,
            GitError::Locked(_) => ExitCode::Busy,
            GitError::InProgress { .. }
            | GitError::ForeignBranch(_)
            | GitError::InUse { .. }
            | GitError::NoRoom { .. }
            | GitError::Dirty(_)
            | GitError::RepositoryFilter { .. }
            | GitError::MovedOn(_)
            | GitError::InTheWay(_)
            | GitError::BothChanged { .. }
            | GitError::CannotJoin { .. }
            | GitError::Overlooked { .. } => ExitCode::Conflict,
            GitError::NoIdentity(_) | GitError::BadAuthor(_) | GitError::BadBranch(_) => {
                ExitCode::Usage
            }
            GitError::Slow { .. }
            | GitError::Run { .. }
            | GitError::Failed { .. }
            | GitError::Answer { .. } => ExitCode::Failure,
        };
        Self { hint, ..Self::new(code, message) }
    }
}

/// What to do about an error of git.
fn hint(error: &GitError) -> Option<Hint> {
    let hint = match error {
        GitError::CannotJoin { missing: None, way, .. } => way_on::hint(&wire::way_on(way)),
        GitError::CannotJoin { missing: Some(path), way, .. } => {
            Hint::from("if it is held back: ")
                .then("offshoot commit --git --take")
                .arg(path)
                .and(way_on::hint(&wire::way_on(way)))
        }
        GitError::Overlooked { commands, .. } => {
            Hint::from("commit without --git; or make git see them with ")
                .shell(line(&commands.join(" && ")))
                .text(", and commit or stash them first")
        }
        GitError::Missing(_) => Hint::from("install git"),
        GitError::NoRepository(_) => {
            Hint::command("git init").text(" makes a repository of a folder")
        }
        GitError::Locked(_) => {
            Hint::from("wait until it is done and try again; remove the file if no git runs")
        }
        GitError::InProgress { .. } => Hint::from("finish or abort it with git, then try again"),
        GitError::NoIdentity(_) => Hint::from(
            "say it with --author \"NAME <MAIL>\", or set user.name and user.email in git",
        ),
        GitError::BadBranch(_) => Hint::command("git help check-ref-format").text(" has the rules"),
        GitError::ForeignBranch(_) => Hint::from("choose another name, or replace it with --force"),
        GitError::InUse { .. } | GitError::NoRoom { .. } => Hint::from("choose another name"),
        GitError::Dirty(_) => {
            Hint::from("commit or stash them with git first, or commit without --git")
        }
        GitError::RepositoryFilter { name, .. } => {
            Hint::from("commit without --git, then commit the file with git itself; or set the filter for all of your repositories: ")
                .then("git config --global")
                .arg(format!("filter.{name}.clean"))
                .words("COMMAND")
        }
        GitError::MovedOn(_) => Hint::command("git status")
            .text(" in the folder shows what is not committed; ")
            .then("git add")
            .text(" and ")
            .then("git commit")
            .text(" commit it"),
        GitError::InTheWay(_) => {
            Hint::from("move the repository to another directory first, on either side")
        }
        GitError::BothChanged { .. } => Hint::command("offshoot export --git BRANCH")
            .text(" brings the workspace's work into git as a branch, ")
            .then("offshoot commit --exclude .git")
            .text(" brings its files into the folder without its commits"),
        GitError::Slow { .. } => Hint::from("a filter that git runs may hang"),
        GitError::BadAuthor(_)
        | GitError::Run { .. }
        | GitError::Failed { .. }
        | GitError::Answer { .. } => return None,
    };
    Some(hint)
}
