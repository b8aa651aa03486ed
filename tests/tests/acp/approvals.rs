//! Commands that policy leaves to a person: tried first, and decided in the editor or elsewhere.

use std::fs;
use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema::{CancelNotification, StopReason};
use offshoot_needs::needs;
use offshoot_tests::product::Place;
use serde_json::Value;

use crate::editor::{LATER, acp, initialize, open, place, prompt, run, run_by};

const RULES: &str = r#"version = 1
[[rule]]
name = "ask"
decision = "require_approval"
prefix = ["rm"]
reason = "it deletes"
[[rule]]
name = "ask-net"
decision = "require_approval"
prefix = ["curl"]
reason = "it calls"
"#;

const YES: &str = r#"{"outcome": {"outcome": "selected", "optionId": "yes"}}"#;
const NO: &str = r#"{"outcome": {"outcome": "selected", "optionId": "no"}}"#;
const CANCELLED: &str = r#"{"outcome": {"outcome": "cancelled"}}"#;

fn asking() -> Place {
    let place = place();
    place.write("offshoot-policy.toml", RULES);
    place
}

fn approvals(place: &Place) -> Vec<Value> {
    let all = place.json(&["approvals", "list", "--all"])["approvals"].clone();
    all.as_array().unwrap().clone()
}

fn workspaces(place: &Place) -> Vec<String> {
    let all = place.json(&["workspace", "list"])["workspaces"].clone();
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().map(name).collect()
}

/// What the agent was told, and the questions that the editor was asked.
fn asked(
    place: &Place,
    options: &[&str],
    option: &'static str,
    script: &'static str,
) -> (String, Vec<Value>) {
    asked_by(place, None, options, option, script)
}

/// The same where a process that says it is an agent is the editor.
fn asked_by(
    place: &Place,
    by: Option<&str>,
    options: &[&str],
    option: &'static str,
    script: &'static str,
) -> (String, Vec<Value>) {
    let project = place.project();
    let (seen, _, _) = run_by(place, by, &acp(options, &[]), option, async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        prompt(&agent, &session, script).await.unwrap();
        let questions = seen.questions.lock().unwrap();
        let questions = questions.iter().map(|one| serde_json::to_value(one).unwrap()).collect();
        (seen.said(), questions)
    });
    seen
}

fn texts(question: &Value) -> String {
    let content = question["toolCall"]["content"].as_array().unwrap().iter();
    content.filter_map(|block| block["content"]["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[needs(UserNamespace, "python3")]
#[test]
fn what_a_command_did_when_it_was_tried_is_asked_about() {
    let place = asking();
    // The agent wrote the second file itself, in this turn.
    let script = "write new.txt mine\npermit rm -v old.txt new.txt\ncat old.txt";
    let (said, questions) = asked(&place, &[], "allow_once", script);
    assert_eq!(said.trim_end(), format!("{YES}\nold"), "it runs in the agent alone");
    let [question] = &*questions else { panic!("{questions:?}") };
    let diffs: Vec<(&str, &str, &str)> = question["toolCall"]["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "diff")
        .map(|block| {
            let text = |key: &str| block[key].as_str().unwrap();
            (text("path").rsplit('/').next().unwrap(), text("oldText"), text("newText"))
        })
        .collect();
    assert_eq!(diffs, [("new.txt", "mine\n", ""), ("old.txt", "old\n", "")]);
    let told = texts(question);
    for part in [
        "leaves this to a person: it deletes",
        "without the network: exit code 0",
        "--- stdout\nremoved",
    ] {
        assert!(told.contains(part), "{told}");
    }
    let kinds: Vec<&str> = question["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);

    // It is the person's decision, by way of the editor, about a command of the agent.
    let [approval] = &*approvals(&place) else { panic!("{:?}", approvals(&place)) };
    assert_eq!(approval["state"], "approved");
    assert_eq!(approval["asked_by"]["agent"], "agent");
    assert_eq!(approval["decision"]["by"]["session"], "elicitation:editor");
    assert_eq!(approval["decision"]["by"]["agent"], Value::Null);
    assert_eq!(approval["decision"]["scope"], "once");
    assert_eq!(workspaces(&place), ["agent-1"], "the copy is gone");
    let log = place.ok(["audit", "log", "--json"]);
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let recorded = events.map(|event| event["result"].clone());
    let mut recorded = recorded.filter(|event| event["event"] == "permission");
    assert_eq!(recorded.next().unwrap()["details"]["approval"], approval["id"]);
}

#[needs(UserNamespace, "python3")]
#[test]
fn rejecting_denies_and_closing_leaves_nothing() {
    for (option, told, state) in [("reject_once", NO, "denied"), ("closed", CANCELLED, "gone")] {
        let place = asking();
        let (said, questions) = asked(&place, &[], option, "permit rm old.txt");
        assert_eq!((said.as_str(), questions.len()), (told, 1));
        assert_eq!(approvals(&place)[0]["state"], state);
        assert_eq!(workspaces(&place), ["agent-1"]);
    }
}

#[needs(UserNamespace, "python3")]
#[test]
fn an_approval_for_the_session_holds_for_the_same_command() {
    let place = asking();
    let script = "permit rm old.txt\npermit rm old.txt\npermit rm agent.py";
    let (said, questions) = asked(&place, &[], "allow_always", script);
    assert_eq!(said, format!("{YES}\n{YES}\n{YES}"));
    assert_eq!(questions.len(), 2, "the same command is not asked again, another is");
    let scopes: Vec<Value> =
        approvals(&place).iter().map(|one| one["decision"]["scope"].clone()).collect();
    assert_eq!(scopes, ["session", "session"]);
    // A title may be prose, and is asked about each time.
    let (_, questions) = asked(&place, &[], "allow_always", "titled rm old.txt\ntitled rm old.txt");
    assert_eq!(questions.len(), 2);
    assert!(texts(&questions[0]).contains("exit code 0"), "{questions:?}");
    // Another session asks anew.
    let (_, questions) = asked(&place, &[], "allow_once", "permit rm old.txt");
    assert_eq!(questions.len(), 1);
}

/// Decides about the first approval that comes.
fn decide(place: &Place, word: &str) {
    let started = Instant::now();
    let id = loop {
        let pending = approvals(place).into_iter().find(|one| one["state"] == "pending");
        if let Some(pending) = pending {
            break pending["id"].as_str().unwrap().to_owned();
        }
        assert!(started.elapsed() < Duration::from_secs(60), "nothing waits");
        std::thread::sleep(Duration::from_millis(50));
    };
    place.ok(["approvals", word, &id]);
}

#[needs(UserNamespace, "python3")]
#[test]
fn somebody_decides_elsewhere() {
    for (word, told) in [("approve", YES), ("deny", NO)] {
        for is_off in [false, true] {
            let place = asking();
            place.ok(["init"]);
            if is_off {
                let folder = place.path().join(".config/offshoot");
                fs::create_dir_all(&folder).unwrap();
                let settings = "[approvals]\nelicitation = false\n";
                fs::write(folder.join("config.toml"), settings).unwrap();
            }
            let (said, questions) = std::thread::scope(|scope| {
                scope.spawn(|| decide(&place, word));
                asked(&place, &[], LATER, "permit rm old.txt")
            });
            assert_eq!(said, told, "{word} {is_off}");
            assert_eq!(questions.len(), usize::from(!is_off), "{word} {is_off}");
            assert_eq!(approvals(&place)[0]["decision"]["by"]["session"], Value::Null);
        }
    }
}

/// What starts the program as an agent answers no question in the place of a person.
#[needs(UserNamespace, "python3")]
#[test]
fn an_agent_that_is_the_editor_is_not_asked() {
    let place = asking();
    place.ok(["init"]);
    let (said, questions) = std::thread::scope(|scope| {
        scope.spawn(|| decide(&place, "approve"));
        asked_by(&place, Some("bot"), &[], "allow_once", "permit rm old.txt")
    });
    assert_eq!((said.as_str(), questions.len()), (YES, 0));
    let approval = approvals(&place)[0].clone();
    assert_eq!(approval["asked_by"]["agent"], "bot (agent)");
    assert_eq!(approval["decision"]["by"]["session"], Value::Null);
    // What is not tried waits for nobody.
    let script = "permit curl http://127.0.0.1:9";
    let (said, questions) = asked_by(&place, Some("bot"), &["--net", "host"], "allow_once", script);
    assert_eq!((said.as_str(), questions.len()), (NO, 0));
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_cancelled_turn_waits_for_nobody() {
    let place = asking();
    let folder = place.path().join(".config/offshoot");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "[approvals]\nelicitation = false\n").unwrap();
    let project = place.project();
    run(&place, &acp(&[], &[]), LATER, async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        let (cancels, talks, watched) = (agent.clone(), session.clone(), seen.clone());
        agent
            .spawn(async move {
                let is_told =
                    || format!("{:?}", watched.updates.lock().unwrap()).contains("It waits");
                while !is_told() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                cancels.send_notification(CancelNotification::new(talks))
            })
            .unwrap();
        let ended = prompt(&agent, &session, "permit rm old.txt").await.unwrap();
        assert_eq!(ended, StopReason::Cancelled);
        assert_eq!(seen.said(), CANCELLED);
    });
    assert_eq!(approvals(&place)[0]["state"], "gone");
}

#[needs(UserNamespace, "python3")]
#[test]
fn what_uses_the_network_is_asked_about_untried() {
    let place = asking();
    let (said, questions) =
        asked(&place, &["--net", "host"], "allow_once", "permit curl http://127.0.0.1:9");
    assert_eq!(said, YES);
    let told = texts(&questions[0]);
    assert!(told.contains("Not tried: it uses the network"), "{told}");
    assert_eq!(approvals(&place), [Value::Null; 0]);
    // What is not tried, nobody approves in an editor that may not ask.
    let folder = place.path().join(".config/offshoot");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "[approvals]\nelicitation = false\n").unwrap();
    let (said, questions) =
        asked(&place, &["--net", "host"], "allow_once", "permit curl http://127.0.0.1:9");
    assert_eq!((said.as_str(), questions.len()), (NO, 0));
}

/// A rule may allow the trial, which has no network, and not the command as the agent has it: what it did is shown all the same.
#[needs(UserNamespace, "python3")]
#[test]
fn a_trial_that_a_rule_allows_is_shown() {
    let place = asking();
    place.write("offshoot-policy.toml", "version = 1\n");
    let folder = place.path().join(".config/offshoot");
    fs::create_dir_all(&folder).unwrap();
    let rules = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n[[rule]]\nname = \"always\"\n\
                 decision = \"allow\"\nprefix = [\"rm\", \"old.txt\"]\nexact = true\nnetwork = \"none\"\n";
    fs::write(folder.join("policy.toml"), rules).unwrap();
    let (said, questions) = asked(&place, &["--net", "host"], "allow_once", "permit rm old.txt");
    assert_eq!(said, YES);
    let [question] = &*questions else { panic!("{questions:?}") };
    let told = texts(question);
    assert!(told.contains("without the network: exit code 0"), "{told}");
    let content = question["toolCall"]["content"].as_array().unwrap();
    assert!(content.iter().any(|block| block["type"] == "diff"), "{question}");
    assert_eq!(approvals(&place), [Value::Null; 0]);
    assert_eq!(workspaces(&place), ["agent-1"], "the copy is gone");
}
