//! What governance decides about what the agent does.

use std::sync::Arc;

use offshoot_coder::PendingQuestion;
use offshoot_governance::{
    EscalationFallback, EscalationTerms, GovernanceDecision, GovernanceRequest, GovernanceVerdict,
    GovernedAction,
};
use offshoot_kernel::{TaskContext, TaskFailure, TaskQuestion};
use offshoot_tool::{CallPolicy, CallVerdict, Capability, Effects, ToolContract};
use serde_json::{Value, json};

use crate::asking::Asking;
use crate::shared::Shared;

/// Judges the tools that a task calls.
pub(crate) struct Governed {
    shared: Arc<Shared>,
    task: u64,
}

impl Governed {
    pub(crate) fn new(shared: Arc<Shared>, task: u64) -> Self {
        Self { shared, task }
    }
}

impl CallPolicy for Governed {
    fn judge(&self, contract: &ToolContract, arguments: &Value) -> CallVerdict {
        // What only reads reaches nobody, but for pages.
        let reaches = contract.capabilities.contains(&Capability::NETWORK);
        if !self.shared.is_governed() || contract.effects == Effects::Reads && !reaches {
            return CallVerdict::Allow;
        }
        let request = request(&self.shared, &contract.name, arguments);
        let verdict = self.shared.decide(&request, (self.task, request.digest()));
        let reason = reason(&verdict);
        match verdict.decision {
            GovernanceDecision::Allow => CallVerdict::Allow,
            GovernanceDecision::Escalate(_) => CallVerdict::Ask { reason },
            GovernanceDecision::Deny => {
                let reason = format!("{reason} (task {})", self.task);
                CallVerdict::Deny { reason, instead: None }
            }
        }
    }
}

/// The use of a tool, as governance sees it: the target is the tool, and for commands what is run.
fn request(shared: &Shared, tool: &str, arguments: &Value) -> GovernanceRequest {
    let what = ["command", "argv", "path", "url"].iter().find_map(|key| match &arguments[*key] {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(words.join(" "))
        }
        _ => None,
    });
    let target = match what {
        Some(what) => format!("{tool}:{what}"),
        None => tool.to_owned(),
    };
    let text = arguments.to_string();
    let sensitivity = shared.classifier.classify(&text, &Default::default());
    GovernanceRequest::new(&shared.definition.name, GovernedAction::UseTool, &target)
        .with_intent("do a task")
        .with_sensitivity(sensitivity)
        .with_cost(0)
}

fn reason(verdict: &GovernanceVerdict) -> String {
    format!("{} (rule {})", verdict.reason, verdict.rule.name)
}

/// Whether a model may be asked about a task at all. It is decided once, before anything of it is sent.
pub(crate) async fn model(
    shared: &Arc<Shared>,
    task: &TaskContext,
    text: &str,
) -> Result<(), TaskFailure> {
    if !shared.is_governed() {
        return Ok(());
    }
    let sensitivity = shared.classifier.classify(text, &Default::default());
    let model = shared.model.clone();
    let request = GovernanceRequest::new(&shared.definition.name, GovernedAction::AskModel, &model)
        .with_intent("do a task")
        .with_sensitivity(sensitivity)
        .with_cost(0);
    let verdict = shared.decide(&request, (task.id().0, request.digest()));
    let why = reason(&verdict);
    match verdict.decision {
        GovernanceDecision::Allow => Ok(()),
        GovernanceDecision::Deny => Err(TaskFailure::Fatal(why)),
        GovernanceDecision::Escalate(terms) => {
            let answer = task.ask(ask("model", &why, &request, &terms)).await?;
            match answer["grant"].as_bool() {
                Some(true) => Ok(()),
                _ => Err(TaskFailure::Fatal(denied(&answer, &why))),
            }
        }
    }
}

fn denied(answer: &Value, why: &str) -> String {
    let reason = answer["reason"].as_str().unwrap_or("nobody answered in time");
    format!("{why}: {reason}")
}

/// What is asked about a call of a tool that was escalated.
pub(crate) fn question(shared: &Shared, waiting: &PendingQuestion) -> TaskQuestion {
    let arguments = serde_json::from_str(&waiting.arguments).unwrap_or(Value::Null);
    let request = request(shared, &waiting.tool, &arguments);
    // The rules are those that escalated it, and they do not change while the process runs. After a restart with others, the new ones count.
    let verdict = shared.gate.engine().decide(&request);
    let terms = match verdict.decision {
        GovernanceDecision::Escalate(terms) => terms,
        GovernanceDecision::Allow | GovernanceDecision::Deny => EscalationTerms::default(),
    };
    ask(waiting.key.as_str(), &waiting.text, &request, &terms)
}

fn ask(
    key: &str,
    text: &str,
    request: &GovernanceRequest,
    terms: &EscalationTerms,
) -> TaskQuestion {
    let asking = Asking { ask: terms.ask.clone(), request: request.clone() };
    let grant = terms.fallback == EscalationFallback::Allow;
    let fallback = json!({ "grant": grant, "reason": "nobody answered in time" });
    TaskQuestion { details: json!(asking), ..TaskQuestion::new(key, text) }
        .fallback(terms.within_s.saturating_mul(1_000), fallback)
}

/// What this agent says to another one that asks whether it may do something.
pub(crate) async fn decide(
    shared: &Arc<Shared>,
    task: &TaskContext,
    request: &GovernanceRequest,
) -> Result<Value, TaskFailure> {
    let verdict = shared.decide(request, (task.id().0, request.digest()));
    let why = reason(&verdict);
    let (grant, why) = match verdict.decision {
        GovernanceDecision::Allow => (true, why),
        GovernanceDecision::Deny => (false, why),
        GovernanceDecision::Escalate(terms) => {
            let answer = task.ask(ask("decide", &why, request, &terms)).await?;
            let grant = answer["grant"].as_bool() == Some(true);
            (grant, denied(&answer, &why))
        }
    };
    let digest = request.digest().to_string();
    Ok(json!({ "grant": grant, "reason": why, "digest": digest }))
}
