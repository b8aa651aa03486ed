//! The caches of package managers: what they are called and where they are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A directory that a tool fills with what it can get again.
#[derive(Debug)]
pub(crate) struct KnownCache {
    /// The tool, or the tool and which of its caches: lower-case letters, digits and hyphens.
    pub(crate) name: &'static str,
    /// Programs that use it.
    pub(crate) programs: &'static [&'static str],
    /// Where it is: the first that there is.
    locations: &'static [CacheLocation],
}

/// Where a cache may be.
#[derive(Debug)]
enum CacheLocation {
    /// Below the directory that a variable names, where it names one.
    Variable(&'static str, &'static str),
    /// Below the user's home.
    Home(&'static str),
}

use CacheLocation::{Home, Variable};

macro_rules! caches {
    ($($name:literal [$($program:literal)*] $($location:expr),+;)*) => {
        &[$(KnownCache { name: $name, programs: &[$($program),*], locations: &[$($location),+] }),*]
    };
}

/// Every cache that outlives commands. Only what a tool downloads or computes again may be here: no settings, no keys, no
/// installed programs.
pub(crate) const KNOWN: &[KnownCache] = caches! {
    "bun" ["bun"] Variable("BUN_INSTALL_CACHE_DIR", ""), Variable("BUN_INSTALL", "install/cache"), Home(".bun/install/cache");
    "bundler" ["bundle"] Variable("BUNDLE_USER_CACHE", ""), Home(".bundle/cache");
    "cargo-git" ["cargo"] Variable("CARGO_HOME", "git"), Home(".cargo/git");
    "cargo-registry" ["cargo"] Variable("CARGO_HOME", "registry"), Home(".cargo/registry");
    "ccache" ["ccache"] Variable("CCACHE_DIR", ""), Variable("XDG_CACHE_HOME", "ccache"), Home(".cache/ccache");
    "composer" ["composer"] Variable("COMPOSER_CACHE_DIR", ""), Variable("XDG_CACHE_HOME", "composer"), Home(".cache/composer");
    "coursier" ["sbt" "cs" "scala"] Variable("COURSIER_CACHE", ""), Variable("XDG_CACHE_HOME", "coursier"), Home(".cache/coursier");
    "deno" ["deno"] Variable("DENO_DIR", ""), Variable("XDG_CACHE_HOME", "deno"), Home(".cache/deno");
    "go-build" ["go"] Variable("GOCACHE", ""), Variable("XDG_CACHE_HOME", "go-build"), Home(".cache/go-build");
    "go-mod" ["go"] Variable("GOMODCACHE", ""), Variable("GOPATH", "pkg/mod"), Home("go/pkg/mod");
    "gradle" ["gradle"] Variable("GRADLE_USER_HOME", "caches"), Home(".gradle/caches");
    "gradle-dists" ["gradle"] Variable("GRADLE_USER_HOME", "wrapper/dists"), Home(".gradle/wrapper/dists");
    "maven" ["mvn"] Home(".m2/repository");
    "npm" ["npm"] Variable("npm_config_cache", ""), Variable("NPM_CONFIG_CACHE", ""), Home(".npm");
    "nuget" ["dotnet" "nuget"] Variable("NUGET_PACKAGES", ""), Home(".nuget/packages");
    "pip" ["pip" "pip3"] Variable("PIP_CACHE_DIR", ""), Variable("XDG_CACHE_HOME", "pip"), Home(".cache/pip");
    "pnpm" ["pnpm"] Variable("XDG_DATA_HOME", "pnpm/store"), Home(".local/share/pnpm/store");
    "poetry" ["poetry"] Variable("POETRY_CACHE_DIR", ""), Variable("XDG_CACHE_HOME", "pypoetry"), Home(".cache/pypoetry");
    "sccache" ["sccache"] Variable("SCCACHE_DIR", ""), Variable("XDG_CACHE_HOME", "sccache"), Home(".cache/sccache");
    "uv" ["uv"] Variable("UV_CACHE_DIR", ""), Variable("XDG_CACHE_HOME", "uv"), Home(".cache/uv");
    "yarn" ["yarn" "yarnpkg"] Variable("YARN_CACHE_FOLDER", ""), Variable("XDG_CACHE_HOME", "yarn"), Home(".cache/yarn");
    "yarn-berry" ["yarn" "yarnpkg"] Home(".yarn/berry/cache");
    "zig" ["zig"] Variable("ZIG_GLOBAL_CACHE_DIR", ""), Variable("XDG_CACHE_HOME", "zig"), Home(".cache/zig");
};

impl KnownCache {
    /// Where the cache is for a command with these variables; nothing where it has no home.
    pub(crate) fn path(&self, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
        self.locations.iter().find_map(|location| match location {
            Variable(name, below) => Some(joined(directory(environment, name)?, below)),
            Home(below) => Some(joined(directory(environment, "HOME")?, below)),
        })
    }

    /// Whether one of its programs is where commands with these variables find programs.
    pub(crate) fn is_installed(&self, environment: &[(OsString, OsString)]) -> bool {
        let path = value(environment, "PATH").unwrap_or_default();
        let mut directories = path.as_bytes().split(|byte| *byte == b':');
        directories.any(|directory| {
            let directory = Path::new(OsStr::from_bytes(directory));
            self.programs.iter().any(|program| directory.join(program).exists())
        })
    }
}

/// The directories that belong to tools, by the variables of a command: their caches, and what those variables name.
pub(crate) fn tool_directories(environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let named =
        KNOWN.iter().flat_map(|known| known.locations).filter_map(|location| match location {
            Variable(name, _) => directory(environment, name).map(Path::to_owned),
            Home(_) => None,
        });
    let mut all: Vec<PathBuf> = named.collect();
    all.extend(KNOWN.iter().filter_map(|known| known.path(environment)));
    all.sort();
    all.dedup();
    all
}

/// The directory that a variable names: an absolute path, the first where it is a list.
fn directory<'e>(environment: &'e [(OsString, OsString)], name: &str) -> Option<&'e Path> {
    let first = value(environment, name)?.as_bytes().split(|byte| *byte == b':').next()?;
    Some(Path::new(OsStr::from_bytes(first))).filter(|path| path.is_absolute())
}

fn value<'e>(environment: &'e [(OsString, OsString)], name: &str) -> Option<&'e OsStr> {
    environment.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_os_str())
}

fn joined(directory: &Path, below: &str) -> PathBuf {
    if below.is_empty() { directory.to_owned() } else { directory.join(below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str, variables: &[(&str, &str)]) -> Option<PathBuf> {
        let known = KNOWN.iter().find(|known| known.name == name).unwrap();
        let environment: Vec<(OsString, OsString)> =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        known.path(&environment)
    }

    #[test]
    fn caches_are_where_their_tools_look_for_them() {
        let home = ("HOME", "/h");
        assert_eq!(path("cargo-registry", &[home]), Some("/h/.cargo/registry".into()));
        assert_eq!(
            path("cargo-registry", &[home, ("CARGO_HOME", "/c")]),
            Some("/c/registry".into())
        );
        assert_eq!(path("pip", &[home, ("XDG_CACHE_HOME", "/x")]), Some("/x/pip".into()));
        let both = [home, ("XDG_CACHE_HOME", "/x"), ("PIP_CACHE_DIR", "/p")];
        assert_eq!(path("pip", &both), Some("/p".into()));
        assert_eq!(path("go-mod", &[home, ("GOPATH", "/g:/k")]), Some("/g/pkg/mod".into()));
        assert_eq!(path("npm", &[home, ("npm_config_cache", "relative")]), Some("/h/.npm".into()));
        assert_eq!(path("npm", &[]), None);
    }

    #[test]
    fn names_are_sorted_and_fit_for_directories() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].name < pair[1].name));
        for known in KNOWN {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(known.name.chars().all(fits) && !known.programs.is_empty(), "{}", known.name);
        }
    }
}
