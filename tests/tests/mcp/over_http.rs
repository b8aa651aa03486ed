//! The same over HTTP: who is let in, and what a session is.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use offshoot_tests::host;
use serde_json::{Value, json};

use super::wire::{Listening, Reply};
use super::{project, until, workspaces};

fn initialize(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"},
    }})
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The same as a request that needs no session.
fn alone(name: &str, tool: &str, arguments: &Value) -> Value {
    let mut call = call(tool, arguments);
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    call
}

const ALONE: [&str; 3] =
    ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: exec"];

/// Begins a session; the line of the head that names it.
fn session(server: &Listening, name: &str) -> String {
    let reply = server.post(&[], &initialize(name));
    assert_eq!(reply.status, 200, "{reply:?}");
    let line = format!("Mcp-Session-Id: {}", reply.header("mcp-session-id").unwrap());
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.post(&[&line], &ready).status, 202);
    line
}

fn document(reply: &Reply) -> Value {
    reply.result()["structuredContent"].clone()
}

#[test]
fn nobody_gets_in_without_the_token_or_from_elsewhere() {
    let place = project();
    let server = Listening::start(&place, &[]);
    assert_eq!(server.token.len(), 64);
    for (head, status) in [
        (&["Authorization: "][..], 401),
        (&["Authorization: Bearer "], 401),
        (&["Authorization: Bearer 0000"], 401),
        (&["Host: attacker.example"], 403),
        (&["Origin: http://attacker.example"], 403),
        (&["Origin: null"], 403),
        (&["Origin: http://localhost:1"], 403),
    ] {
        let reply = server.post(head, &initialize("c"));
        assert_eq!(reply.status, status, "{head:?} {reply:?}");
        assert!(reply.header("mcp-session-id").is_none());
    }
    assert_eq!(server.post(&[], &json!({"hello": "there"})).status, 400);
    let wrong = server.post(&["Authorization: "], &initialize("c"));
    assert_eq!(wrong.header("www-authenticate").as_deref(), Some("bearer"));
    let origin = format!("Origin: http://{}", server.address);
    assert_eq!(server.post(&[&origin], &initialize("c")).status, 200);
    server.end();
    assert!(!place.home().exists(), "nobody did anything");
}

/// A client of the revision without sessions is told that there are none.
#[test]
fn what_a_later_revision_removed_is_not_there() {
    let place = project();
    let server = Listening::start(&place, &[]);
    let head = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: initialize"];
    for (asked, id) in [(initialize("c"), json!(1)), (json!([]), Value::Null)] {
        let reply = server.post(&head, &asked);
        assert_eq!(reply.status, 404, "{reply:?}");
        let said: Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!((&said["error"]["code"], &said["id"]), (&json!(-32601), &id));
    }
    assert_eq!(server.post(&head[1..], &initialize("c")).status, 200);
    server.end();
}

#[test]
fn the_token_comes_from_a_file_and_the_address_is_loopback() {
    let place = project();
    let file = place.path().join("token");
    fs::write(&file, "0123456789abcdef\n").unwrap();
    let name = file.to_str().unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = place.run(["mcp", "--http", "127.0.0.1:0", "--token-file", name]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod 600"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mut server = Listening::start(&place, &["--token-file", name]);
    assert_eq!(
        server.post(&["Authorization: Bearer 0123456789abcdee"], &initialize("c")).status,
        401
    );
    server.token = "0123456789abcdef".to_owned();
    session(&server, "c");
    server.end();
    fs::write(&file, "short\n").unwrap();
    let refused = place.run(["mcp", "--http", "127.0.0.1:0", "--token-file", name]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = place.run(["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--listen-anywhere"));
}

#[test]
fn every_session_has_a_workspace_of_its_own() {
    let place = project();
    let server = Listening::start(&place, &[]);
    let (one, other) = (session(&server, "twin"), session(&server, "twin"));
    let write = |text: &str| call("write", &json!({"path": "greeting", "content": text}));
    server.post(&[&one], &write("one\n"));
    server.post(&[&other], &write("other\n"));
    assert_eq!(workspaces(&place), ["twin", "twin-2"]);
    let read = server.post(&[&one], &call("read", &json!({"path": "greeting"})));
    assert_eq!(document(&read)["result"]["content"], "one\n");
    // It is recorded who that was.
    let ran = document(&server.post(&[&one], &call("exec", &json!({"argv": ["true"]}))));
    let envelope = super::envelope(&place, ran["result"]["exec"].as_str().unwrap());
    let actor = &envelope["request"]["actor"];
    assert_eq!(format!("Mcp-Session-Id: {}", actor["session"].as_str().unwrap()), one);
    assert_eq!(server.post(&["Mcp-Session-Id: wrong"], &write("x")).status, 404);
    server.end();
}

#[test]
fn requests_without_a_session_share_one_by_the_name_of_their_client() {
    let place = project();
    let server = Listening::start(&place, &[]);
    for name in ["a", "b", "a"] {
        let message = alone(name, "exec", &json!({"command": format!("echo {name} >> log")}));
        let reply = server.post(&ALONE, &message);
        assert_eq!(document(&reply)["result"]["workspace"], name, "{reply:?}");
    }
    assert_eq!(workspaces(&place), ["a", "b"]);
    assert_eq!(place.ok(["fs", "cat", "/log", "-w", "a"]), "a\na\n");
    server.end();
}

#[test]
fn a_client_that_hangs_up_ends_its_command() {
    let place = project();
    let server = Listening::start(&place, &[]);
    let long = json!({"command": "echo here; exec sleep 100735"});
    let stream = server.call_and_leave(&ALONE, &alone("c", "exec", &long));
    until("it runs", || host::runs("100735"));
    drop(stream);
    until("it ends", || !host::runs("100735"));
    // The end of the server ends what runs in sessions.
    let line = session(&server, "d");
    let long = json!({"command": "exec sleep 100736"});
    let _stream = server.call_and_leave(&[&line], &call("exec", &long));
    until("it runs", || host::runs("100736"));
    server.end();
    assert!(!host::runs("100736"));
}

/// Whoever says only half of what they want keeps nobody else out, with or without the token.
#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let place = project();
    let server = Listening::start(&place, &[]);
    let line = session(&server, "c");
    let read = call("read", &json!({"path": "greeting"}));
    let begun = Instant::now();
    let mut halves = Vec::new();
    for _ in 0..3 {
        halves.extend((0..100).map(|_| server.half_open("Host: a\r\nX-More:")));
        let reply = server.post(&[&line], &read);
        assert_eq!(document(&reply)["result"]["content"], "helo\n", "{reply:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(9), "they are waited for");
    // Those are closed: the oldest at once, and the others after a while.
    for mut half in [halves.swap_remove(0), halves.pop().unwrap()] {
        let ended = half.read(&mut [0; 1024]);
        assert!(!ended.is_err_and(|error| error.kind() == ErrorKind::WouldBlock));
    }
    server.end();
}
