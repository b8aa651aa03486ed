//! What becomes of paths of an agent's home.

use offshoot_vocabulary::{CredentialFormat, HomeKeep};

use super::{RowText, keeps};

/// What becomes of some paths of the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeRow {
    /// The paths, with all that is below them.
    pub paths: Vec<HomePath>,
    /// What becomes of them.
    pub keep: HomeKeep,
    /// What a credential must be to be written to the user's home.
    pub format: CredentialFormat,
    /// Where the agent removes the file, it is removed from the user's home too.
    pub logout: bool,
    /// A directory that the agent makes while it writes.
    pub lock: Option<HomePath>,
    /// Values that are taken from the user's file.
    pub take: Vec<String>,
    /// Values that are given back to it.
    pub give: Vec<String>,
}

impl HomeRow {
    pub(super) fn new(text: RowText) -> Result<Self, String> {
        let RowText { paths, keep, format, logout, lock, take, give } = text;
        let paths =
            paths.iter().map(|path| HomePath::parse(path)).collect::<Result<Vec<_>, _>>()?;
        if paths.is_empty() {
            return Err("a row of the home has no `paths`".to_owned());
        }
        let exact = matches!(keep, HomeKeep::Credential | HomeKeep::Values | HomeKeep::Config);
        if let Some(path) = paths.iter().find(|path| exact && path.is_pattern()) {
            return Err(format!("\"{path}\" has a `*`, and what is kept as {keep} has a name"));
        }
        let only = |is_given: bool, what: &str, of: HomeKeep| match is_given && keep != of {
            true => Err(format!("`{what}` is for what is kept as {of}; there are {}", keeps())),
            false => Ok(()),
        };
        only(format.is_some() || logout, "format` and `logout", HomeKeep::Credential)?;
        only(!take.is_empty() || !give.is_empty(), "take` and `give", HomeKeep::Values)?;
        if keep == HomeKeep::Values && paths.len() != 1 {
            return Err("a row with `values` names one file".to_owned());
        }
        if lock.is_some() && !matches!(keep, HomeKeep::Values | HomeKeep::Credential) {
            return Err("`lock` is for what is kept as credential or values".to_owned());
        }
        let lock = lock.as_deref().map(HomePath::parse).transpose()?;
        let format = format.unwrap_or(CredentialFormat::Text);
        Ok(Self { paths, keep, format, logout, lock, take, give })
    }
}

/// A path below the home; a `*` in a name stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomePath(pub(super) Vec<String>);

impl HomePath {
    /// Reads one as it is written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split('/').map(str::to_owned).collect();
        let is_name =
            |name: &String| !name.is_empty() && name != "." && name != ".." && !name.contains('\0');
        match names.iter().all(is_name) {
            true => Ok(Self(names)),
            false => Err(format!(
                "\"{}\" is no path below the home; write it as `.tool/file`",
                text.escape_debug()
            )),
        }
    }

    /// Its names.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether it may stand for several.
    pub fn is_pattern(&self) -> bool {
        self.0.iter().any(|name| name.contains('*'))
    }

    /// Whether a path is this one, or lies in it.
    pub(super) fn holds(&self, path: &[&[u8]]) -> bool {
        path.len() >= self.0.len() && self.agrees(path)
    }

    /// Whether this one lies deeper in a directory.
    pub(super) fn lies_below(&self, path: &[&[u8]]) -> bool {
        path.len() < self.0.len() && self.agrees(path)
    }

    fn agrees(&self, path: &[&[u8]]) -> bool {
        self.0.iter().zip(path).all(|(pattern, name)| fits(pattern.as_bytes(), name))
    }
}

impl std::fmt::Display for HomePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

/// Whether a name fits a pattern, in which `*` stands for any number of bytes.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.iter().position(|byte| *byte == b'*') {
        None => pattern == name,
        Some(at) => {
            let (start, rest) = (&pattern[..at], &pattern[at + 1..]);
            let Some(left) = name.strip_prefix(start) else { return false };
            (0..=left.len()).any(|skip| fits(rest, &left[skip..]))
        }
    }
}
