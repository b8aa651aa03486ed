//! Tools in a workspace, for the turns of an agent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use offshoot_agent::{
    AgentCallKey, Assessment, CallEffect, CallFate, CallPermission, CallReply, CallReport,
    PlannedCall, Tools,
};
use offshoot_engine::approval::Approving;
use offshoot_engine::id::Id;
use offshoot_engine::session::{CallState, RecordedCall};
use offshoot_provider::{CallBlock, ToolSpec};
use offshoot_tool::{CallContext, CallOutcome, Capabilities, Effects, ToolHost, ToolRegistry};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::options::CoderOptions;

/// Tools whose calls the vault records: what became of them is known after a crash.
const RECORDED: [&str; 3] = ["run_command", "write_file", "edit_file"];
/// How often a call of another process is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// The tools of a registry in a workspace. Calls are recorded in the session of the host.
#[derive(Clone)]
pub struct WorkspaceTools(Arc<Inner>);

struct Inner {
    registry: Arc<ToolRegistry>,
    host: Arc<ToolHost>,
    capabilities: Capabilities,
    /// Whether who allows a call is a person, who may approve.
    has_person: bool,
    running: Mutex<BTreeMap<AgentCallKey, CancellationToken>>,
}

impl WorkspaceTools {
    /// The tools of a registry that somebody with these capabilities can call.
    pub fn new(
        registry: Arc<ToolRegistry>,
        host: Arc<ToolHost>,
        capabilities: Capabilities,
    ) -> Self {
        Self::with(registry, host, capabilities, true)
    }

    /// Those that an agent is started with.
    pub(crate) fn of(host: Arc<ToolHost>, options: &CoderOptions) -> Self {
        let (registry, capabilities) =
            (Arc::clone(&options.registry), options.capabilities.clone());
        Self::with(registry, host, capabilities, options.has_person)
    }

    fn with(
        registry: Arc<ToolRegistry>,
        host: Arc<ToolHost>,
        capabilities: Capabilities,
        has_person: bool,
    ) -> Self {
        let running = Mutex::default();
        Self(Arc::new(Inner { registry, host, capabilities, has_person, running }))
    }
}

impl Inner {
    fn effect(&self, call: &PlannedCall) -> CallEffect {
        let Some(spec) = self.registry.get(&call.call.name) else { return CallEffect::Writes };
        match spec.effects {
            Effects::Reads => CallEffect::Reads,
            Effects::Runs if self.only_reads(call) => CallEffect::Reads,
            _ => CallEffect::Writes,
        }
    }

    /// Whether a command is asked to change nothing, and to reach nobody.
    fn only_reads(&self, call: &PlannedCall) -> bool {
        let CallBlock { name, arguments, .. } = &call.call;
        let Some(value) = self.registry.arguments(name, arguments) else { return false };
        let reaches = value["allow_hosts"].as_array().is_some_and(|hosts| !hosts.is_empty());
        value["read_only"] == Value::Bool(true) && !reaches
    }

    /// Makes a call that can be stopped.
    async fn make(&self, call: &PlannedCall) -> CallReply {
        let stop = self.begin(&call.key);
        let reply = self.make_until(call, &stop).await;
        self.running().remove(&call.key);
        reply
    }

    /// What stops a call from now on.
    fn begin(&self, key: &AgentCallKey) -> CancellationToken {
        let stop = CancellationToken::new();
        self.running().insert(key.clone(), stop.clone());
        stop
    }

    /// Makes a call until it is stopped. A person who allowed it has decided about its approval, too.
    async fn make_until(&self, call: &PlannedCall, stop: &CancellationToken) -> CallReply {
        let mut may_approve = call.approved && self.has_person;
        loop {
            if stop.is_cancelled() {
                return CallReply::Done(CallReport::failure("cancelled"));
            }
            let context = CallContext::new(Arc::clone(&self.host), call.key.as_str())
                .capabilities(self.capabilities.clone())
                .approved(call.approved)
                .cancel(stop.clone());
            let outcome = self.registry.call(&call.call.name, &call.call.arguments, context).await;
            let needed = match outcome {
                CallOutcome::Done(result) => {
                    let report = CallReport::text(result.text);
                    return CallReply::Done(CallReport { failed: result.failed, ..report });
                }
                CallOutcome::AskUser(asked) => {
                    let (question, choices) = (asked.question, asked.choices);
                    return CallReply::Asks { question, choices };
                }
                CallOutcome::Fatal(fatal) => return CallReply::Broken { why: fatal.to_string() },
                CallOutcome::NeedsApproval(needed) => needed,
            };
            let approval = needed.approval.filter(|_| std::mem::take(&mut may_approve));
            let Some(approval) = approval else {
                return CallReply::NeedsApproval { why: needed.text };
            };
            if let Err(error) = self.approve(approval).await {
                return self.not_approved(approval, &needed.text, &error).await;
            }
        }
    }

    /// What comes of an approval that did not work: as long as it waits in the vault, the person is asked again.
    async fn not_approved(&self, id: Id, asked: &str, error: &str) -> CallReply {
        let project = self.host.workspace().project().clone();
        let pending = move || project.pending().map(|all| all.iter().any(|it| it.id == id));
        match tokio::task::spawn_blocking(pending).await {
            Ok(Ok(true)) => CallReply::NeedsApproval {
                why: format!(
                    "{}\nIt was approved, and that did not work: {error}. It still waits.",
                    asked.trim_end()
                ),
            },
            _ => {
                let why = format!("It was approved, and that did not work: {error}");
                CallReply::Done(CallReport::failure(why))
            }
        }
    }

    async fn approve(&self, id: Id) -> Result<(), String> {
        let project = self.host.workspace().project().clone();
        let approve = move || -> Result<(), offshoot_engine::Error> {
            let pending = project.pending()?;
            if let Some(approval) = pending.iter().find(|approval| approval.id == id) {
                project.approve(approval, &Approving::default())?;
            }
            Ok(())
        };
        let done = tokio::task::spawn_blocking(approve).await;
        done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// What the vault has of a call.
    async fn recorded(&self, call: &PlannedCall) -> Result<Option<RecordedCall>, String> {
        let context = CallContext::new(Arc::clone(&self.host), call.key.as_str());
        let Some(key) = context.key() else { return Ok(None) };
        let project = self.host.workspace().project().clone();
        let found = tokio::task::spawn_blocking(move || project.call(&key)).await;
        found.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    async fn fate(&self, call: &PlannedCall) -> CallFate {
        let is_recorded = RECORDED.contains(&call.call.name.as_str());
        let has_session = CallContext::new(Arc::clone(&self.host), call.key.as_str()).key();
        match self.recorded(call).await {
            Err(_) => CallFate::Unknown,
            Ok(None) if is_recorded && has_session.is_some() => CallFate::NotStarted,
            Ok(None) => CallFate::Unknown,
            Ok(Some(found)) => match found.state {
                CallState::Running => CallFate::Running,
                CallState::Changed => {
                    let text = format!("the files were changed, as operation {}", found.id);
                    CallFate::Done { report: CallReport::text(text) }
                }
                // The tool tells what is recorded, and does nothing again.
                CallState::Ended | CallState::Interrupted => match self.make(call).await {
                    CallReply::Done(report) => CallFate::Done { report },
                    // It has to be asked about; a call does that.
                    _ => CallFate::NotStarted,
                },
            },
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<AgentCallKey, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for WorkspaceTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let specs = self.0.registry.contracts_for(&self.0.capabilities);
        let of = |spec: &&offshoot_tool::ToolContract| ToolSpec {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: spec.schema.clone(),
            cache: None,
        };
        specs.iter().map(of).collect()
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        let (key, effect) = (call.key.clone(), self.0.effect(call));
        Assessment { key, effect, permission: CallPermission::Allowed }
    }

    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        let inner = Arc::clone(&self.0);
        async move { inner.make(&call).await }.boxed()
    }

    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate> {
        let inner = Arc::clone(&self.0);
        async move { inner.fate(&call).await }.boxed()
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        let inner = Arc::clone(&self.0);
        let attached = async move {
            let stop = inner.begin(&call.key);
            while let Ok(Some(found)) = inner.recorded(&call).await {
                if found.state != CallState::Running || stop.is_cancelled() {
                    break;
                }
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
            let reply = inner.make_until(&call, &stop).await;
            inner.running().remove(&call.key);
            reply
        };
        attached.boxed()
    }

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        let host = Arc::clone(&self.0.host);
        async move { host.finish().await }.boxed()
    }

    fn stop(&self, keys: &[AgentCallKey]) {
        let running = self.0.running();
        keys.iter().filter_map(|key| running.get(key)).for_each(CancellationToken::cancel);
    }
}
