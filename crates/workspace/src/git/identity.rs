//! Who commits.

use super::error::{GitError, GitResult};
use super::options::GitAuthor;
use super::run::Git;

/// Who wrote something and who recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) author: GitAuthor,
    pub(crate) committer: GitAuthor,
}

impl Identity {
    /// What was asked for, and otherwise what git's own settings say.
    pub(crate) fn of(git: &Git) -> GitResult<Self> {
        let configured = |name: &str| -> GitResult<Result<GitAuthor, String>> {
            let ran = git.try_output(&["var", name], &[])?;
            if !ran.status.success() {
                let why = String::from_utf8_lossy(&ran.stderr);
                return Ok(Err(why.lines().last().unwrap_or_default().trim().to_owned()));
            }
            let text = String::from_utf8_lossy(&ran.stdout).into_owned();
            // The time follows.
            let end = text.rfind('>').map_or(text.len(), |at| at + 1);
            Ok(GitAuthor::parse(&text[..end]).map_err(|error| error.to_string()))
        };
        let asked = git.options().author.clone();
        let author = match asked {
            Some(author) => author,
            None => configured("GIT_AUTHOR_IDENT")?.map_err(GitError::NoIdentity)?,
        };
        let committer = configured("GIT_COMMITTER_IDENT")?.unwrap_or_else(|_| author.clone());
        Ok(Self { author, committer })
    }
}
