//! The caches that a command gets.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use offshoot_sandbox::{CacheMount, Overlay, Upper};
use offshoot_vault::{CacheEntry, CacheUse, CacheWish, Tidied, Vault, VaultError};

use super::request::ExecutionRequest;
use crate::cache::{CacheRules, KNOWN, KnownCache};

/// The mode of a cache that the host does not have.
const USUAL_MODE: u32 = 0o755;

/// Caches in use by one command.
#[derive(Debug)]
pub(super) struct ExecCaches {
    used: CacheUse,
    pub(super) mounts: Vec<CacheMount>,
    /// What it writes to them is kept.
    keeps: bool,
    limit: u64,
}

/// What is asked of caches.
pub(super) struct CacheQuestion<'a> {
    pub(super) vault: &'a Vault,
    pub(super) rules: &'a CacheRules,
    pub(super) request: &'a ExecutionRequest,
    /// The command changes nothing, as far as anybody knows: it sees caches, and nothing that it writes to them is kept.
    pub(super) only_reads: bool,
    /// Directories that are somebody else's business: workspaces, and what is hidden.
    pub(super) elsewhere: Vec<&'a Path>,
}

/// A cache and where the command will see it.
struct Wanted {
    wish: CacheWish,
    target: PathBuf,
    /// The host's own, which is read and never written.
    host: Option<PathBuf>,
}

/// Takes the caches into use that a command may need; nothing where there is none.
pub(super) fn begin(question: &CacheQuestion<'_>) -> Result<Option<ExecCaches>, VaultError> {
    let wanted: Vec<Wanted> = KNOWN.iter().filter_map(|known| question.wanted(known)).collect();
    let wishes: Vec<CacheWish> = wanted.iter().map(|wanted| wanted.wish.clone()).collect();
    let Some(used) = question.vault.caches().begin(&wishes)? else { return Ok(None) };
    let entries = used.entries().iter();
    let mounts = entries.filter_map(|entry| {
        let wanted = wanted.iter().find(|wanted| wanted.wish.name == entry.name)?;
        Some(wanted.mount(used.directory(), entry))
    });
    let mounts = mounts.collect();
    let (keeps, limit) = (!question.only_reads, question.rules.max_size);
    Ok(Some(ExecCaches { used, mounts, keeps, limit }))
}

impl ExecCaches {
    /// Keeps what the command wrote to the caches that were in place. Nothing of it may run any more.
    pub(super) fn finish(self, in_place: &[&str]) -> Result<Tidied, VaultError> {
        match self.keeps {
            true => self.used.keep(in_place, self.limit),
            false => Ok(Tidied::default()),
        }
    }
}

impl CacheQuestion<'_> {
    fn wanted(&self, known: &KnownCache) -> Option<Wanted> {
        if !self.rules.allow(known.name) {
            return None;
        }
        let environment = &self.request.environment;
        let target = without_links(&known.path(environment)?)?;
        let overlaps = |other: &&&Path| target.starts_with(other) || other.starts_with(&target);
        if self.elsewhere.iter().any(|other| overlaps(&other)) {
            return None;
        }
        let found = target.metadata().ok();
        if found.as_ref().is_some_and(|found| !found.is_dir()) {
            return None;
        }
        let only_if_kept = self.only_reads || (found.is_none() && !known.is_installed(environment));
        let mode = found.as_ref().map_or(USUAL_MODE, |found| found.mode() & 0o7777);
        let wish = CacheWish { name: known.name, mode, only_if_kept };
        let host = found.map(|_| target.clone());
        Some(Wanted { wish, target, host })
    }
}

impl Wanted {
    fn mount(&self, directory: &Path, entry: &CacheEntry) -> CacheMount {
        let mut lower = entry.layers.clone();
        lower.extend(self.host.clone());
        if lower.is_empty() {
            lower.push(entry.empty.clone());
        }
        let upper = Upper { directory: entry.upper.clone(), work: entry.work.clone() };
        let layers = Overlay {
            directory: directory.to_owned(),
            lower,
            data: Vec::new(),
            upper: Some(upper),
            look_up: Vec::new(),
        };
        CacheMount { name: entry.name, layers, target: self.target.clone() }
    }
}

/// A path as it is without links, as far as it is there.
fn without_links(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    for ancestor in path.ancestors() {
        if let Ok(mut found) = ancestor.canonicalize() {
            found.extend(missing.iter().rev());
            return Some(found);
        }
        missing.push(ancestor.file_name()?);
    }
    None
}
