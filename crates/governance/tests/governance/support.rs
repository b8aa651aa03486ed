//! What several tests need.

use offshoot_governance::{
    GovernanceDecision, GovernanceEngine, GovernanceEvent, GovernanceLayer, GovernanceOptions,
    GovernanceRequest, GovernanceSource, GovernedAction, PolicyError,
};

pub(crate) fn source(layer: GovernanceLayer, text: &str) -> GovernanceSource {
    GovernanceSource::toml(layer, &format!("{layer}.toml"), &format!("version = 1\n{text}"))
}

pub(crate) fn user(text: &str) -> GovernanceSource {
    source(GovernanceLayer::User, text)
}

pub(crate) fn project(text: &str) -> GovernanceSource {
    source(GovernanceLayer::Project, text)
}

pub(crate) fn agent(text: &str) -> GovernanceSource {
    source(GovernanceLayer::Agent, text)
}

pub(crate) fn try_engine(sources: Vec<GovernanceSource>) -> Result<GovernanceEngine, PolicyError> {
    GovernanceEngine::new(&GovernanceOptions::of(sources))
}

pub(crate) fn engine(sources: Vec<GovernanceSource>) -> GovernanceEngine {
    try_engine(sources).unwrap()
}

/// A rule, with a first example that it fits.
pub(crate) fn rule(decision: &str, conditions: &str, example: &str) -> String {
    rule_named("r", decision, conditions, example)
}

pub(crate) fn rule_named(name: &str, decision: &str, conditions: &str, example: &str) -> String {
    format!(
        "[[rule]]\nname = \"{name}\"\ndecision = \"{decision}\"\n{conditions}\nmatches = [{example}]\n"
    )
}

pub(crate) fn tool(name: &str) -> GovernanceRequest {
    GovernanceRequest::new("helper", GovernedAction::UseTool, name)
}

pub(crate) fn word(engine: &GovernanceEngine, request: &GovernanceRequest) -> &'static str {
    match engine.decide(request).decision {
        GovernanceDecision::Allow => "allow",
        GovernanceDecision::Escalate(_) => "escalate",
        GovernanceDecision::Deny => "deny",
    }
}

/// An event that says whether a request was allowed.
pub(crate) fn event(number: u64, allowed: bool) -> GovernanceEvent {
    let rules = if allowed { "[defaults]\nuse_tool = \"allow\"\n" } else { "" };
    let request = tool(&format!("tool-{number}"));
    GovernanceEvent::decided(&request, &engine(vec![user(rules)]).decide(&request), number)
}
