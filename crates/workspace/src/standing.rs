//! From paths as people type them to paths of a vault.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_vault::{Binding, Vault, VaultError, VaultPath};

use crate::error::Result;
use crate::home::PathPattern;

/// Where somebody stands in a vault: what they type starts there, unless it starts with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    at: VaultPath,
}

impl Standing {
    /// Of somebody in this folder of the host; at the top where the vault is not bound to it. `here` has no links in it.
    pub fn new(vault: &Vault, here: &Path) -> Result<Self> {
        Ok(Self::among(&vault.bindings()?, here))
    }

    fn among(bindings: &[Binding], here: &Path) -> Self {
        let mut found = Self::default();
        for binding in bindings {
            // A folder of a vault never lies in another one.
            if let Ok(below) = here.strip_prefix(binding.host_path()) {
                let names = below.components().map(|name| name.as_os_str().as_bytes());
                found.at = names.fold(binding.at(), |path, name| path.join(name));
            }
        }
        found
    }

    /// The path that somebody means.
    pub fn path(&self, text: &[u8]) -> Result<VaultPath> {
        let text = match text.starts_with(b"/") {
            true => text.to_vec(),
            false => [&self.at.to_bytes(), b"/".as_slice(), text].concat(),
        };
        Ok(VaultPath::parse(&text).map_err(VaultError::from)?)
    }

    /// The paths that somebody means by a path or a glob.
    pub fn pattern(&self, text: &[u8]) -> Result<PathPattern> {
        match PathPattern::is_glob(text) {
            true => PathPattern::glob(text, &self.at),
            false => Ok(PathPattern::below(text, self.path(text)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> VaultPath {
        VaultPath::parse(text.as_bytes()).unwrap()
    }

    fn standing(at: &str) -> Standing {
        Standing { at: path(at) }
    }

    #[test]
    fn what_is_typed_starts_where_one_stands() {
        let typed = |at: &str, text: &str| standing(at).path(text.as_bytes()).unwrap();
        assert_eq!(typed("/", "main.c"), path("/main.c"));
        assert_eq!(typed("/src", "main.c"), path("/src/main.c"));
        assert_eq!(typed("/src", "./main.c"), path("/src/main.c"));
        assert_eq!(typed("/src/deep", "../main.c"), path("/src/main.c"));
        assert_eq!(typed("/src", "."), path("/src"));
        assert_eq!(typed("/src", "/main.c"), path("/main.c"));
        assert!(standing("/src").path(b"../../main.c").is_err(), "it leads out of the vault");
    }

    #[test]
    fn globs_start_there_too() {
        let fits = |at: &str, glob: &str, candidate: &str| {
            standing(at).pattern(glob.as_bytes()).unwrap().matches(&path(candidate))
        };
        assert!(fits("/", "*.c", "/src/main.c"));
        assert!(fits("/src", "*.c", "/src/main.c"));
        assert!(fits("/src", "*.c", "/src/deep/main.c"));
        assert!(!fits("/src", "*.c", "/lib/main.c"));
        assert!(fits("/src", "deep/*.c", "/src/deep/main.c"));
        assert!(!fits("/src", "deep/*.c", "/deep/main.c"));
        assert!(fits("/src", "/deep/*.c", "/deep/main.c"));
        assert!(fits("/src", "main.c", "/src/main.c"));
        assert!(!fits("/src", "main.c", "/main.c"));
        assert!(fits("/a[b]", "*.c", "/a[b]/main.c"), "a name is not a pattern");
        assert!(fits("/src/deep", "../*.c", "/src/main.c"));
    }
}
