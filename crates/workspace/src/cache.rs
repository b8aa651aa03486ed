//! Caches of package managers that outlive the commands of a vault: which there are, and looking at them.

mod table;

use offshoot_policy::{Judged, Verdict};
use offshoot_protocol::CommandPart;
use offshoot_vault::{Actor, CacheInfo, Tidied, Vault};

pub(crate) use table::{KNOWN, KnownCache, tool_directories};

use crate::error::{Result, ServiceError};
use crate::suggest::similar;

/// Which caches commands get, and how large all may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheRules {
    /// Names of caches, or of their tools, that commands do not get.
    pub skip: Vec<String>,
    /// The bytes that all may take when nobody uses them.
    pub max_size: u64,
}

impl CacheRules {
    /// Whether commands get a cache of that name.
    pub(crate) fn allow(&self, name: &str) -> bool {
        !self.skip.iter().any(|skipped| is_of(name, skipped))
    }
}

/// The names of all caches that are known, and of the tools that have more than one.
pub fn cache_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    names.extend(KNOWN.iter().filter_map(|known| known.name.split_once('-')).map(|(tool, _)| tool));
    names.sort_unstable();
    names.dedup();
    names
}

/// Programs that change files and fetch or build nothing.
const FILE_TOOLS: [&str; 32] = [
    "base64", "chgrp", "chmod", "chown", "cp", "dd", "echo", "ed", "gzip", "install", "ln",
    "mkdir", "mkfifo", "mktemp", "mv", "patch", "printf", "rm", "rmdir", "rsync", "sed", "shred",
    "split", "sync", "tar", "tee", "touch", "truncate", "unlink", "unzip", "xz", "zip",
];

/// Whether a command may get packages or build something, as far as can be seen. Others, such as those that agents change files
/// with, do without caches of their own, which cost time before and after them.
pub(crate) fn may_fetch(verdict: &Verdict) -> bool {
    let harmless = |judged: &Judged| match judged.part {
        _ if judged.categories.is_read_only() => true,
        CommandPart::Redirection | CommandPart::Assignment => true,
        CommandPart::Unclear => false,
        CommandPart::Program => judged.program().is_some_and(|name| FILE_TOOLS.contains(&&*name)),
    };
    !verdict.parts.iter().all(|part| harmless(&part.judged))
}

/// Whether a cache has this name or belongs to the tool of this name.
fn is_of(name: &str, asked: &str) -> bool {
    name == asked || name.strip_prefix(asked).is_some_and(|rest| rest.starts_with('-'))
}

/// Lists and clears the caches of a vault.
#[derive(Clone, Copy, Debug)]
pub struct CacheService<'a> {
    vault: &'a Vault,
}

impl<'a> CacheService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// The caches that have something in them, by name.
    pub fn list(&self) -> Result<Vec<CacheInfo>> {
        Ok(self.vault.caches().list()?)
    }

    /// Removes caches by their names or those of their tools; all where none is named. Returns what was removed.
    pub fn clear(&self, asked: &[String], actor: &Actor) -> Result<Vec<CacheInfo>> {
        let mut found = self.list()?;
        for name in asked {
            if !found.iter().any(|info| is_of(&info.name, name))
                && !cache_names().contains(&name.as_str())
            {
                let names = cache_names();
                return Err(ServiceError::Unknown {
                    what: "cache",
                    text: name.clone(),
                    suggestions: similar(name, names.iter().copied()),
                    known: Vec::new(),
                });
            }
        }
        found.retain(|info| asked.is_empty() || asked.iter().any(|name| is_of(&info.name, name)));
        let names: Vec<String> = found.iter().map(|info| info.name.clone()).collect();
        match self.vault.caches().clear(&names)? {
            true => self.record(&names, actor).map(|()| found),
            false => Err(ServiceError::CachesInUse),
        }
    }

    fn record(&self, names: &[String], actor: &Actor) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.vault.record_event("cache clear", actor, |tx| {
            tx.summary(format!("clear the caches {}", names.join(", ")));
            tx.detail("caches", names);
            Ok(())
        })?;
        Ok(())
    }

    /// Drops the least recently used caches while all take more than `limit` bytes, unless a command uses one.
    pub fn tidy(&self, limit: u64, actor: &Actor) -> Result<Tidied> {
        let tidied = self.vault.caches().tidy(limit)?;
        let names: Vec<String> = tidied.dropped.iter().map(|info| info.name.clone()).collect();
        self.record(&names, actor).map(|()| tidied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_caches_and_for_their_tools() {
        assert!(is_of("cargo-git", "cargo") && is_of("cargo-git", "cargo-git"));
        assert!(!is_of("cargo-git", "car") && !is_of("npm", "npm-x"));
        let rules = CacheRules { skip: vec!["go".to_owned(), "npm".to_owned()], max_size: 0 };
        assert!(!rules.allow("go-build") && !rules.allow("npm") && rules.allow("pnpm"));
        let names = cache_names();
        assert!(names.contains(&"cargo") && names.contains(&"cargo-git") && names.contains(&"npm"));
    }
}
