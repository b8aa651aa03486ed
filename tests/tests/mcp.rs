//! Agents that speak MCP: the real binary, with a client of another make on standard input and output, and with plain requests over HTTP.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "mcp/answers.rs"]
mod answers;
#[path = "mcp/asked.rs"]
mod asked;
#[path = "mcp/client.rs"]
mod client;
#[path = "mcp/endings.rs"]
mod endings;
#[path = "mcp/over_http.rs"]
mod over_http;
#[path = "mcp/tasks.rs"]
mod tasks;
#[path = "mcp/tools.rs"]
mod tools;
#[path = "mcp/wire.rs"]
mod wire;

use std::fs;
use std::time::{Duration, Instant};

use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

/// Rules by which a person decides about whatever deletes.
const ASKS: &str = "version = 1\n[defaults]\ndestructive = \"require_approval\"\n";

/// A project with two files.
fn project() -> Place {
    let place = Place::new();
    place.write("greeting", "helo\n");
    place.write("src/main.rs", "fn main() {\n    println!(\"helo\");\n}\n");
    place
}

/// The same, of a user who wants to be asked before anything is deleted.
fn asking() -> Place {
    let place = project();
    configure(&place, "policy.toml", ASKS);
    place
}

fn configure(place: &Place, name: &str, text: &str) {
    let file = place.path().join(".config/offshoot").join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// All that is recorded of a command.
fn envelope(place: &Place, exec: &str) -> Value {
    document_of(&place.run(["show", exec, "--json"]))
}

fn workspaces(place: &Place) -> Vec<String> {
    let all = place.json(&["workspace", "list"])["workspaces"].clone();
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().map(name).collect()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: it does not come to that");
        std::thread::sleep(Duration::from_millis(30));
    }
}
