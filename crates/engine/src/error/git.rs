//! Errors of git as people see them.

use offshoot_protocol::ExitCode;
use offshoot_workspace::git::GitError;
use offshoot_workspace::wire;

use super::Error;
use crate::text::line;
use crate::way_on;

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        if let GitError::CannotJoin { way, .. } = &error {
            let hint = way_on::text(&wire::way_on(way));
            return Self::new(ExitCode::Conflict, message).hint(hint);
        }
        if let GitError::Overlooked { commands, .. } = &error {
            let commands = line(&commands.join(" && "));
            let hint = format!(
                "commit without --git; or make git see them with `{commands}`, and commit or stash them first"
            );
            return Self::new(ExitCode::Conflict, message).hint(hint);
        }
        let (code, hint) = match error {
            GitError::Missing(_) => (ExitCode::NotFound, Some("install git")),
            GitError::NoRepository(_) => {
                (ExitCode::NotFound, Some("`git init` makes a repository of a folder"))
            }
            GitError::Locked(_) => (
                ExitCode::Busy,
                Some("wait until it is done and try again; remove the file if no git runs"),
            ),
            GitError::InProgress { .. } => {
                (ExitCode::Conflict, Some("finish or abort it with git, then try again"))
            }
            GitError::NoIdentity(_) => (
                ExitCode::Usage,
                Some(
                    "say it with --author \"NAME <MAIL>\", or set user.name and user.email in git",
                ),
            ),
            GitError::BadAuthor(_) => (ExitCode::Usage, None),
            GitError::BadBranch(_) => {
                (ExitCode::Usage, Some("`git help check-ref-format` has the rules"))
            }
            GitError::ForeignBranch(_) => {
                (ExitCode::Conflict, Some("choose another name, or replace it with --force"))
            }
            GitError::InUse { .. } | GitError::NoRoom { .. } => {
                (ExitCode::Conflict, Some("choose another name"))
            }
            GitError::Dirty(_) => (
                ExitCode::Conflict,
                Some("commit or stash them with git first, or commit without --git"),
            ),
            GitError::MovedOn(_) => (
                ExitCode::Conflict,
                Some(
                    "`git status` in the folder shows what is not committed; `git add` and `git commit` commit it",
                ),
            ),
            GitError::InTheWay(_) => (
                ExitCode::Conflict,
                Some("move the repository to another directory first, on either side"),
            ),
            GitError::BothChanged { .. } => (
                ExitCode::Conflict,
                Some(
                    "`offshoot export --git BRANCH` brings the workspace's work into git as a branch, `offshoot commit --exclude .git` brings its files home without its commits",
                ),
            ),
            GitError::Slow { .. } => (ExitCode::Failure, Some("a filter that git runs may hang")),
            GitError::CannotJoin { .. } | GitError::Overlooked { .. } => (ExitCode::Conflict, None),
            GitError::Run { .. } | GitError::Failed { .. } | GitError::Answer { .. } => {
                (ExitCode::Failure, None)
            }
        };
        let told = Self::new(code, message);
        match hint {
            Some(hint) => told.hint(hint),
            None => told,
        }
    }
}
