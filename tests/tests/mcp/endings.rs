//! Progress while a command runs, and all the ways in which it ends early.

use std::time::Duration;

use offshoot_tests::host;
use offshoot_tests::product::Place;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ClientRequest, Request};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use serde_json::{Value, json};

use super::client::{Client, Person, run};
use super::{project, until};

/// A command that says when it runs, and then goes on for a long time; the word finds its process.
fn long(word: &str) -> Value {
    json!({"command": format!("echo started > mark; echo {word}; exec sleep 1{word}")})
}

async fn begin(client: &Client, arguments: Value) -> RequestHandle<RoleClient> {
    let mut call = CallToolRequestParams::new("exec");
    call.arguments = arguments.as_object().cloned();
    let request = ClientRequest::CallToolRequest(Request::new(call));
    let options = PeerRequestOptions::no_options();
    client.running.send_cancellable_request(request, options).await.unwrap()
}

fn runs(word: &str) -> bool {
    host::runs(&format!("1{word}"))
}

fn execs(place: &Place) -> Vec<Value> {
    place.json(&["execs"])["execs"].as_array().unwrap().clone()
}

#[test]
fn lines_come_as_progress_while_the_command_runs() {
    run(async {
        let place = project();
        let person = Person::new("c");
        let client = Client::start(&place, &person, &[]).await;
        let line = "echo first; sleep 0.5; echo second >&2; sleep 0.5; echo third";
        client.call("exec", json!({"command": line})).await;
        let told = person.progress.lock().unwrap().clone();
        assert!(told.len() >= 3, "{told:?}");
        assert_eq!(told.join(" "), "first second third");
        client.end().await;
    });
}

#[test]
fn a_call_that_is_cancelled_ends_its_command_and_records_it() {
    run(async {
        let place = project();
        let person = Person::new("c");
        let client = Client::start(&place, &person, &[]).await;
        let handle = begin(&client, long("00731")).await;
        while person.progress.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(runs("00731"));
        handle.cancel(Some("enough".to_owned())).await.unwrap();
        until("the command ends", || !runs("00731"));
        // What it wrote is there, and the session goes on.
        client.call("exec", json!({"argv": ["true"]})).await;
        let read = client.call("read", json!({"path": "mark"})).await;
        assert_eq!(read["result"]["content"], "started\n");
        client.end().await;
        assert_eq!(execs(&place).len(), 2);
    });
}

#[test]
fn a_client_that_is_gone_leaves_nothing_behind() {
    run(async {
        let place = project();
        let person = Person::new("c");
        let mut client = Client::start(&place, &person, &[]).await;
        let _handle = begin(&client, long("00732")).await;
        until_told(&person).await;
        // All that a killed client leaves of itself is the end of a pipe.
        client.running.close().await.unwrap();
        assert!(client.server.ended().await.success());
        assert!(!runs("00732"));
        assert_eq!(execs(&place).len(), 1, "what it did is recorded");
        assert_eq!(place.ok(["fs", "cat", "/mark", "-w", "c"]), "started\n");
    });
}

#[test]
fn a_server_that_is_asked_to_end_ends_its_commands_first() {
    run(async {
        let place = project();
        let person = Person::new("c");
        let mut client = Client::start(&place, &person, &[]).await;
        let _handle = begin(&client, long("00733")).await;
        until_told(&person).await;
        rustix::process::kill_process(client.server.pid(), rustix::process::Signal::TERM).unwrap();
        client.server.ended().await;
        assert!(!runs("00733"));
        assert_eq!(execs(&place).len(), 1);
    });
}

#[test]
fn a_server_that_is_killed_takes_its_commands_with_it() {
    run(async {
        let place = project();
        let person = Person::new("c");
        let mut client = Client::start(&place, &person, &[]).await;
        let _handle = begin(&client, long("00734")).await;
        until_told(&person).await;
        client.server.kill();
        until("the command ends", || !runs("00734"));
    });
}

async fn until_told(person: &Person) {
    while person.progress.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
