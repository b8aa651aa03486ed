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

/// Whoever gets the params of a method wrong is not told that there is no such method.
#[test]
fn params_of_the_wrong_shape_are_named() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let place = project();
    let mut command = place.command(["mcp"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }});
    writeln!(input, "{hello}").unwrap();
    lines.next().unwrap().unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .unwrap();
    let mut code = |method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        answer["error"]["code"].clone()
    };
    for arguments in [json!([]), json!("x"), json!(1)] {
        let params = json!({"name": "read", "arguments": arguments});
        assert_eq!(code("tools/call", params), -32602, "{arguments}");
    }
    // That is no message of the protocol at all.
    assert_eq!(code("tools/call", json!([])), -32600);
    assert_eq!(code("resources/read", json!({"uri": 1})), -32602);
    for method in ["prompts/get", "made/up"] {
        assert_eq!(code(method, json!({"name": "x"})), -32601, "{method}");
    }
    // A line that is no message is answered as well, and the next one is read.
    let mut wrong = |line: &[u8]| {
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
    };
    let request = json!({"jsonrpc": "2.0", "id": 15, "method": "tools/call", "params": [1]});
    assert_eq!(wrong(request.to_string().as_bytes()), (json!(15), -32600));
    assert_eq!(wrong(b"{\"id\":11,\"method\":\"ping\"}"), (json!(11), -32600));
    for line in [&b"not json"[..], b"{\"jsonrpc\":", b"\xff\xfe"] {
        assert_eq!(wrong(line), (Value::Null, -32700));
    }
    assert_eq!(wrong(&vec![b'x'; 20 << 20]), (Value::Null, -32600));
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 16, "method": "ping"})).unwrap();
    let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 16, "result": {}}));
    drop((input, lines));
    assert!(server.wait().unwrap().success());
}

/// Agents call tools at the same time: what changes files waits for the command before it.
#[test]
fn changes_wait_for_a_command_that_runs() {
    run(async {
        let place = project();
        let person = Person::new("c");
        let client = Client::start(&place, &person, &[]).await;
        let line = "echo going; sleep 2; echo more >> greeting";
        let handle = begin(&client, json!({"command": line})).await;
        until_told(&person).await;
        let edit = json!({"path": "greeting", "old_text": "helo", "new_text": "hello"});
        let write = json!({"path": "new", "content": "written\n"});
        let (edited, written) =
            tokio::join!(client.call("edit", edit), client.call("write", write));
        assert_eq!(edited["success"], true, "{edited}");
        assert_eq!(written["success"], true, "{written}");
        handle.await_response().await.unwrap();
        let read = client.call("read", json!({"path": "greeting"})).await;
        assert_eq!(read["result"]["content"], "hello\nmore\n");
        client.end().await;
    });
}
