//! `sessions`: conversations of agents, as people and programs see them.

use insta::assert_snapshot;
use offshoot_tests::product::Place;
use serde_json::Value;

use crate::transcript::{Transcript, demo_vault};

const EVENTS: &str = r#"{"kind":"user","body":{"text":"mend the parser"}}
{"kind":"tool","body":{"name":"exec","call":"c1"}}
"#;

/// A vault with a session of two events.
fn talk() -> Place {
    let place = demo_vault();
    place.ok(["sessions", "create", "talk", "-w", "fix", "--provider", "p", "--model", "m-1"]);
    place.ok_with(["sessions", "append", "talk", "--next", "1"], EVENTS.as_bytes());
    place
}

#[test]
fn sessions_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["sessions", "list"]);
    let create = ["sessions", "create", "talk", "-w", "fix", "--provider", "p", "--model", "m-1"];
    transcript.run(&create);
    transcript.run_with(&["sessions", "append", "talk", "--next", "1"], EVENTS);
    transcript.run_with(&["sessions", "append", "talk", "--next", "1"], EVENTS);
    let waiting = ["sessions", "append", "talk", "--next", "3", "--state", "waiting"];
    transcript.run_with(&[&waiting[..], &["--cost", "0.042"]].concat(), "");
    transcript.run(&["sessions", "list"]);
    transcript.run(&["sessions", "show", "talk"]);
    transcript.run(&["sessions", "show", "talk", "--from", "1", "-n", "1"]);
    transcript.run(&["sessions", "fork", "talk", "--at", "1"]);
    transcript.run(&["sessions", "fork", "talk", "--to", "again"]);
    transcript.run(&["sessions", "list", "-w", "again"]);
    transcript.run(&["undo", "again"]);
    transcript.run(&["sessions", "rename", "talk", "parser"]);
    transcript.run(&["sessions", "show", "talk"]);
    transcript.run(&["sessions", "export", "parser", "parser.jsonl"]);
    transcript.run(&["sessions", "delete", "parser"]);
    transcript.run(&["undo"]);
    transcript.run(&["sessions", "list"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn sessions_for_programs() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["sessions", "create", "talk", "-w", "fix", "--model", "m-1"]);
    place.write("events", EVENTS);
    transcript.json(&["sessions", "append", "talk", "--next", "1", "--from", "events"]);
    transcript.json(&["sessions", "list"]);
    transcript.json(&["sessions", "show", "talk", "-n", "1"]);
    transcript.json(&["sessions", "fork", "talk", "--to", "again"]);
    transcript.json(&["sessions", "rename", "talk", "parser", "-w", "fix"]);
    transcript.json(&["sessions", "export", "parser", "parser.jsonl"]);
    transcript.json(&["sessions", "delete", "parser"]);
    assert_snapshot!(transcript.finish());
}

/// One operation, so one undo, and one redo.
#[test]
fn undo_of_a_fork_takes_back_session_and_workspace() {
    let place = talk();
    let fork = place.json(&["sessions", "fork", "talk", "--to", "again"]);
    assert_eq!(fork["workspace"]["name"], "again");
    assert_eq!(fork["session"]["parent"]["number"], 2);
    let names = |kind: &str, list: &[&str]| -> Vec<String> {
        let all = place.json(list)[kind].clone();
        let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
        let mut names: Vec<String> = all.as_array().unwrap().iter().map(name).collect();
        names.sort();
        names
    };
    let both =
        || (names("workspaces", &["workspace", "list"]), names("sessions", &["sessions", "list"]));
    assert_eq!(both().0, ["again", "fix"]);
    assert_eq!(both().1, ["talk", "talk-2"]);
    place.ok(["undo", "again"]);
    assert_eq!(both().0, ["fix"]);
    assert_eq!(both().1, ["talk"]);
    place.ok(["redo", "again"]);
    assert_eq!(both().1, ["talk", "talk-2"]);
}

#[test]
fn an_event_that_names_a_state_brings_it_back_in_a_fork() {
    let place = talk();
    let head = place.json(&["workspace", "show", "fix"]);
    let snapshot = head["workspace"]["head"].as_str().or(head["head"].as_str()).unwrap().to_owned();
    let line = format!("{{\"kind\":\"turn\",\"body\":1,\"snapshot\":\"{snapshot}\"}}\n");
    place.ok_with(["sessions", "append", "talk", "--next", "3"], line.as_bytes());
    place.ok_with(["fs", "write", "/later.md", "-w", "fix"], b"later\n");
    let error = place.json_error(&["sessions", "fork", "talk", "--at", "2"], 3);
    assert!(error["message"].as_str().unwrap().contains("names a state"), "{error}");
    place.ok(["sessions", "fork", "talk", "--at", "3", "--to", "before"]);
    // The fork has the same name: the workspace says which one is meant.
    place.ok(["sessions", "fork", "talk", "--to", "now", "-w", "fix"]);
    assert!(!place.run(["fs", "cat", "/later.md", "-w", "before"]).status.success());
    assert_eq!(place.ok(["fs", "cat", "/later.md", "-w", "now"]), "later\n");
}

/// As with approvals: what an agent may not do, it is told.
#[test]
fn an_agent_leaves_the_sessions_of_others_alone() {
    let place = talk();
    for arguments in [
        &["sessions", "delete", "talk"][..],
        &["sessions", "rename", "talk", "mine"],
        &["sessions", "append", "talk", "--next", "3", "--state", "ended", "--from", "/dev/null"],
    ] {
        let mut command = place.command(arguments);
        let output = command.env("OFFSHOOT_AGENT", "other").output().unwrap();
        assert_eq!(output.status.code(), Some(122), "{output:?}");
    }
    assert_eq!(place.json(&["sessions", "list"])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn an_export_has_a_line_for_each_event() {
    let place = talk();
    let text = place.ok(["sessions", "export", "talk"]);
    assert_eq!(place.ok(["sessions", "export", "talk", "-"]), text);
    assert!(!place.project().join("-").exists());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["format"], "offshoot-session");
    assert_eq!(lines[2]["body"]["call"], "c1");
    assert_eq!(lines[2]["chain"], lines[0]["chain"]);
    let output = place.run(["audit", "log", "--kind", "session export", "--json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("export session talk"));
    let waiting = ["sessions", "append", "talk", "--next", "3", "--state", "waiting"];
    place.ok_with(waiting, b"");
    let output = place.run(["audit", "log", "--kind", "session state", "--json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("session talk is waiting"));
    assert!(place.run(["audit", "verify"]).status.success());
}
