//! Settings: what can be configured, where it may be set, and which place wins.
//!
//! Five places are read, each overriding the ones before it: the built-in defaults, the user's file, the project's
//! file, the environment, and `--config KEY=VALUE` flags. A project's file may only narrow what its reader has (`narrow.rs`). Every place is checked whole and on its own, so a mistake is
//! reported where it stands even if a later place overrides it. Nothing here reads the process environment;
//! `docs/configuration.md` is the user's description, and a test holds it to the code.

mod agents;
mod duration;
mod edit;
mod error;
mod file;
mod keys;
mod layer;
mod load;
mod money;
mod narrow;
mod origin;
mod own_agent;
mod show;
mod size;
mod sources;
mod value;

use std::time::Duration;

use offshoot_protocol::{ApprovalFallback, DriverChoice, Network};
use serde::{Deserialize, Serialize};

pub use agents::AgentSettings;
pub use duration::{format as format_duration, parse as parse_duration};
pub use edit::{SettingEdit, Whose, edit};
pub use error::{ConfigError, SettingPlace};
pub use keys::names as key_names;
pub(crate) use load::load_own;
pub use load::{Loaded, Setting, load, load_without_project};
pub use money::{format as format_money, parse as parse_money};
pub use narrow::IgnoredSetting;
pub(crate) use narrow::project_rule;
pub use offshoot_protocol::{AbandonedWork, CommitTimes, CredentialMode, ProjectRule, When};
pub use origin::SettingOrigin;
pub use own_agent::OwnAgentSettings;
pub use show::{render_human, shown_value};
pub use size::parse as parse_size;
pub use sources::{Sources, user_directory};

/// All settings, ready to use.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert!(Config::default().ui.hints);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How output looks.
    pub ui: UiSettings,
    /// How changes are shown.
    pub diff: DiffSettings,
    /// Defaults of new workspaces.
    pub workspace: WorkspaceSettings,
    /// How commands are run.
    pub exec: ExecSettings,
    /// Package caches that outlive commands.
    pub cache: CacheSettings,
    /// Coding agents that run by a preset.
    pub agents: AgentSettings,
    /// The agent of Offshoot itself.
    pub agent: OwnAgentSettings,
    /// How it is decided whether commands run.
    pub policy: PolicySettings,
    /// What becomes of commands that a person decides about.
    pub approvals: ApprovalSettings,
    /// How files are committed.
    pub commit: CommitSettings,
    /// What becomes of interrupted commands.
    pub recover: RecoverSettings,
    /// When layers are merged.
    pub compact: CompactSettings,
    /// How commands are run for people.
    pub run: RunSettings,
    /// How a directory is taken into a vault.
    pub import: ImportSettings,
    /// What collecting garbage keeps.
    pub gc: GcSettings,
    /// How the vault's catalog is used.
    pub store: StoreSettings,
}

/// Section `ui`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().ui.pager, "auto");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UiSettings {
    /// Whether output is coloured.
    pub color: When,
    /// Whether progress is shown on standard error.
    pub progress: When,
    /// The command that shows long output, `auto` for what the environment says, or `never`.
    pub pager: String,
    /// Whether commands say what could be done next.
    pub hints: bool,
}

/// Section `diff`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().diff.context, 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffSettings {
    /// Unchanged lines shown around each change.
    pub context: u32,
    /// Whether a removed and an added file that resemble each other are shown as one rename.
    pub renames: bool,
    /// Percentage of equal content from which two files count as a rename.
    pub rename_similarity: u8,
    /// Files larger than this are compared as binary.
    pub max_text_bytes: u64,
}

/// Section `workspace`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().workspace.ephemeral_ttl.as_secs(), 24 * 60 * 60);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceSettings {
    /// How long an ephemeral workspace is kept.
    #[serde(with = "duration")]
    pub ephemeral_ttl: Duration,
}

/// Section `exec`.
///
/// ```
/// use offshoot_engine::exec::Network;
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().exec.net, Network::None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecSettings {
    /// How long a command may take; zero for as long as it wants.
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// How long a command that is asked to end has until it is killed.
    #[serde(with = "duration")]
    pub grace: Duration,
    /// How many bytes of each output are kept.
    pub output_limit: u64,
    /// How a workspace is made a directory.
    pub driver: DriverChoice,
    /// Whether a new workspace starts from what is in the folder now.
    pub refresh: bool,
    /// Up to how many bytes of hard-linked files stay linked.
    pub hard_link_bytes: u64,
    /// Whether directories can be renamed where overlayfs refuses.
    pub broker: bool,
    /// What commands can reach.
    pub net: Network,
    /// Hosts that it reaches by the network proxy, with commas between them.
    pub allow: String,
    /// How many processes and threads a command may have; 0 for no limit.
    pub max_processes: u64,
    /// How large a file it may write; 0 for no limit.
    pub max_file_size: u64,
    /// How much memory all of its processes may have together; 0 for three quarters of the machine's.
    pub max_memory: u64,
    /// How much each of its private directories may hold; 0 for half of the machine's memory.
    pub max_tmpfs: u64,
    /// How much time of processors all of its processes may take together; zero for no limit.
    #[serde(with = "duration")]
    pub max_cpu: Duration,
    /// How many bytes it may add to its workspace; 0 for no limit.
    pub max_disk: u64,
}

/// Section `cache`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert!(Config::default().cache.enabled);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// Whether commands get caches that outlive them.
    pub enabled: bool,
    /// Those that they do not get, with commas between them.
    pub skip: String,
    /// How many bytes all caches of a vault may take.
    pub max_size: u64,
}

impl CacheSettings {
    /// Those that commands do not get.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(Config::default().cache.skipped().is_empty());
    /// ```
    pub fn skipped(&self) -> Vec<String> {
        value::names(&self.skip).map(str::to_owned).collect()
    }
}

/// Section `policy`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().policy.rego_timeout.as_millis(), 100);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySettings {
    /// How long rules in Rego may take.
    #[serde(with = "duration")]
    pub rego_timeout: Duration,
}

/// Section `approvals`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert!(Config::default().approvals.approvers.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalSettings {
    /// How long there is to decide.
    #[serde(with = "duration")]
    pub expire: Duration,
    /// What becomes of what nobody decides in time.
    pub fallback: ApprovalFallback,
    /// The accounts that may decide, with commas between them; empty for anybody who can write to the vault.
    pub approvers: String,
    /// A command that is told of each new approval; empty for none.
    pub notify: String,
    /// Whether the client of an agent may put the question to the person who uses it.
    pub elicitation: bool,
}

impl ApprovalSettings {
    /// The accounts that may decide.
    ///
    /// ```
    /// use offshoot_engine::settings::Config;
    ///
    /// assert!(Config::default().approvals.accounts().is_empty());
    /// ```
    pub fn accounts(&self) -> Vec<String> {
        value::names(&self.approvers).map(str::to_owned).collect()
    }
}

/// Section `commit`.
///
/// ```
/// use offshoot_engine::settings::{CommitTimes, Config};
///
/// assert_eq!(Config::default().commit.times, CommitTimes::Now);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitSettings {
    /// Which times committed files get.
    pub times: CommitTimes,
}

/// Section `recover`.
///
/// ```
/// use offshoot_engine::settings::{AbandonedWork, Config};
///
/// assert_eq!(Config::default().recover.abandoned, AbandonedWork::Offer);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoverSettings {
    /// What becomes of what an interrupted command wrote.
    pub abandoned: AbandonedWork,
}

/// Section `compact`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().compact.depth, 16);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompactSettings {
    /// Whether a command that leaves more layers than `depth` starts a process that merges them.
    pub auto: bool,
    /// Of how many layers a workspace may consist.
    pub depth: u16,
}

/// Section `run`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// let run = Config::default().run;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSettings {
    /// How long a command may take; zero for as long as it wants.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

/// Section `import`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().import.threads, 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportSettings {
    /// Threads that read and hash; 0 means one for each core.
    pub threads: u16,
}

/// Section `gc`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert!(Config::default().gc.auto);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcSettings {
    /// Whether commands start a process that collects garbage when there is enough of it.
    pub auto: bool,
    /// After how many operations that is.
    pub auto_operations: u64,
    /// After how many bytes in new layers that is.
    pub auto_size: u64,
    /// The newest operations, so many of them, can be undone after it.
    pub keep_operations: u64,
    /// So can those that are younger than this.
    #[serde(with = "duration")]
    pub keep_age: Duration,
    /// The oldest of these are given up while content takes more bytes than this; 0 for no limit.
    pub max_size: u64,
}

/// Section `store`.
///
/// ```
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(Config::default().store.busy_timeout.as_secs(), 30);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// How long to wait for another process that is writing to the same vault.
    #[serde(with = "duration")]
    pub busy_timeout: Duration,
}

impl Default for UiSettings {
    fn default() -> Self {
        Self { color: When::Auto, progress: When::Auto, pager: "auto".to_owned(), hints: true }
    }
}

impl Default for DiffSettings {
    fn default() -> Self {
        Self { context: 3, renames: true, rename_similarity: 50, max_text_bytes: 16 << 20 }
    }
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self { ephemeral_ttl: Duration::from_secs(24 * 60 * 60) }
    }
}

impl Default for ExecSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(300),
            grace: Duration::from_secs(2),
            output_limit: 1 << 20,
            driver: DriverChoice::Auto,
            refresh: true,
            hard_link_bytes: 64 << 20,
            broker: true,
            net: Network::None,
            allow: String::new(),
            max_processes: 4096,
            max_file_size: 0,
            max_memory: 0,
            max_tmpfs: 0,
            max_cpu: Duration::ZERO,
            max_disk: 0,
        }
    }
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, skip: String::new(), max_size: 10 << 30 }
    }
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { rego_timeout: Duration::from_millis(100) }
    }
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            expire: Duration::from_secs(24 * 60 * 60),
            fallback: ApprovalFallback::Deny,
            approvers: String::new(),
            notify: String::new(),
            elicitation: true,
        }
    }
}

impl Default for CommitSettings {
    fn default() -> Self {
        Self { times: CommitTimes::Now }
    }
}

impl Default for RecoverSettings {
    fn default() -> Self {
        Self { abandoned: AbandonedWork::Offer }
    }
}

impl Default for CompactSettings {
    fn default() -> Self {
        Self { auto: true, depth: 16 }
    }
}

impl Default for GcSettings {
    fn default() -> Self {
        Self {
            auto: true,
            auto_operations: 100,
            auto_size: 1 << 30,
            keep_operations: 100,
            keep_age: Duration::from_secs(30 * 24 * 60 * 60),
            max_size: 0,
        }
    }
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(30) }
    }
}

#[cfg(test)]
mod tests;
