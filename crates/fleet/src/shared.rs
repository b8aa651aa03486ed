//! What all tasks of an agent share.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use offshoot_coder::CoderOptions;
use offshoot_engine::Project;
use offshoot_engine::id::Id;
use offshoot_governance::{
    GovernanceDecision, GovernanceDigest, GovernanceGate, GovernanceRequest, GovernanceVerdict,
    SensitivityClassifier,
};
use offshoot_kernel::AskedQuestion;
use offshoot_protocol::ExecState;
use serde_json::{Value, json};

use crate::asking::Asking;
use crate::definition::AgentDefinition;
use crate::progress::Watched;

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
