//! What an agent is started with.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::{AgentProgress, ProgressListener, TurnLimits, TurnSettings};
use offshoot_provider::Provider;
use offshoot_scrub::Redactor;
use offshoot_tool::{CallPolicy, Capabilities, ToolRegistry};

/// What an agent is started with.
#[derive(Clone)]
pub struct CoderOptions {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) settings: TurnSettings,
    pub(crate) registry: Arc<ToolRegistry>,
    pub(crate) capabilities: Capabilities,
    pub(crate) hosts: Vec<String>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) listener: Arc<dyn ProgressListener>,
    pub(crate) name: Option<String>,
    pub(crate) depth: u32,
    pub(crate) redactor: Redactor,
    pub(crate) policy: Option<Arc<dyn CallPolicy>>,
    pub(crate) role: String,
    pub(crate) has_person: bool,
}

impl CoderOptions {
    /// This model of a provider, with the built-in tools, all capabilities and the usual limits. Nobody listens, and no host can be reached.
    pub fn new(provider: impl Provider + 'static, model: &str) -> Self {
        Self::shared(Arc::new(provider), TurnSettings::new(model))
    }

    /// The same with a provider that others may ask too, and the settings of the conversation.
    pub fn shared(provider: Arc<dyn Provider>, settings: TurnSettings) -> Self {
        Self {
            provider,
            settings,
            registry: Arc::new(ToolRegistry::builtin()),
            capabilities: Capabilities::all(),
            hosts: Vec::new(),
            directory: None,
            listener: Arc::new(|_: AgentProgress| ()),
            name: None,
            depth: 1,
            redactor: Redactor::default(),
            policy: None,
            role: String::new(),
            has_person: true,
        }
    }

    /// Other tools than the built-in ones.
    #[must_use]
    pub fn registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = Arc::new(registry);
        self
    }

    /// What calls may use.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The hosts that calls may reach, as they stand behind `--net allow=`.
    #[must_use]
    pub fn hosts(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// The folder of the host in which the agent works: the project's, or one below it.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Who is told what happens.
    #[must_use]
    pub fn listener(mut self, listener: impl ProgressListener + 'static) -> Self {
        self.listener = Arc::new(listener);
        self
    }

    /// What the session is called; without it, a name is made.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What takes credentials out of all that the model and the log get; without it, those that look like one are.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// What judges calls, besides the policy that commands are judged by. Sub-agents have the same.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn CallPolicy>) -> Self {
        self.policy = Some(policy);
        self
    }

    /// What the agent is told about its part, behind what every agent is told.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.role = role.into();
        self
    }

    /// No person decides about calls: who allows one does not approve what the user's policy stops.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.has_person = false;
        self
    }

    /// No limits above these.
    #[must_use]
    pub fn within(mut self, limits: TurnLimits) -> Self {
        self.settings.limits = self.settings.limits.meet(limits);
        self
    }

    /// How many sub-agents may stand below one another; none with 0.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }
}

impl std::fmt::Debug for CoderOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CoderOptions").field("settings", &self.settings).finish_non_exhaustive()
    }
}
