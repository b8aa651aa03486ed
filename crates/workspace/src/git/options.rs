//! What git is to be run with, as the caller knows it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::error::{GitError, GitResult};

/// What git is to be run with.
#[derive(Clone, Debug)]
pub struct GitOptions {
    /// The program.
    pub program: PathBuf,
    /// The whole environment that it gets; variables that steer git are left out of it, but for those that say who somebody is.
    pub environment: Vec<(OsString, OsString)>,
    /// Who commits, where it is not to be what git's own settings say.
    pub author: Option<GitAuthor>,
    /// How long one step may take, with the filters that git starts for it.
    pub limit: Duration,
}

impl Default for GitOptions {
    fn default() -> Self {
        let (program, environment) = (PathBuf::from("git"), Vec::new());
        Self { program, environment, author: None, limit: Duration::from_secs(300) }
    }
}

/// Somebody who commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitAuthor {
    /// The name.
    pub name: String,
    /// The mail address.
    pub mail: String,
}

impl GitAuthor {
    /// Reads `NAME <MAIL>`.
    pub fn parse(text: &str) -> GitResult<Self> {
        let bad = || GitError::BadAuthor(text.to_owned());
        let (name, rest) = text.split_once('<').ok_or_else(bad)?;
        let mail = rest.trim_end().strip_suffix('>').ok_or_else(bad)?;
        let (name, mail) = (name.trim(), mail.trim());
        let is_clean = |part: &str| !part.contains(['<', '>']) && !part.contains(char::is_control);
        if name.is_empty() || mail.is_empty() || !is_clean(name) || !is_clean(mail) {
            return Err(bad());
        }
        Ok(Self { name: name.to_owned(), mail: mail.to_owned() })
    }
}

/// Variables of git that are about a person and not about a repository or a program.
pub(super) const IDENTITY: [&str; 4] =
    ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_are_read_as_git_writes_them() {
        let ann = GitAuthor::parse("Ann Example <ann@example.org>").unwrap();
        assert_eq!((ann.name.as_str(), ann.mail.as_str()), ("Ann Example", "ann@example.org"));
        for bad in
            ["", "Ann", "<a@b>", "Ann <>", "Ann <a@b", "Ann <a<b>", "A\nB <a@b>", "A <a@b> x"]
        {
            assert!(GitAuthor::parse(bad).is_err(), "{bad:?}");
        }
    }
}
