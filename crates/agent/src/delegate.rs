//! Sub-agents: a part of the work is done by another agent, in a fork of the workspace and within narrower rights.

mod forks;
mod grant;
mod run;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use offshoot_provider::{Provider, ToolSpec};
use offshoot_scrub::Redactor;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

pub use self::forks::{ConversationLogs, ForkedWorkspace, MemoryLogs, MergedWork, WorkspaceForks};
pub use self::grant::{Grant, GrantWish, Narrowed};
use crate::agent::ProgressListener;
use crate::call::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, ConversationId,
    PlannedCall,
};
use crate::context::layers::PromptLayer;
use crate::settings::TurnSettings;
use crate::time::Clock;
use crate::tools::Tools;

/// The tool by which work is given to a sub-agent.
const TOOL: &str = "delegate";

/// What sub-agents are made of.
#[derive(Clone)]
pub struct DelegationParts {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Where their conversations are kept.
    pub logs: Arc<dyn ConversationLogs>,
    /// How their conversations go. Their limits are the lesser of these and what is left of the parent's.
    pub settings: TurnSettings,
    /// The layers of their system prompt. The task is added.
    pub layers: Vec<PromptLayer>,
    /// Who is told what they do.
    pub listener: Arc<dyn ProgressListener>,
    /// Who tells the time.
    pub clock: Arc<dyn Clock>,
    /// What takes credentials out of everything.
    pub redactor: Redactor,
}

/// Tools, and one more that gives work to a sub-agent.
pub struct Delegation {
    tools: Arc<dyn Tools>,
    forks: Arc<dyn WorkspaceForks>,
    grant: Grant,
    parts: DelegationParts,
    running: Arc<Running>,
}

/// How the sub-agents that run are asked to stop.
type Running = Mutex<BTreeMap<AgentCallKey, watch::Sender<bool>>>;

/// What a model writes to give work away.
#[derive(Debug, Deserialize)]
struct DelegatedTask {
    task: String,
    #[serde(flatten)]
    wish: GrantWish,
}

impl Delegation {
    /// Adds the tool `delegate` to tools that are limited to a grant, if the grant lets work be given away.
    pub fn new(
        tools: Arc<dyn Tools>,
        forks: Arc<dyn WorkspaceForks>,
        grant: Grant,
        parts: DelegationParts,
    ) -> Self {
        let tools: Arc<dyn Tools> = Arc::new(Narrowed::new(tools, grant.clone()));
        Self { tools, forks, grant, parts, running: Arc::default() }
    }

    fn is_own(&self, call: &PlannedCall) -> bool {
        self.grant.may_delegate() && call.call.name == TOOL
    }

    /// Starts the sub-agent of a call, or goes on with it.
    fn run(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        let (forks, parts, grant) = (self.forks.clone(), self.parts.clone(), self.grant.clone());
        let (running, key) = (Arc::clone(&self.running), call.key.clone());
        let (stop, stopped) = watch::channel(false);
        locked(&running).insert(key.clone(), stop);
        let run = async move {
            let reply = run::run(call, forks, (grant, parts), stopped).await;
            locked(&running).remove(&key);
            reply
        };
        run.boxed()
    }
}

impl Tools for Delegation {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        if self.grant.may_delegate() {
            specs.push(spec());
        }
        specs
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        if !self.is_own(call) {
            return self.tools.assess(call);
        }
        let permission = match serde_json::from_str::<DelegatedTask>(&call.call.arguments) {
            Ok(_) => CallPermission::Allowed,
            Err(error) => {
                CallPermission::Refused { why: format!("The arguments are wrong: {error}.") }
            }
        };
        Assessment { key: call.key.clone(), effect: CallEffect::Writes, permission }
    }

    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        match self.is_own(&call) {
            true => self.run(call),
            false => self.tools.call(call),
        }
    }

    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate> {
        if !self.is_own(&call) {
            return self.tools.outcome_of(call);
        }
        let logs = self.parts.logs.clone();
        let outcome = async move {
            let Ok(log) = logs.open(&conversation(&call.key)).await else {
                return CallFate::Unknown;
            };
            // Its own log says how far it came, and it goes on from there.
            match log.read(1).await {
                Ok(records) if records.is_empty() => CallFate::NotStarted,
                Ok(_) => CallFate::Running,
                Err(_) => CallFate::Unknown,
            }
        };
        outcome.boxed()
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        match self.is_own(&call) {
            true => self.run(call),
            false => self.tools.attach(call),
        }
    }

    fn stop(&self, keys: &[AgentCallKey]) {
        let running = locked(&self.running);
        keys.iter().filter_map(|key| running.get(key)).for_each(|stop| {
            stop.send_replace(true);
        });
        drop(running);
        self.tools.stop(keys);
    }

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        self.tools.finish()
    }
}

fn locked(running: &Running) -> MutexGuard<'_, BTreeMap<AgentCallKey, watch::Sender<bool>>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The conversation of the sub-agent that a call starts.
fn conversation(key: &AgentCallKey) -> ConversationId {
    ConversationId::new(key.as_str())
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: TOOL.to_owned(),
        description: "Give a part of the work to a sub-agent. It has a fork of the workspace and none of this conversation: say all that it needs to know. \
                      Its changes are merged when it is done, and its last words are the result."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "task": { "type": "string", "description": "What it is to do, and what it is to say at its end." },
                "tools": { "type": "array", "items": { "type": "string" }, "description": "The only tools that it may use; without this, all of yours." },
                "read_only": { "type": "boolean", "description": "Whether it may change nothing." },
                "steps": { "type": "integer", "minimum": 1, "description": "How many times it may answer." },
                "tokens": { "type": "integer", "minimum": 1, "description": "How many tokens it may use." }
            },
            "required": ["task"]
        }),
        cache: None,
    }
}
