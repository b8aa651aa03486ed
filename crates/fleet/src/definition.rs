//! The file of an agent.

mod check;
mod units;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use offshoot_kernel::{Budget, JobSchedule, KernelJob, KernelLimits, MissedRuns};
use serde::Deserialize;

use self::units::{Dollars, Span};
use crate::error::FleetError;

/// The longest file that is read.
const LONGEST: u64 = 1 << 20;

/// An agent as its file says it. `docs/design/fleet.md` has all keys.
///
/// ```
/// use offshoot_fleet::AgentDefinition;
///
/// let file = r#"
/// version = 1
/// name = "governor"
/// capabilities = ["governance"]
/// work = { kind = "rules" }
/// governance = { rules = ["rules.toml"] }
/// "#;
/// let agent = AgentDefinition::parse("/etc/agents/governor.toml".as_ref(), file)?;
/// assert_eq!(agent.governance.rules[0], std::path::Path::new("/etc/agents/rules.toml"));
/// # Ok::<(), offshoot_fleet::FleetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    /// The version of the format: 1.
    pub version: u32,
    /// Its name for other agents.
    pub name: String,
    /// How people call it.
    #[serde(default)]
    pub title: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// What it does with a call.
    pub work: WorkDefinition,
    /// What it may do.
    #[serde(default)]
    pub governance: GovernanceDefinition,
    /// What all of its tasks may spend.
    #[serde(default)]
    pub budget: BudgetDefinition,
    /// What each task may spend.
    #[serde(default)]
    pub task_budget: BudgetDefinition,
    /// How much it does at the same time.
    #[serde(default)]
    pub limits: LimitDefinition,
    /// What it does by the clock.
    #[serde(default, rename = "job")]
    pub jobs: Vec<AgentJob>,
    /// Where it can be called.
    #[serde(default)]
    pub listen: ListenDefinition,
    /// Where it registers.
    #[serde(default, rename = "registry")]
    pub registries: Vec<RegistryDefinition>,
    /// What it was read from.
    #[serde(skip)]
    pub path: PathBuf,
}

/// What an agent does with a call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkDefinition {
    /// Offshoot's own agent does it in a workspace.
    Coder(CoderWork),
    /// It decides by its rules what other agents ask it.
    Rules,
}

/// How Offshoot's own agent works.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoderWork {
    /// The folder; that of the file by default.
    pub project: PathBuf,
    /// The workspace of all tasks. By default each has one of its own.
    pub workspace: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The provider, or `scripted:FILE`.
    pub provider: Option<String>,
    /// What it is told about its part.
    pub role: String,
    /// The hosts that its commands reach.
    pub hosts: Vec<String>,
    /// How often the model may answer before the task fails.
    pub max_turns: Option<u64>,
}

/// What an agent may do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GovernanceDefinition {
    /// Files of rules. Without any, governance lets everything through.
    pub rules: Vec<PathBuf>,
    /// Agents that hear of denials and escalations.
    pub tell: Vec<String>,
}

/// What may be spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetDefinition {
    tokens: Option<u64>,
    dollars: Option<Dollars>,
    time: Option<Span>,
    execs: Option<u64>,
}

/// How much an agent does at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitDefinition {
    concurrency: Option<usize>,
    queue: Option<usize>,
    task_time: Option<Span>,
}

/// What an agent does by the clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentJob {
    /// Names it.
    pub name: String,
    /// What is to be done.
    pub task: String,
    cron: Option<String>,
    zone: Option<String>,
    every: Option<Span>,
    at: Option<String>,
}

/// Where an agent can be called.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListenDefinition {
    /// The address; any port on loopback by default.
    pub address: String,
    /// Its certificate, and those between it and its authority, as PEM.
    pub certificate: Option<PathBuf>,
    /// The key of that, as PEM.
    pub key: Option<PathBuf>,
    /// Whose certificates of peers count, as PEM.
    pub authority: Option<PathBuf>,
    /// A table of names and tokens, as TOML.
    pub tokens: Option<PathBuf>,
    /// Who may look into it and answer its questions.
    pub operators: Option<Vec<String>>,
}

/// A registry.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistryDefinition {
    /// Where it is.
    pub address: String,
    /// Who signs its certificate, as PEM.
    #[serde(default)]
    pub authority: Option<PathBuf>,
}

impl Default for ListenDefinition {
    fn default() -> Self {
        Self {
            address: "tcp://127.0.0.1:0".to_owned(),
            certificate: None,
            key: None,
            authority: None,
            tokens: None,
            operators: None,
        }
    }
}

impl AgentDefinition {
    /// Reads the file of an agent.
    pub fn load(path: &Path) -> Result<Self, FleetError> {
        let unreadable = |why: std::io::Error| FleetError::file(path, why);
        let path = path.canonicalize().map_err(unreadable)?;
        let found = fs::metadata(&path).map_err(unreadable)?;
        if !found.is_file() || found.len() > LONGEST {
            return Err(FleetError::file(path, "not a file of at most 1 MiB"));
        }
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        Self::parse(&path, &text)
    }

    /// Reads the text of such a file. Paths in it start at the folder of this path.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FleetError> {
        let problem = |problem: String| FleetError::Definition { path: path.to_owned(), problem };
        let mut read: Self = toml::from_str(text)
            .map_err(|error| problem(error.to_string().trim_end().to_owned()))?;
        read.path = path.to_owned();
        read.place(path.parent().unwrap_or(Path::new("/")));
        check::check(&read).map_err(problem)?;
        Ok(read)
    }

    /// Has all paths start at the folder of the file.
    fn place(&mut self, folder: &Path) {
        let listen = &mut self.listen;
        let own =
            [&mut listen.certificate, &mut listen.key, &mut listen.authority, &mut listen.tokens];
        let registries = self.registries.iter_mut().map(|registry| &mut registry.authority);
        for path in own.into_iter().chain(registries).flatten() {
            *path = folder.join(&*path);
        }
        for path in &mut self.governance.rules {
            *path = folder.join(&*path);
        }
        if let WorkDefinition::Coder(work) = &mut self.work {
            work.project = folder.join(&work.project);
            let script = work.provider.as_deref().and_then(|it| it.split_once(':'));
            if let Some((how @ ("scripted" | "replay"), file)) = script {
                work.provider = Some(format!("{how}:{}", folder.join(file).display()));
            }
        }
    }

    /// Who may look into it.
    pub(crate) fn operators(&self) -> &[String] {
        static USUAL: std::sync::LazyLock<Vec<String>> =
            std::sync::LazyLock::new(|| vec!["operator".to_owned()]);
        let is_plain = self.listen.address.starts_with("tcp://");
        match &self.listen.operators {
            Some(operators) => operators,
            None if is_plain => &USUAL,
            None => &[],
        }
    }

    pub(crate) fn kernel_limits(&self) -> KernelLimits {
        let mut limits = KernelLimits::default();
        limits.concurrency = self.limits.concurrency.unwrap_or(4);
        limits.queue = self.limits.queue.unwrap_or(10_000);
        limits.task_ms = self.limits.task_time.map_or(60 * 60 * 1_000, |span| span.ms);
        limits
    }

    pub(crate) fn kernel_jobs(&self) -> Result<Vec<KernelJob>, String> {
        self.jobs.iter().map(AgentJob::kernel_job).collect()
    }
}

impl BudgetDefinition {
    /// As the kernel has it; nothing where nothing is limited.
    pub(crate) fn budget(&self) -> Option<Budget> {
        let budget = Budget {
            tokens: self.tokens,
            micros: self.dollars.map(|dollars| dollars.micros),
            ms: self.time.map(|time| time.ms),
            execs: self.execs,
        };
        (budget != Budget::default()).then_some(budget)
    }
}

impl AgentJob {
    fn kernel_job(&self) -> Result<KernelJob, String> {
        let schedule = match (&self.cron, self.every, &self.at) {
            (Some(cron), None, None) => {
                JobSchedule::cron(cron, self.zone.as_deref().unwrap_or("UTC"))
            }
            (None, Some(every), None) => JobSchedule::Every { ms: every.ms },
            (None, None, Some(at)) => JobSchedule::Once { at_ms: units::instant(at)? },
            _ => return Err(format!("job {}: give one of cron, every and at", self.name)),
        };
        if self.zone.is_some() && self.cron.is_none() {
            return Err(format!("job {}: zone belongs to cron", self.name));
        }
        let mut job = KernelJob::new(&self.name, schedule).missed(MissedRuns::RunOnce);
        job.body = crate::request::TaskRequest::task(&self.task).to_value();
        // The session of a run says what was done: it goes on where it was.
        job.promise = offshoot_kernel::DeliveryPromise::AtLeastOnce;
        job.check().map_err(|error| error.to_string())?;
        Ok(job)
    }
}

/// Names and tokens.
pub(crate) type TokenRows = BTreeMap<String, String>;
