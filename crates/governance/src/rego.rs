//! Modules of Rego about requests.

use std::sync::Arc;
use std::time::Duration;

use offshoot_policy::{NamedText, Problem, RegoModule, RegoQuestions};
use serde_json::{Value, json};

use crate::decision::{
    EscalationFallback, EscalationTarget, EscalationTerms, GovernanceDecision, LONGEST_ESCALATION_S,
};
use crate::options::GovernanceLayer;
use crate::request::GovernanceRequest;
use crate::rules::layer::Opinion;
use crate::verdict::GovernanceRule;

const QUESTIONS: RegoQuestions = RegoQuestions {
    package: "offshoot.governance",
    deciding: &["decision", "deny", "escalate"],
    besides: &["reason", "ask", "within_s", "fallback"],
};

/// A module of a layer.
#[derive(Debug)]
pub(crate) struct RegoRules {
    pub(crate) layer: GovernanceLayer,
    file: Arc<str>,
    module: RegoModule,
    /// What an escalation says where the module does not.
    terms: EscalationTerms,
}

/// What a module wants.
#[derive(Debug, Default)]
pub(crate) struct Wish {
    /// What it decides; in the user's layer this may widen.
    pub(crate) decision: Option<Opinion>,
    /// What is at least to be decided.
    pub(crate) floor: Option<Opinion>,
}

impl RegoRules {
    pub(crate) fn load(
        layer: GovernanceLayer,
        file: &NamedText,
        terms: EscalationTerms,
    ) -> Result<Self, Problem> {
        let module = RegoModule::load(file, QUESTIONS)?;
        Ok(Self { layer, file: Arc::from(file.name.as_str()), module, terms })
    }

    /// What it defines in vain.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.module.warnings().iter().map(|warning| format!("{}: {warning}", self.file))
    }

    /// Asks what it wants. What goes wrong is a denial.
    pub(crate) fn ask(
        &self,
        request: &GovernanceRequest,
        stands: &GovernanceDecision,
        timeout: Duration,
    ) -> Wish {
        self.wish(request, stands, timeout).unwrap_or_else(|why| {
            let floor = self.opinion("", GovernanceDecision::Deny, Some(why));
            Wish { decision: None, floor: Some(floor) }
        })
    }

    fn wish(
        &self,
        request: &GovernanceRequest,
        stands: &GovernanceDecision,
        timeout: Duration,
    ) -> Result<Wish, String> {
        let values = self.module.ask(document(request, stands), timeout)?;
        let text = |name: &str| match values.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`{name}` is no text")),
        };
        let terms = self.terms(text("ask")?, values.get("within_s"), text("fallback")?)?;
        let decision = match text("decision")?.as_deref() {
            None => None,
            Some("allow") => Some(GovernanceDecision::Allow),
            Some("escalate") => Some(GovernanceDecision::Escalate(terms.clone())),
            Some("deny") => Some(GovernanceDecision::Deny),
            Some(other) => {
                return Err(format!(
                    "`decision` is `{other}`, which is none of allow, escalate, deny"
                ));
            }
        };
        let reason = text("reason")?;
        let mut floor = None;
        for (name, decision) in
            [("deny", GovernanceDecision::Deny), ("escalate", GovernanceDecision::Escalate(terms))]
        {
            let messages = messages(name, values.get(name))?;
            if floor.is_none() && !messages.is_empty() {
                floor = Some(self.opinion(name, decision, Some(messages.join("; "))));
            }
        }
        let decision = decision.map(|decision| self.opinion("decision", decision, reason));
        Ok(Wish { decision, floor })
    }

    fn terms(
        &self,
        ask: Option<String>,
        within_s: Option<&Value>,
        fallback: Option<String>,
    ) -> Result<EscalationTerms, String> {
        let mut terms = self.terms.clone();
        if let Some(ask) = ask {
            terms.ask = EscalationTarget::try_from(ask)?;
        }
        if let Some(value) = within_s {
            let seconds = value.as_u64().filter(|s| (1..=LONGEST_ESCALATION_S).contains(s));
            let why = || format!("`within_s` is {value}, and not 1 to {LONGEST_ESCALATION_S}");
            terms.within_s = seconds.ok_or_else(why)?;
        }
        if let Some(fallback) = fallback {
            let why = || format!("`fallback` is `{fallback}`, and neither allow nor deny");
            terms.fallback = EscalationFallback::parse(&fallback).ok_or_else(why)?;
        }
        Ok(terms)
    }

    fn opinion(&self, name: &str, decision: GovernanceDecision, reason: Option<String>) -> Opinion {
        let dot = if name.is_empty() { "" } else { "." };
        let rule = GovernanceRule {
            layer: self.layer,
            name: format!("data.{}{dot}{name}", QUESTIONS.package),
            file: Some(Arc::clone(&self.file)),
            reason,
        };
        Opinion { decision, rule: Arc::new(rule), explicit: true }
    }
}

/// The document that Rego sees as `input`.
fn document(request: &GovernanceRequest, stands: &GovernanceDecision) -> Value {
    json!({
        "version": 1,
        "decision": stands.as_str(),
        "agent": request.agent,
        "intent": request.intent,
        "action": request.action.as_str(),
        "target": request.target,
        "sensitivity": request.sensitivity.as_str(),
        "sensitivity_level": request.sensitivity as u8,
        "labels": request.labels,
        "cost": request.cost,
    })
}

fn messages(name: &str, value: Option<&Value>) -> Result<Vec<String>, String> {
    let wrong = || format!("`{name}` is no set of texts");
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(messages)) => messages
            .iter()
            .map(|message| message.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}
