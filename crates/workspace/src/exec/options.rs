//! What is the same for all commands of a process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_policy::Policy;
use offshoot_protocol::{CredentialMode, ErrorBody, Hint};
use offshoot_sandbox::{Limits, Signals};
use offshoot_store::Id;
use offshoot_tree::diff::DiffOptions;
use offshoot_vault::LinkLimit;

use super::pending::ApprovalTerms;
use super::profiles::ProfileRules;
use super::sight::Viewer;
use crate::cache::CacheRules;
use crate::error::ServiceError;

/// What is the same for all commands of a process.
#[derive(Debug)]
pub struct RuntimeOptions {
    /// Who looks, as far as that says what commands see.
    pub viewer: Viewer,
    /// What they may read, reach and use.
    pub profiles: Arc<ProfileRules>,
    /// What commands see empty: the home of the vaults.
    pub hidden: Vec<PathBuf>,
    /// What a command may use.
    pub limits: Limits,
    /// How many bytes a command may add to its workspace.
    pub max_disk: Option<u64>,
    /// Directories of lower layers can be renamed.
    pub broker: bool,
    /// What the settings say about what walls are made of, by key, whatever holds for this command alone; nothing where the caller
    /// gave the setting itself for this command.
    pub lasting: Vec<(&'static str, Option<String>)>,
    /// How many bytes of each output are kept.
    pub output_limit: usize,
    /// How long a command that is asked to end has until it is killed.
    pub grace: Duration,
    /// How many hard links are kept whole.
    pub links: LinkLimit,
    /// How changes are compared.
    pub diff: DiffOptions,
    /// Signals to this process, which end commands and tell that the terminal was resized.
    pub signals: Option<Signals>,
    /// This process runs other commands too, and goes on when they end.
    pub shared: bool,
    /// Which package caches outlive commands; none where there are none.
    pub caches: Option<CacheRules>,
    /// What holds for coding agents that run by a preset.
    pub agents: AgentRules,
    /// What decides whether a command may run.
    pub policy: Arc<Policy>,
    /// The files of rules among those that hold for this command alone.
    pub request_rules: Vec<PathBuf>,
    /// What holds for commands that a person decides about.
    pub approvals: ApprovalTerms,
    /// How an error is told.
    pub explain: fn(ServiceError, FurtherHints) -> ErrorBody,
}

/// What is the same for all agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRules {
    /// What becomes of their logins.
    pub credentials: CredentialMode,
    /// How many bytes their caches may take.
    pub max_cache: u64,
    /// Those whose keys stay outside, by the names of their presets.
    pub inject: Vec<String>,
    /// Those that share the state of the user's own, in the same way.
    pub host_state: Vec<String>,
}

impl AgentRules {
    /// Whether the keys of an agent stay outside.
    pub(super) fn injects(&self, preset: &str) -> bool {
        self.inject.iter().any(|name| name == preset)
    }

    /// Whether an agent shares the state of the user's own.
    pub(super) fn shares_state(&self, preset: &str) -> bool {
        self.host_state.iter().any(|name| name == preset)
    }

    /// What becomes of an agent's login. Whoever keeps the key outside gives it none.
    pub(super) fn login(&self, preset: &str) -> CredentialMode {
        if self.injects(preset) { CredentialMode::None } else { self.credentials }
    }
}

/// What to do about an error, as far as only the command knows that it is about.
#[derive(Clone, Debug, Default)]
pub struct FurtherHints {
    /// What to do in place of what the error says.
    pub instead: Option<Hint>,
    /// What to do where the error itself says nothing.
    pub otherwise: Option<Hint>,
    /// What a command can do beside what the error says.
    pub besides: Option<Hint>,
    /// What to do about what the command wrote, where that was set aside.
    pub set_aside: Option<Hint>,
}

/// What to do about what a command wrote that was set aside.
pub fn set_aside(exec: &Id) -> Hint {
    Hint::from("what the command wrote is set aside: ")
        .then("offshoot recover keep")
        .arg(exec.short())
        .text(" makes it a checkpoint, ")
        .then("offshoot recover drop")
        .arg(exec.short())
        .text(" frees its space")
}
