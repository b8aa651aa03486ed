//! `.offshootignore`: what must never enter a vault, in the syntax of `.gitignore`.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use offshoot_host::disk;

/// The name of an ignore file; it counts for its directory and everything below.
pub const FILE: &[u8] = b".offshootignore";

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
    ///
    /// Lines that are not patterns are passed over, as git does.
    pub(super) fn with(&self, path: &[u8], text: &[u8]) -> Self {
        let mut builder = GitignoreBuilder::new(disk::bytes_path(path));
        for line in text.split(|&byte| byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let _invalid_pattern = builder.add_line(None, line.trim_end_matches('\r')).is_err();
        }
        match builder.build() {
            Ok(matcher) => {
                let outer = self.innermost.clone();
                Self { innermost: Some(Arc::new(Level { matcher, outer })) }
            }
            Err(_) => self.clone(),
        }
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
        let outer = Ignores::default().with(b"", b"*.log\n/build/\n# comment\n");
        assert!(outer.excludes(b"a/x.log", false));
        assert!(outer.excludes(b"build", true));
        assert!(!outer.excludes(b"build", false));
        assert!(!outer.excludes(b"a/build", true));
        let inner = outer.with(b"a", b"!x.log\n");
        assert!(!inner.excludes(b"a/x.log", false));
        assert!(inner.excludes(b"a/y.log", false));
    }

    #[test]
    fn names_that_are_not_text_are_matched_too() {
        let ignores = Ignores::default().with(b"", b"*.tmp\n");
        assert!(ignores.excludes(b"a\xff.tmp", false));
        assert!(!ignores.excludes(b"a\xff", false));
    }
}
