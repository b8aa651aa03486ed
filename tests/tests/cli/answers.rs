//! What programs and people get as an answer, whatever they ask.

use std::fs;

use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::transcript::{demo, demo_vault};

#[test]
fn help_is_for_programs_too_however_it_is_asked_for() {
    let place = Place::new();
    let asked = |arguments: &[&str]| place.json(arguments);
    assert_eq!(asked(&["help"]), asked(&["--help"]));
    assert_eq!(asked(&["help", "exec"]), asked(&["exec", "--help"]));
    assert_eq!(asked(&["help", "workspace", "list"]), asked(&["workspace", "list", "--help"]));
    let error = place.json_error(&["help", "nope"], 2);
    assert!(error["message"].as_str().unwrap().contains("nope"), "{error}");
}

#[test]
fn what_is_text_for_people_is_in_a_document_for_programs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let plain = place.ok(["completions", shell]);
        let document = place.json(&["completions", shell]);
        assert_eq!((&document["script"], &document["shell"]), (&plain.into(), &shell.into()));
    }
    let plain = place.ok(["man"]);
    assert_eq!(place.json(&["man"])["page"], Value::from(plain));
    let written = place.json(&["man", "--out", "pages"]);
    let pages = fs::read_dir(place.project().join("pages")).unwrap().count();
    assert_eq!(written["pages"].as_u64(), Some(pages as u64), "{written}");
    assert_eq!(written["directory"], "pages");
}

/// The document agrees with the exit code, which tells whether the command may run.
#[test]
fn a_check_of_what_may_not_run_is_no_success() {
    let place = Place::new();
    let unreadable = &["sh", "-c", "rm 'a"];
    for (command, code) in [(&["ls"][..], 0), (unreadable, 123), (&["rm", "-rf", "/"], 122)] {
        let check = [&["policy", "check", "--json", "--"][..], command].concat();
        let output = place.run(&check);
        let document = document_of(&output);
        assert_eq!(output.status.code(), Some(code), "{document}");
        assert_eq!(document["success"], code == 0, "{document}");
        assert_eq!(document["result"]["runs"], code == 0, "{document}");
        let explain = [&["policy", "explain", "--json", "--"][..], command].concat();
        let output = place.run(&explain);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(document_of(&output)["success"], true);
    }
}

#[test]
fn a_workspace_that_is_not_there_is_answered_with_those_that_are() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    let error = place.json_error(&["diff", "-w", "nope"], 3);
    assert_eq!(error["candidates"], serde_json::json!(["fix", "other"]), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("fix, other"), "{error}");
    // One that is alike is better than a list.
    let error = place.json_error(&["diff", "-w", "othr"], 3);
    assert_eq!(error["candidates"], serde_json::json!(["other"]), "{error}");
}

#[test]
fn a_long_status_is_abridged_for_people() {
    let place = demo_vault();
    place.ok(["exec", "-w", "fix", "--shell", "for n in $(seq 60); do echo $n > new-$n; done"]);
    let status = place.ok(["status", "-w", "fix"]);
    assert_eq!(status.lines().filter(|line| line.contains("A /new-")).count(), 50, "{status}");
    assert!(status.contains("and 10 more") && status.contains("--expand"), "{status}");
    let all = place.ok(["status", "-w", "fix", "--expand"]);
    assert_eq!(all.lines().filter(|line| line.contains("A /new-")).count(), 60, "{all}");
    let document = place.json(&["status", "-w", "fix"]);
    assert_eq!(document["changes"].as_array().unwrap().len(), 60);
}

/// What a commit left was changed by a command, not by the commit.
#[test]
fn a_review_after_a_partial_commit_names_the_command() {
    let place = demo();
    for name in ["a", "b", "c"] {
        place.ok(["exec", "-w", "fix", "--shell", &format!("echo x > {name}")]);
    }
    place.ok(["commit", "-w", "fix", "--only", "a"]);
    place.ok(["exec", "-w", "fix", "--shell", "echo x > d"]);
    place.ok(["commit", "-w", "fix", "--only", "b"]);
    let listed = place.json(&["review", "-w", "fix", "--list"]);
    let items = listed["items"].as_array().unwrap();
    let origin = |item: &Value| {
        let by = &item["last_changed_by"];
        let message = by["message"].as_str().unwrap_or_default().to_owned();
        (item["path"].clone(), by["reason"].clone(), message)
    };
    let origins: Vec<_> = items.iter().map(origin).collect();
    let exec =
        |name: &str| (Value::from(format!("/{name}")), "exec".into(), format!("echo x > {name}"));
    assert_eq!(origins, [exec("c"), exec("d")], "{listed}");
}
