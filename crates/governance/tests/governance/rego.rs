//! Modules of Rego.

use std::time::{Duration, Instant};

use offshoot_governance::{
    DataSensitivity, GovernanceDecision, GovernanceEngine, GovernanceLayer, GovernanceOptions,
    GovernanceSource,
};

use crate::support::{engine, project, rule, tool, try_engine, user, word};

fn rego(layer: GovernanceLayer, text: &str) -> GovernanceSource {
    let text = format!("package offshoot.governance\n{text}");
    GovernanceSource::rego(layer, &format!("{layer}.rego"), &text)
}

fn of_user(text: &str) -> GovernanceSource {
    rego(GovernanceLayer::User, text)
}

const ALLOW: &str = "[defaults]\nuse_tool = \"allow\"\n";

/// A machine that does other things gives a module more than the usual time.
fn patient(sources: Vec<GovernanceSource>) -> GovernanceEngine {
    let options = GovernanceOptions {
        rego_timeout: Duration::from_secs(20),
        ..GovernanceOptions::of(sources)
    };
    GovernanceEngine::new(&options).unwrap()
}

#[test]
fn a_module_of_the_user_widens_what_is_built_in_and_nothing_else() {
    let module = "decision := \"allow\" if input.target == \"a\"";
    let engine = patient(vec![of_user(module)]);
    assert_eq!((word(&engine, &tool("a")), word(&engine, &tool("b"))), ("allow", "deny"));
    let verdict = engine.decide(&tool("a"));
    assert_eq!(verdict.rule.name, "data.offshoot.governance.decision");
    // Not more sensitive data than a rule without `max_sensitivity` would.
    let secret = tool("a").with_sensitivity(DataSensitivity::Confidential);
    assert_eq!(word(&engine, &secret), "deny");
    // Not what the user's own rules say.
    for own in [
        rule("deny", "target = \"a\"", "{ action = \"use_tool\", target = \"a\" }"),
        "[defaults]\nuse_tool = \"deny\"\n".to_owned(),
    ] {
        assert_eq!(word(&patient(vec![user(&own), of_user(module)]), &tool("a")), "deny");
    }
    // And no module of another layer.
    let project = rego(GovernanceLayer::Project, module);
    assert_eq!(word(&patient(vec![project]), &tool("a")), "deny");
}

#[test]
fn everywhere_modules_narrow() {
    for layer in [GovernanceLayer::User, GovernanceLayer::Project, GovernanceLayer::Agent] {
        for (module, decision, reason) in [
            ("deny contains \"not this\" if input.target == \"a\"", "deny", "not this"),
            ("escalate contains \"ask\" if input.cost == null", "escalate", "ask"),
            ("decision := \"deny\"\nreason := \"never\"", "deny", "never"),
            ("decision := \"escalate\"\nask := \"agent:g\"", "escalate", ""),
            ("decision := \"allow\"", "allow", ""),
            ("other := 1\ndecision := \"deny\" if input.agent == \"x\"", "allow", ""),
        ] {
            let verdict = patient(vec![user(ALLOW), rego(layer, module)]).decide(&tool("a"));
            assert_eq!(verdict.decision.as_str(), decision, "{layer} {module}");
            assert!(verdict.reason.contains(reason), "{}", verdict.reason);
        }
    }
}

#[test]
fn terms_can_be_said() {
    let module =
        "escalate contains \"x\"\nask := \"agent:g\"\nwithin_s := 7\nfallback := \"allow\"";
    let decided = patient(vec![user(ALLOW), of_user(module)]).decide(&tool("a")).decision;
    let GovernanceDecision::Escalate(terms) = decided else { panic!("{decided:?}") };
    assert_eq!((terms.ask.to_string().as_str(), terms.within_s), ("agent:g", 7));
    assert_eq!(terms.fallback.as_str(), "allow");
    // What a module does not say its file of rules does.
    let mut both = user("[escalation]\nask = \"person:desk\"\n[defaults]\nuse_tool = \"allow\"\n");
    both.rego = of_user("escalate contains \"x\"").rego;
    let decided = patient(vec![both]).decide(&tool("a")).decision;
    let GovernanceDecision::Escalate(terms) = decided else { panic!("{decided:?}") };
    assert_eq!(terms.ask.to_string(), "person:desk");
}

#[test]
fn modules_see_the_whole_request() {
    let module = r#"
        default decision := "deny"
        decision := "allow" if {
            input.version == 1
            input.agent == "helper"
            input.intent == "look"
            input.action == "use_tool"
            input.target == "a"
            input.sensitivity == "internal"
            input.sensitivity_level == 1
            input.labels == ["x", "y"]
            input.cost == 5
            input.decision == "deny"
        }"#;
    let request = tool("a").with_intent("look").with_label("y").with_label("x").with_cost(5);
    assert_eq!(word(&patient(vec![of_user(module)]), &request), "allow");
    assert_eq!(word(&patient(vec![of_user(module)]), &request.with_cost(6)), "deny");
}

#[test]
fn whatever_goes_wrong_is_a_denial() {
    for module in [
        "decision := \"maybe\"",
        "decision := 1",
        "deny := \"text\"",
        "deny contains 1",
        "escalate contains \"x\"\nask := \"nobody\"",
        "escalate contains \"x\"\nwithin_s := 0",
        "escalate contains \"x\"\nfallback := \"maybe\"",
        "decision := \"allow\"\ndecision := \"deny\"",
    ] {
        let engine = patient(vec![user(ALLOW), of_user(module)]);
        assert_eq!(word(&engine, &tool("a")), "deny", "{module}");
    }
}

#[test]
fn time_is_limited() {
    let module = "decision := \"allow\" if count([1 | some i in numbers.range(1, 99999); some j in numbers.range(1, 99999); i == j + 1]) == 0";
    let options = GovernanceOptions {
        rego_timeout: Duration::from_millis(20),
        ..GovernanceOptions::of(vec![user(ALLOW), of_user(module)])
    };
    let engine = GovernanceEngine::new(&options).unwrap();
    let started = Instant::now();
    let verdict = engine.decide(&tool("a"));
    assert_eq!(verdict.decision, GovernanceDecision::Deny);
    assert!(
        verdict.reason.contains("time limit") || verdict.reason.contains("longer"),
        "{}",
        verdict.reason
    );
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn bad_modules_are_no_modules() {
    for (text, message) in [
        ("package offshoot\ndecision := \"allow\"", "write `package offshoot.governance`"),
        ("package offshoot.governance\ndecision :=", "user.rego:"),
    ] {
        let source = GovernanceSource::rego(GovernanceLayer::User, "user.rego", text);
        let error = try_engine(vec![source]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let slip = engine(vec![project(""), of_user("decsion := \"allow\"")]);
    assert_eq!(slip.warnings().len(), 2, "{:?}", slip.warnings());
    assert!(slip.warnings()[1].contains("is `decision` meant?"));
}
