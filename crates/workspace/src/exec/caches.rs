//! The caches that a command gets.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use offshoot_sandbox::{CacheMount, Overlay, UpperDirectories};
use offshoot_vault::{CacheEntry, CacheUse, CacheWish, Tidied, Vault, VaultError};

use super::envelope::ExecutionResult;
use super::options::RuntimeOptions;
use super::request::ExecutionRequest;
use super::sight::Viewer;
use crate::cache::{CacheRules, KNOWN, KnownCache, may_fetch};

/// The mode of a cache that the host does not have.
const USUAL_MODE: u32 = 0o755;

/// Caches in use by one command.
#[derive(Debug)]
pub(super) struct ExecCaches {
    used: CacheUse,
    pub(super) mounts: Vec<CacheMount>,
    /// What it writes to them is kept.
    writes: bool,
    limit: u64,
}

/// What is asked of caches.
struct CacheQuestion<'a> {
    vault: &'a Vault,
    rules: &'a CacheRules,
    request: &'a ExecutionRequest,
    /// Whose caches they are.
    viewer: &'a Viewer,
    /// What the command writes to caches is kept. Others see what the vault has, and what they write is thrown away.
    writes: bool,
    /// Directories that are somebody else's business: workspaces, and what is hidden.
    elsewhere: Vec<&'a Path>,
}

/// A cache and where the command will see it.
struct Wanted {
    wish: CacheWish,
    target: PathBuf,
    /// The host's own, which is read and never written.
    host: Option<PathBuf>,
}

/// Takes the caches into use that a command may need, at `folders` and where it sees its workspace not. Where that fails it runs without.
pub(super) fn take_caches(
    (vault, options): (&Vault, &RuntimeOptions),
    request: &ExecutionRequest,
    result: &mut ExecutionResult,
    folders: &[PathBuf],
) -> Option<ExecCaches> {
    let rules = options.caches.as_ref().filter(|_| !vault.is_read_only())?;
    let fetches = result.decision.as_ref().is_none_or(may_fetch);
    let writes = !result.read_only && fetches;
    let elsewhere = folders.iter().chain(&options.hidden).chain(&result.mountpoint);
    let elsewhere = elsewhere.map(PathBuf::as_path).collect();
    let viewer = &options.viewer;
    let question = CacheQuestion { vault, rules, request, viewer, writes, elsewhere };
    begin(&question).unwrap_or_else(|error| {
        result.warnings.push(format!("package caches were not used: {error}"));
        None
    })
}

/// Keeps what a command wrote to caches. It is recorded by now: what goes wrong here is a word in the answer.
pub(super) fn keep_caches(caches: ExecCaches, result: &mut ExecutionResult) {
    let in_place = result.in_force.as_ref().map(|force| force.caches.clone()).unwrap_or_default();
    match caches.finish(&in_place) {
        Ok(tidied) => result.warnings.extend(tidied.dropped.iter().map(|info| {
            format!("cache {} was cleared: all caches took more than cache.max_size", info.name)
        })),
        Err(error) => result.warnings.push(format!("package caches were not kept: {error}")),
    }
}

/// Takes the caches into use that a command may need; nothing where there is none.
fn begin(question: &CacheQuestion<'_>) -> Result<Option<ExecCaches>, VaultError> {
    let caches = question.vault.caches();
    let kept = caches.kept()?;
    let wanted = KNOWN.iter().filter_map(|known| question.wanted(known, &kept));
    let wanted: Vec<Wanted> = wanted.collect();
    let wishes: Vec<CacheWish> = wanted.iter().map(|wanted| wanted.wish.clone()).collect();
    let Some(used) = caches.begin(&wishes, question.writes)? else { return Ok(None) };
    let entries = used.entries().iter();
    let mounts = entries.filter_map(|entry| {
        let wanted = wanted.iter().find(|wanted| wanted.wish.name == entry.name)?;
        Some(wanted.mount(&used, entry))
    });
    let mounts = mounts.collect();
    Ok(Some(ExecCaches { used, mounts, writes: question.writes, limit: question.rules.max_size }))
}

impl ExecCaches {
    /// Keeps what the command wrote to the caches that were in place. Nothing of it may run any more.
    pub(super) fn finish(self, in_place: &[&str]) -> Result<Tidied, VaultError> {
        match self.writes {
            true => self.used.keep(in_place, self.limit),
            false => Ok(Tidied::default()),
        }
    }
}

impl CacheQuestion<'_> {
    fn wanted(&self, known: &KnownCache, kept: &[String]) -> Option<Wanted> {
        let environment = &self.request.environment;
        let path = known.path(environment)?;
        let is_kept = kept.iter().any(|name| name == known.name);
        let is_wanted =
            is_kept || (self.writes && (path.is_dir() || known.is_installed(environment)));
        if !is_wanted || !self.rules.allow(known.name) {
            return None;
        }
        let target = without_links(&path)?;
        let overlaps = |other: &&&Path| target.starts_with(other) || other.starts_with(&target);
        if self.elsewhere.iter().any(|other| overlaps(&other)) {
            return None;
        }
        let found = target.metadata().ok();
        if found.as_ref().is_some_and(|found| !found.is_dir()) {
            return None;
        }
        let only_if_kept = !self.writes;
        let mode = found.as_ref().map_or(USUAL_MODE, |found| found.mode() & 0o7777);
        let wish = CacheWish { name: known.name, mode, only_if_kept };
        // A variable that was given with the command moves a cache to where its tool looks for it, and must not show what the host has there.
        let is_own = self.viewer.cache(known).is_some_and(|own| own == path);
        let host = found.filter(|_| is_own).map(|_| target.clone());
        Some(Wanted { wish, target, host })
    }
}

impl Wanted {
    fn mount(&self, used: &CacheUse, entry: &CacheEntry) -> CacheMount {
        let mut lower = entry.layers.clone();
        lower.extend(self.host.clone());
        if lower.is_empty() {
            lower.push(used.empty().to_owned());
        }
        let upper =
            entry.upper.clone().map(|(directory, work)| UpperDirectories { directory, work });
        let layers = Overlay {
            directory: used.directory().to_owned(),
            lower,
            data: Vec::new(),
            upper,
            look_up: Vec::new(),
        };
        CacheMount { name: Some(entry.name), layers, target: self.target.clone() }
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
