//! The home that a coding agent has by its preset: kept in the vault, with the user's logins in it while a command runs.

mod credentials;
mod made;
mod shared;
mod side;
mod tidy;
mod values;
mod watch;

use std::path::{Path, PathBuf};

use offshoot_host::read_regular;
use offshoot_profile::{HomePath, Preset};
use offshoot_protocol::{CredentialMode, HomeView};
use offshoot_vault::AgentHome;

use self::credentials::{CredentialPair, Moment};
use self::shared::SharedDirectory;
pub use self::shared::settle_shared;
use self::side::Side;
use self::watch::CredentialWatch;
use super::envelope::{DiscardedFiles, ExecutionResult, KeptCredential};
use super::options::AgentRules;
use crate::error::Result;

/// The largest file that is compared with a copy of it.
const LARGEST_COPY: u64 = 256 * 1024;

/// An agent's home in use by one command.
#[derive(Debug)]
pub(super) struct AgentRun {
    preset: Preset,
    home: AgentHome,
    /// The user's own home.
    host: PathBuf,
    /// The project, as the agent knows it.
    project: PathBuf,
    watch: CredentialWatch,
    rules: AgentRules,
    /// Copies of the user's settings that the agent gets, with what is in them.
    copies: Vec<(HomePath, Vec<u8>)>,
    /// Directories of the user's home that the agent shares.
    shared: Vec<SharedDirectory>,
}

impl AgentRun {
    pub(super) fn begin(
        vault: &offshoot_vault::Vault,
        preset: Preset,
        (host, project): (PathBuf, PathBuf),
        rules: AgentRules,
        copies: Vec<(HomePath, Vec<u8>)>,
    ) -> Result<(Self, Vec<String>)> {
        let (mut early, mut warnings) = (Vec::new(), Vec::new());
        let home = vault.agent_home(&preset.name, |home| {
            warnings.extend(shared::settle_noted(home));
            // What a command left that was cut short. What it changed of credentials is looked at first.
            if rules.credentials == CredentialMode::Sync {
                let pairs = CredentialPair::all(&preset, &host);
                early = credentials::sync(home, &pairs, Moment::Before);
            }
            tidy::tidy(&preset, &home.path(), rules.max_cache);
        })?;
        let (inside, outside) = (Side::agent(&home.place().path()), Side::user(&host));
        if rules.credentials != CredentialMode::None {
            warnings.extend(values::take(&preset, &outside, &inside, &project));
        }
        let mut shared = Vec::new();
        if rules.shares_state(&preset.name) {
            let (found, told) = shared::directories(&preset, &host, &project);
            warnings.extend(told);
            for path in &found {
                match SharedDirectory::open(host.join(path.to_string()), home.place()) {
                    Ok(directory) => {
                        inside.make_way(path);
                        shared.push(directory);
                    }
                    Err(error) => warnings.push(format!(
                        "{} is not shared with the agent: {error}",
                        host.join(path.to_string()).display()
                    )),
                }
            }
        }
        let pairs = CredentialPair::all(&preset, &host);
        let login = rules.login(&preset.name);
        let watch = CredentialWatch::start(home.place(), pairs, login, early);
        Ok((Self { preset, home, host, project, watch, rules, copies, shared }, warnings))
    }

    /// What the command sees as its home.
    pub(super) fn path(&self) -> PathBuf {
        self.home.place().path()
    }

    /// Directories of the user's home that the agent writes to.
    pub(super) fn shared(&self) -> Vec<PathBuf> {
        self.shared.iter().map(|directory| directory.path.clone()).collect()
    }

    /// The command is over: brings credentials and values to the user's home, and tidies up.
    pub(super) fn finish(
        self,
        result: &mut ExecutionResult,
        lost: &dyn Fn(&Path, &[PathBuf]) -> DiscardedFiles,
    ) {
        let Self { preset, home, host, project, watch, rules, copies, shared } = self;
        result.warnings.extend(shared.into_iter().filter_map(SharedDirectory::settle));
        let is_kept = result.in_force.as_ref().is_some_and(|force| force.home == HomeView::Kept);
        if !is_kept {
            let name = &preset.name;
            result.warnings.push(format!(
                "preset {name}: the agent had neither its login nor a home that is kept, because the home directory could not be mounted here"
            ));
        }
        let (kept, warnings) = watch.end(home.place());
        result.warnings.extend(warnings);
        let (inside, outside) = (Side::agent(&home.place().path()), Side::user(&host));
        if rules.credentials == CredentialMode::Sync {
            result.warnings.extend(values::give(&preset, &inside, &outside, &project));
        }
        if let Some(used) = &mut result.preset {
            used.credentials = kept
                .into_iter()
                .map(|(path, [to_host, from_host])| KeptCredential { path, to_host, from_host })
                .collect();
        }
        // What is told here is not to be found again among all that is lost.
        let mut told = Vec::new();
        for (path, content) in &copies {
            let now = read_regular(&home.place().path().join(path.to_string()), LARGEST_COPY);
            if let Some(now) = now.ok().filter(|now| now != content) {
                let bytes = now.len() as u64;
                told.push(DiscardedFiles::at(host.join(path.to_string()), 1, bytes));
            }
        }
        if is_kept {
            told.extend(made::made(&preset, &home.place().path(), &host));
        }
        let names: Vec<PathBuf> = told.iter().flat_map(|one| one.paths.clone()).collect();
        told.into_iter().for_each(|one| result.discarded.join(one));
        let place = home.place().clone();
        let mut unsettled = Vec::new();
        let found = home.leave(|path| {
            unsettled = shared::settle_noted(&place);
            let found = lost(path, &names);
            credentials::remove_equal(
                &CredentialPair::all(&preset, &host),
                path,
                rules.login(&preset.name),
            );
            tidy::tidy(&preset, path, rules.max_cache);
            found
        });
        result.warnings.extend(unsettled);
        if let Some(found) = found.filter(|_| is_kept) {
            result.discarded.join(found);
        }
    }

    /// What it runs by.
    pub(super) fn preset(&self) -> &Preset {
        &self.preset
    }
}
