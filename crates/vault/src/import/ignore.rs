//! `.offshootignore`: what must never enter a vault, in the syntax of `.gitignore`.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use offshoot_host::{RegularFileError, disk, read_regular_below};

/// The name of an ignore file; it counts for its directory and everything below.
pub const FILE: &[u8] = b".offshootignore";

/// No ignore file that somebody wrote is longer.
const LONGEST: u64 = 1 << 20;

/// Why an ignore file says nothing that can be relied upon. Nothing is taken in then: what it names must not enter.
#[derive(Debug, thiserror::Error)]
pub enum IgnoreFileError {
    /// It could not be read.
    #[error(transparent)]
    File(#[from] RegularFileError),
    /// A line is no text.
    #[error("line {line} is not UTF-8 text")]
    NotText {
        /// Which line, from 1.
        line: usize,
    },
    /// A line is no pattern.
    #[error("line {line} is not a pattern: {why}")]
    NoPattern {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// All patterns together are too much.
    #[error("its patterns are too many or too long: {0}")]
    TooMuch(String),
}

/// Says why nobody could rely upon an ignore file with this text, if so.
pub fn check_ignore_file(text: &[u8]) -> Result<(), IgnoreFileError> {
    match text.len() as u64 > LONGEST {
        true => Err(RegularFileError::TooLarge { limit: LONGEST }.into()),
        false => parse(b"", text).map(drop),
    }
}

/// The text of the ignore file in an open directory, or nothing if there is none any more.
pub(super) fn read(dir: BorrowedFd<'_>) -> Result<Option<Vec<u8>>, IgnoreFileError> {
    match read_regular_below(dir, FILE, LONGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The patterns of an ignore file. Git passes over lines that it does not understand; here they may name what must stay out.
fn parse(directory: &[u8], text: &[u8]) -> Result<Gitignore, IgnoreFileError> {
    let mut builder = GitignoreBuilder::new(disk::bytes_path(directory));
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    for (line, bytes) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        if bytes.starts_with(b"#") {
            continue;
        }
        // Some encodings have a NUL beside every letter.
        let pattern = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let pattern = pattern.ok_or(IgnoreFileError::NotText { line })?;
        let added = builder.add_line(None, pattern.trim_end_matches('\r'));
        added.map_err(|error| IgnoreFileError::NoPattern { line, why: error.to_string() })?;
    }
    builder.build().map_err(|error| IgnoreFileError::TooMuch(error.to_string()))
}

/// Some editors start files with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The ignore files from the top down to a directory.
#[derive(Clone, Default)]
pub(super) struct Ignores {
    innermost: Option<Arc<Level>>,
}

struct Level {
    matcher: Gitignore,
    outer: Option<Arc<Level>>,
}

impl Ignores {
    /// Adds the ignore file of a directory. `path` is the directory's path below the imported one.
    pub(super) fn with(&self, path: &[u8], text: &[u8]) -> Result<Self, IgnoreFileError> {
        let (matcher, outer) = (parse(path, text)?, self.innermost.clone());
        Ok(Self { innermost: Some(Arc::new(Level { matcher, outer })) })
    }

    /// Whether nothing is said about anything.
    pub(super) fn is_empty(&self) -> bool {
        self.innermost.is_none()
    }

    /// Whether something must stay out. `path` is below the imported directory.
    pub(super) fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        let path: &Path = disk::bytes_path(path);
        let mut level = self.innermost.as_ref();
        while let Some(here) = level {
            match here.matcher.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = here.outer.as_ref(),
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_files_overrule_outer_ones() {
        let outer = Ignores::default().with(b"", b"*.log\n/build/\n# comment\n").unwrap();
        assert!(outer.excludes(b"a/x.log", false));
        assert!(outer.excludes(b"build", true));
        assert!(!outer.excludes(b"build", false));
        assert!(!outer.excludes(b"a/build", true));
        let inner = outer.with(b"a", b"!x.log\n").unwrap();
        assert!(!inner.excludes(b"a/x.log", false));
        assert!(inner.excludes(b"a/y.log", false));
    }

    #[test]
    fn names_that_are_not_text_are_matched_too() {
        let ignores = Ignores::default().with(b"", b"*.tmp\n").unwrap();
        assert!(ignores.excludes(b"a\xff.tmp", false));
        assert!(!ignores.excludes(b"a\xff", false));
    }

    #[test]
    fn nothing_in_a_file_is_passed_over_silently() {
        for (text, expected) in [
            (&b"a\n*.\xe9t\xe9\n"[..], "line 2 is not UTF-8 text"),
            (b"\xff\xfea\0", "line 1 is not UTF-8 text"),
            (b"a\0\n\0", "line 1 is not UTF-8 text"),
            (b"a\n\n[z-a]\n", "line 3 is not a pattern"),
            (b"{a\n", "line 1 is not a pattern"),
        ] {
            let error = check_ignore_file(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(Ignores::default().with(b"", text).is_err());
        }
        let long = vec![b'\n'; 1 + usize::try_from(LONGEST).unwrap()];
        assert!(check_ignore_file(&long).unwrap_err().to_string().contains("larger than"));
        check_ignore_file(b"# caf\xe9\n*.log\r\n\n!a.log").unwrap();
    }

    #[test]
    fn the_mark_that_some_editors_write_is_no_part_of_a_pattern() {
        let ignores = Ignores::default().with(b"", b"\xef\xbb\xbf*.key\n").unwrap();
        assert!(ignores.excludes(b"a.key", false));
    }
}
