//! An agent that is served.

mod rules;
mod start;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use offshoot_coder::CoderOptions;
use offshoot_engine::Project;
use offshoot_engine::id::Id;
use offshoot_governance::{
    GovernanceDecision, GovernanceDigest, GovernanceGate, GovernanceRequest, GovernanceVerdict,
    SensitivityClassifier,
};
use offshoot_kernel::{AgentKernel, AskedQuestion, LifeState};
use offshoot_protocol::ExecState;
use offshoot_registry::RegistryStanding;
use offshoot_transport::{PeerAddress, PeerServer};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::client::FleetClient;
use crate::courier::Asking;
use crate::definition::AgentDefinition;
use crate::error::FleetError;
use crate::listen::FleetSecret;
use crate::progress::{FleetProgress, Watched};
use crate::tell::Telling;

pub(crate) use self::rules::engine as rules;

/// What an agent is served with.
pub struct AgentServiceOptions {
    /// Its file.
    pub definition: AgentDefinition,
    /// The project that it works in, or in whose audit log its decisions are.
    pub project: Project,
    /// What Offshoot's own agent is started with; an agent of the kind `rules` has none.
    pub coder: Option<CoderOptions>,
    /// The model that is asked, as `PROVIDER/MODEL`.
    pub model: String,
    /// Where its journal is.
    pub state: PathBuf,
    /// What agents of this user share.
    pub secret: Option<FleetSecret>,
    /// Is told what happens. It must not block.
    pub listener: Arc<dyn Fn(&FleetProgress) + Send + Sync>,
}

/// An agent that runs: it takes calls, and does tasks. Dropped, it stops as in a crash, and goes on when it is started again.
pub struct AgentService {
    shared: Arc<Shared>,
    kernel: AgentKernel,
    server: Option<PeerServer>,
    client: Option<Arc<FleetClient>>,
    courier: JoinHandle<()>,
    _telling: Vec<Telling>,
}

/// What all tasks of an agent share.
pub(crate) struct Shared {
    pub(crate) definition: AgentDefinition,
    pub(crate) coder: Option<(Project, CoderOptions)>,
    pub(crate) project: Project,
    pub(crate) model: String,
    pub(crate) gate: GovernanceGate,
    pub(crate) classifier: SensitivityClassifier,
    pub(crate) watched: Watched,
    /// Held while a workspace is looked up and forked.
    pub(crate) forks: Arc<Mutex<()>>,
    /// What was escalated in which task. A task that goes on comes by the same request again; that is decided anew, and told once.
    pub(crate) escalated: Mutex<BTreeSet<(u64, GovernanceDigest)>>,
}

impl AgentService {
    /// Opens the journal, listens, registers, and goes on with what is open.
    pub async fn start(options: AgentServiceOptions) -> Result<Self, FleetError> {
        start::start(options).await
    }

    /// Where it can be called.
    pub fn address(&self) -> Option<&PeerAddress> {
        self.server.as_ref().map(PeerServer::address)
    }

    /// Its kernel.
    pub fn kernel(&self) -> &AgentKernel {
        &self.kernel
    }

    /// How each registry stands to it.
    pub fn registries(&self) -> Vec<RegistryStanding> {
        self.client.as_ref().map(|client| client.standing()).unwrap_or_default()
    }

    /// Waits until the agent stops by itself; the reason, if something went wrong.
    pub async fn stopped(&self) -> Option<FleetError> {
        let mut life = self.kernel.life();
        drop(life.wait_for(|life| *life == LifeState::Terminated).await);
        self.kernel.broken().map(FleetError::Journal)
    }

    /// Leaves the registries, takes nothing more, and stops. What is open goes on when it is started again.
    pub async fn stop(mut self, time: Duration) {
        if let Some(client) = &self.client {
            client.leave().await;
        }
        // Callers are told at once that it stops: they call again with their key.
        self.courier.abort();
        self.kernel.stop().await;
        if let Some(server) = self.server.take() {
            server.drain(time).await;
        }
    }

    /// Takes nothing more, finishes what was accepted, and stops for good: its journal is over.
    pub async fn retire(mut self, time: Duration) -> Result<(), FleetError> {
        if let Some(client) = &self.client {
            client.leave().await;
        }
        self.kernel.retire().await?;
        self.kernel.terminated().await?;
        if let Some(server) = self.server.take() {
            server.drain(time).await;
        }
        Ok(())
    }

    /// The file that it was started by.
    pub fn definition(&self) -> &AgentDefinition {
        &self.shared.definition
    }
}

impl Drop for AgentService {
    fn drop(&mut self) {
        self.courier.abort();
    }
}

impl fmt::Debug for AgentService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.shared.definition.name;
        formatter.debug_struct("AgentService").field("name", name).finish_non_exhaustive()
    }
}

impl Shared {
    /// Whether there are rules at all.
    pub(crate) fn is_governed(&self) -> bool {
        !self.definition.governance.rules.is_empty()
    }

    /// Decides about a request of a task. The observers are told, but for what was escalated before in this process and is still.
    pub(crate) fn decide(
        &self,
        request: &GovernanceRequest,
        of: (u64, GovernanceDigest),
    ) -> GovernanceVerdict {
        let mut escalated = self.escalated.lock().unwrap_or_else(PoisonError::into_inner);
        if escalated.contains(&of) {
            let verdict = self.gate.engine().decide(request);
            if matches!(verdict.decision, GovernanceDecision::Escalate(_)) {
                return verdict;
            }
        }
        let verdict = self.gate.decide(request, now_ms());
        if matches!(verdict.decision, GovernanceDecision::Escalate(_)) {
            escalated.insert(of);
        }
        verdict
    }

    /// Does what blocks elsewhere.
    pub(crate) async fn away<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> offshoot_engine::Result<T> + Send + 'static,
    ) -> offshoot_engine::Result<T> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| {
            let code = offshoot_protocol::ExitCode::Failure;
            Err(offshoot_engine::Error::new(code, format!("work broke off: {error}")))
        })
    }

    /// Writes an answer to the audit log, before it counts.
    pub(crate) async fn record_answer(
        &self,
        asked: &AskedQuestion,
        answer: &Value,
        by: &str,
    ) -> Result<(), String> {
        let (project, agent) = (self.project.clone(), self.definition.name.clone());
        let asking = serde_json::from_value::<Asking>(asked.question.details.clone()).ok();
        let word = match answer["grant"].as_bool() {
            Some(true) => "granted",
            Some(false) => "refused",
            None => "answered",
        };
        let what = asking.as_ref().map_or_else(
            || asked.question.key.clone(),
            |asking| format!("{} {}", asking.request.action, asking.request.target),
        );
        let summary = format!("{word} {what} (by {by})");
        let details = json!({ "question": asked.question.key, "answer": answer, "by": by, "request": asking.map(|it| it.request) });
        let record = move || project.record_governance(&agent, &summary, &details);
        self.away(record).await.map_err(|error| error.to_string())
    }

    /// What was decided about approvals of the vault; nothing as long as one is open.
    pub(crate) async fn decided(&self, ids: Vec<String>) -> Option<Value> {
        let project = self.project.clone();
        let look = move || {
            let mut grant = true;
            for id in ids.iter().filter_map(|id| id.parse::<Id>().ok()) {
                match project.envelope(&id)?.map(|it| it.result.state) {
                    None | Some(ExecState::PendingApproval) => return Ok(None),
                    Some(ExecState::Denied) => grant = false,
                    Some(_) => {}
                }
            }
            Ok(Some(json!({ "grant": grant, "reason": "decided in the vault" })))
        };
        // What cannot be read now is looked at again.
        self.away(look).await.ok().flatten()
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
