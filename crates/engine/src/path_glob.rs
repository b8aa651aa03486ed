//! Patterns that paths of files fit.

use globset::{GlobBuilder, GlobMatcher};
use offshoot_tree::VaultPath;

use crate::error::{Error, Result};

/// A pattern of paths, such as `*.rs` or `src/**/*.ts`.
///
/// ```
/// use offshoot_engine::file::VaultPath;
/// use offshoot_engine::path_glob::PathGlob;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// assert!(PathGlob::new("*.rs")?.fits(&VaultPath::parse(b"/src/main.rs")?));
/// assert!(!PathGlob::new("src/*.rs")?.fits(&VaultPath::parse(b"/src/deep/main.rs")?));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PathGlob(GlobMatcher);

impl PathGlob {
    /// Reads a pattern. As with git, one without a slash fits at any depth.
    ///
    /// ```
    /// use offshoot_engine::path_glob::PathGlob;
    ///
    /// assert!(PathGlob::new("[").is_err());
    /// ```
    pub fn new(text: &str) -> Result<Self> {
        let text = match text.trim_start_matches('/') {
            name if !name.contains('/') => format!("**/{name}"),
            path => path.to_owned(),
        };
        let glob = GlobBuilder::new(&text).literal_separator(true).build();
        let glob = glob.map_err(|error| Error::usage(format!("`glob` cannot be used: {error}")))?;
        Ok(Self(glob.compile_matcher()))
    }

    /// Whether a path fits.
    ///
    /// ```
    /// # fn example(path: &offshoot_engine::file::VaultPath) -> offshoot_engine::Result<()> {
    /// let is_source = offshoot_engine::path_glob::PathGlob::new("*.rs")?.fits(path);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fits(&self, path: &VaultPath) -> bool {
        self.0.is_match(path.to_string().trim_start_matches('/'))
    }
}
