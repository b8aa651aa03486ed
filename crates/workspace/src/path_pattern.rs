//! Which paths somebody named: paths of the vault, with everything below them, or globs.

use globset::{GlobBuilder, GlobMatcher, escape};
use offshoot_host::disk::bytes_path;
use offshoot_tree::{VaultPath, display_bytes};

use crate::error::{Result, ServiceError};
use crate::standing::PathContext;

/// Characters that make a pattern of a path.
const SPECIAL: &[u8] = b"*?[{";

/// Paths, as somebody named them.
#[derive(Clone, Debug)]
pub struct PathPattern {
    text: String,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// This path and everything below it.
    Below(VaultPath),
    /// Everything that fits, and everything below that; also the path that has just these characters in its name.
    Glob(GlobMatcher, Option<VaultPath>),
}

impl PathPattern {
    /// Reads a path or a glob of somebody at the top of the vault.
    pub fn parse(text: &[u8]) -> Result<Self> {
        PathContext::default().pattern(text)
    }

    /// This path and everything below it, whatever characters are in it.
    pub fn of_path(path: VaultPath) -> Self {
        Self { text: path.to_string(), shape: Shape::Below(path) }
    }

    /// Whether somebody wrote a pattern instead of a path.
    pub(crate) fn is_glob(text: &[u8]) -> bool {
        text.iter().any(|byte| SPECIAL.contains(byte))
    }

    /// A path, and how it was written.
    pub(crate) fn below(text: &[u8], path: VaultPath) -> Self {
        Self { text: display_bytes(text), shape: Shape::Below(path) }
    }

    /// A glob of somebody who stands at a directory. One without `/` fits names in it and below, one that starts with `/` fits paths
    /// from the top, and others fit paths from there.
    pub(crate) fn glob(text: &[u8], at: &VaultPath, literal: Option<VaultPath>) -> Result<Self> {
        let shown = display_bytes(text);
        let wrong = |why: String| ServiceError::Request(format!("{shown} is no pattern: {why}"));
        let no_text = |_| wrong("it is not UTF-8".to_owned());
        let mut glob = std::str::from_utf8(text).map_err(no_text)?.trim_end_matches('/');
        let mut at = at.clone();
        while let Some(rest) = glob.strip_prefix("../") {
            at = at.parent().ok_or_else(|| wrong("it leads out of the vault".to_owned()))?;
            glob = rest;
        }
        let here = escape(std::str::from_utf8(&at.relative()).map_err(no_text)?);
        let below =
            |rest: &str| if here.is_empty() { rest.to_owned() } else { format!("{here}/{rest}") };
        let anchored = match glob.split_once('/') {
            Some(("", rest)) => rest.to_owned(),
            Some((".", rest)) => below(rest),
            Some(_) => below(glob),
            None if text.starts_with(b"../") => below(glob),
            None => below(&format!("**/{glob}")),
        };
        let built = GlobBuilder::new(&anchored).literal_separator(true).build();
        let glob = built.map_err(|error| wrong(error.to_string()))?;
        Ok(Self { text: shown, shape: Shape::Glob(glob.compile_matcher(), literal) })
    }

    /// Whether the path is meant, by itself or by a directory that it is in.
    pub fn matches(&self, path: &VaultPath) -> bool {
        match &self.shape {
            Shape::Below(named) => path.is_within(named),
            Shape::Glob(_, Some(literal)) if path.is_within(literal) => true,
            Shape::Glob(glob, _) => {
                let bytes = path.relative();
                let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
                let mut prefixes = ends.map(|(at, _)| at).chain([bytes.len()]);
                prefixes.any(|end| glob.is_match(bytes_path(&bytes[..end])))
            }
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::PathPattern;
    use offshoot_tree::VaultPath;

    fn matches(pattern: &str, path: &str) -> bool {
        let path = VaultPath::parse(path.as_bytes()).unwrap();
        PathPattern::parse(pattern.as_bytes()).unwrap().matches(&path)
    }

    #[test]
    fn a_path_means_everything_below_it() {
        assert!(matches("/src", "/src"));
        assert!(matches("src", "/src/a/b"));
        assert!(!matches("src", "/srcs"));
        assert!(matches("/", "/anything"));
    }

    #[test]
    fn globs_fit_names_anywhere_or_paths_from_the_top() {
        assert!(matches("*.rs", "/a.rs"));
        assert!(matches("*.rs", "/deep/down/a.rs"));
        assert!(matches("src/*.rs", "/src/a.rs"));
        assert!(!matches("src/*.rs", "/src/deep/a.rs"));
        assert!(!matches("src/*.rs", "/other/src/a.rs"));
        assert!(matches("/src/**", "/src/deep/a.rs"));
        assert!(matches("tar*", "/target/debug/x"));
        assert!(matches("{a,b}/", "/x/b/file"));
    }

    /// As git does, so that a shell's completion of a name is that name.
    #[test]
    fn a_name_with_special_characters_means_itself_too() {
        assert!(matches("[x]", "/[x]"));
        assert!(matches("[x]", "/deep/x"));
        assert!(matches("src/[x]", "/src/[x]/below"));
        assert!(!matches("[x]", "/deep/[x]"));
        assert!(matches(r"\[x\]", "/[x]") && matches(r"\[x\]", "/deep/[x]"));
        assert!(!matches(r"\[x\]", "/x"));
        assert!(matches(r"src/\*.c", "/src/*.c") && !matches(r"src/\*.c", "/src/a.c"));
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        assert!(PathPattern::parse(b"[").is_err());
        assert!(PathPattern::parse(b"../x").is_err());
    }
}
