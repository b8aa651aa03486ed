//! What people and programs are shown.

use super::*;
use crate::transcript::{Transcript, demo_vault};

fn demo() -> Place {
    let place = demo_vault();
    set_rules(&place, ASKS);
    place
}

const REMOVE: [&str; 7] = ["exec", "-w", "fix", "--", "sh", "-c", "rm README.md; echo gone"];
const REMOTE: [&str; 11] = [
    "exec",
    "-w",
    "fix",
    "--net",
    "host",
    "--",
    "curl",
    "-s",
    "-X",
    "DELETE",
    "http://127.0.0.1:9/",
];

#[test]
fn approvals_for_people() {
    let place = demo();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["approvals"]);
    transcript.run(&REMOVE);
    transcript.run(&REMOTE);
    transcript.run(&["approvals", "list"]);
    let all = place.json(&["approvals", "list"])["approvals"].clone();
    let ids: Vec<&str> =
        all.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    transcript.run(&["approvals", "show", ids[0]]);
    transcript.run(&["approvals", "show", ids[1]]);
    transcript.run(&["approvals", "approve", ids[0], "-m", "it is in the way"]);
    transcript.run(&["approvals", "deny", ids[1], "-m", "not today"]);
    transcript.run(&["approvals", "deny", ids[1]]);
    transcript.run(&["approvals", "list", "--all"]);
    transcript.run(&["approvals", "show", ids[1]]);
    transcript.run(&["approvals", "wait", ids[0]]);
    transcript.run(&["approvals", "approve", "--all"]);
    transcript.run(&["approvals", "show", "nothing"]);
    insta::assert_snapshot!(transcript.finish());
}

#[test]
fn approvals_for_programs() {
    let place = demo();
    let mut transcript = Transcript::new(&place);
    transcript.json(&REMOVE);
    let id = place.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    transcript.json(&["approvals", "list"]);
    transcript.json(&["approvals", "show", &id]);
    transcript.json(&["approvals", "approve", &id]);
    transcript.json(&["approvals", "wait", &id]);
    transcript.json(&REMOTE);
    let id = place.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    transcript.json(&["approvals", "deny", &id, "-m", "no"]);
    insta::assert_snapshot!(transcript.finish());
}

/// Whoever decides sees all of a command, however it is written.
#[test]
fn nothing_hides_behind_spaces() {
    let place = demo();
    let text = format!("rm README.md{};rm -r src{}# ok", " ".repeat(500), "\u{2003}".repeat(90));
    place.run(["exec", "-w", "fix", "--", "sh", "-c", &text]);
    let shown = "rm README.md [500 spaces] ;rm -r src [90 spaces] # ok";
    let id = place.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    for arguments in
        [&["approvals", "list"][..], &["approvals", "show", &id], &["approvals", "deny", &id]]
    {
        let said = place.ok(arguments);
        assert!(said.contains(shown), "{arguments:?}: {said}");
    }
}
