//! What an agent asks for: policy, then the person in the editor.

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use serde_json::Value;

use crate::editor::{acp, initialize, open, place, prompt, run};

const RULES: &str = r#"version = 1
[[rule]]
name = "no-deploy"
decision = "deny"
prefix = ["deploy"]
reason = "a person deploys"
"#;

/// What the agent was told about commands, how many questions there were, and what the audit log says.
fn asked(
    options: &[&str],
    option: &'static str,
    script: &'static str,
) -> (String, usize, Vec<String>) {
    let place = place();
    place.write("offshoot-policy.toml", RULES);
    let project = place.project();
    let (seen, _, _) = run(&place, &acp(options, &[]), option, async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        prompt(&agent, &session, script).await.unwrap();
        let questions = seen.questions.lock().unwrap().len();
        (seen.said(), questions)
    });
    (seen.0, seen.1, recorded(&place))
}

fn recorded(place: &Place) -> Vec<String> {
    let log = place.ok(["audit", "log", "--json", "--kind", "permission"]);
    let events =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].take());
    let mut words: Vec<String> = events
        .map(|event| {
            let detail = &event["details"];
            format!("{} {} {}", detail["by"], detail["decision"], detail["command"])
                .replace('"', "")
        })
        .collect();
    words.sort();
    words
}

const YES: &str = r#"{"outcome": {"outcome": "selected", "optionId": "yes"}}"#;
const NO: &str = r#"{"outcome": {"outcome": "selected", "optionId": "no"}}"#;

#[needs(UserNamespace, "python3")]
#[test]
fn policy_denies_and_the_editor_decides_about_the_rest() {
    let (said, questions, log) = asked(&[], "yes", "permit deploy now\npermit ls");
    assert_eq!(said, format!("{NO}\n{YES}"));
    assert_eq!(questions, 1);
    assert_eq!(log, ["editor allow_once ls", "policy deny deploy now"]);
    let (said, _, log) = asked(&[], "no", "permit ls");
    assert_eq!(said, NO);
    assert_eq!(log, ["editor reject_once ls"]);
}

#[needs(UserNamespace, "python3")]
#[test]
fn what_policy_allows_can_be_allowed_at_once() {
    let (said, questions, log) = asked(&["--auto-allow"], "no", "permit ls\npermit deploy");
    assert_eq!(said, format!("{YES}\n{NO}"));
    assert_eq!(questions, 0);
    assert_eq!(log, ["policy allow_once ls", "policy deny deploy"]);
    // A title may be prose: it is enough to deny, and not to allow.
    let (said, questions, log) = asked(&["--auto-allow"], "yes", "titled ls\ntitled deploy");
    assert_eq!((said, questions), (format!("{YES}\n{NO}"), 1));
    assert_eq!(log, ["editor allow_once ls", "policy deny deploy"]);
}

#[needs(UserNamespace, "python3")]
#[test]
fn what_needs_a_person_is_asked_with_the_reason() {
    let place = place();
    place.write("offshoot-policy.toml", RULES.replace("\"deny\"", "\"require_approval\""));
    let project = place.project();
    run(&place, &acp(&["--auto-allow"], &[]), "allow_once", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        // A title may be prose, which is tried all the same.
        prompt(&agent, &session, "permit deploy\ntitled deploy").await.unwrap();
        assert_eq!(seen.said(), format!("{YES}\n{YES}"));
        for question in &*seen.questions.lock().unwrap() {
            let question = format!("{question:?}");
            assert!(question.contains("leaves this to a person: a person deploys"), "{question}");
        }
        assert_eq!(seen.questions.lock().unwrap().len(), 2);
    });
    assert_eq!(recorded(&place), ["editor allow_once deploy", "editor allow_once deploy"]);
}

#[needs(UserNamespace, "python3")]
#[test]
fn an_agent_that_policy_denies_is_not_started() {
    let place = place();
    place.write("offshoot-policy.toml", RULES.replace("[\"deploy\"]", "[\"python3\"]"));
    run(&place, &acp(&[], &[]), "yes", async move |agent, _| {
        let refused = initialize(&agent).await.unwrap_err();
        assert!(
            refused.message.contains("policy does not let python3 start: a person deploys"),
            "{}",
            refused.message
        );
    });
    assert_eq!(place.json(&["execs"])["execs"], serde_json::json!([]));
}
