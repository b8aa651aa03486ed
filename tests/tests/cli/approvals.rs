//! Commands that wait for a person: tried or waiting, approved, denied, expired, and never used twice.

#[path = "approvals/agents.rs"]
mod agents;
#[path = "approvals/people.rs"]
mod people;
#[path = "approvals/places.rs"]
mod places;
#[path = "approvals/printed.rs"]
mod printed;
#[path = "approvals/told.rs"]
mod told;
#[path = "approvals/trials.rs"]
mod trials;
#[path = "approvals/trust.rs"]
mod trust;
#[path = "approvals/waiting.rs"]
mod waiting;

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

/// Rules by which a person decides about whatever deletes.
const ASKS: &str = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n";

/// A project whose user wants to be asked before anything is deleted.
fn project() -> Place {
    let place = Place::new();
    place.write("a", "one\n");
    place.write("b", "two\n");
    place.write("c", "1\n2\n3\n4\n5\n");
    place.write("sub/a", "below\n");
    place.ok(["init"]);
    set_rules(&place, ASKS);
    place
}

fn set_rules(place: &Place, rules: &str) {
    let file = place.path().join(".config/offshoot/policy.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, rules).unwrap();
}

fn exec(place: &Place, code: i32, options: &[&str], command: &[&str]) -> Value {
    let all = [&["exec", "--json"], options, &["--"], command].concat();
    answered(&place.run(&all), code)
}

fn answered(output: &Output, code: i32) -> Value {
    let said = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}{told}");
    document_of(output)
}

/// Asks for a command that needs an approval; its id.
fn asked(place: &Place, options: &[&str], command: &[&str]) -> String {
    let envelope = exec(place, 123, options, command);
    let result = &envelope["result"];
    assert_eq!(result["state"], "pending_approval", "{envelope}");
    assert_eq!(result["approval"]["state"], "pending", "{envelope}");
    let id = result["approval"]["id"].as_str().unwrap().to_owned();
    assert_eq!(result["exec"], id.as_str());
    id
}

fn envelope(place: &Place, id: &str) -> Value {
    document_of(&place.run(["show", "--json", id]))
}

fn cat(place: &Place, workspace: &str, path: &str) -> Option<String> {
    let output = place.run(["fs", "cat", path, "-w", workspace]);
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn approval(place: &Place, id: &str) -> Value {
    let all = place.json(&["approvals", "list", "--all"])["approvals"].clone();
    all.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone()
}

fn pending(place: &Place) -> usize {
    place.json(&["approvals", "list"])["approvals"].as_array().unwrap().len()
}

fn workspaces(place: &Place) -> Vec<String> {
    let all = place.json(&["workspace", "list"])["workspaces"].clone();
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().map(name).collect()
}

/// Starts a command that waits for its approval, and waits until it does.
fn waiting(place: &Place, arguments: &[&str]) -> (Child, String) {
    let before = pending(place);
    let mut command: Command = place.command(arguments);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    until(|| pending(place) > before);
    let all = place.json(&["approvals", "list"])["approvals"].clone();
    let id = all.as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
    (child, id)
}

fn until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "it does not come to that");
        std::thread::sleep(Duration::from_millis(30));
    }
}
