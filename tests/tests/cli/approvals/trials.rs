//! What can be tried is tried, and what waits is its effect.

use offshoot_needs::needs;
use serde_json::Value;

use super::*;

#[test]
fn the_effect_waits_and_approving_makes_it_real() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let envelope_then =
        exec(&place, 123, &["-w", "fix"], &["sh", "-c", "rm a; echo new > d; echo said; exit 3"]);
    let result = &envelope_then["result"];
    assert_eq!(result["state"], "pending_approval");
    assert_eq!((result["exit_code"].as_i64(), &result["stdout"]), (Some(3), &"said\n".into()));
    assert_eq!(envelope_then["success"], false);
    let changed = result["changed_files"].as_array().unwrap().len();
    assert_eq!(changed, 2, "{result}");
    assert_eq!(result["approval"]["tried"], true);
    let id = result["exec"].as_str().unwrap();
    // Nothing of it is real yet.
    assert_eq!(cat(&place, "fix", "/a").as_deref(), Some("one\n"));
    assert_eq!(cat(&place, "fix", "/d"), None);
    let shown = place.ok(["approvals", "show", id]);
    for part in ["rm a", "deleted file", "+new", "said", "exit 3"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let grant: Vec<&str> = result["approval"]["grant"]["argv"]
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(grant, ["approvals", "approve", id]);
    let decided = place.json(&grant);
    assert_eq!(decided["decided"][0]["changed_files"].as_array().unwrap().len(), 2);
    assert_eq!(cat(&place, "fix", "/a"), None);
    assert_eq!(cat(&place, "fix", "/d").as_deref(), Some("new\n"));
    // Whoever asked finds the final answer under the same id.
    let last = envelope(&place, id);
    assert_eq!(last["result"]["state"], "completed", "{last}");
    assert_eq!(last["result"]["exit_code"], 3);
    assert_eq!(last["result"]["approval"]["state"], "approved");
    assert_eq!(last["result"]["changed_files"], result["changed_files"]);
    assert_eq!(approval(&place, id)["decision"]["scope"], "once");
    // The log has each step, and says what changed.
    let log = place.ok(["audit", "log", "--json"]);
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap()["result"].clone();
    let events: Vec<Value> = log.lines().map(read).collect();
    let of_this = events.iter().filter(|event| event.to_string().contains(id));
    let kinds: Vec<&str> = of_this.map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "approve").count(), 1, "{kinds:?}");
    assert!(kinds.contains(&"exec_started") && kinds.contains(&"exec"), "{kinds:?}");
    let approved = events.iter().find(|event| event["event"] == "approve").unwrap();
    for path in ["/a", "/d", "request_digest", "asked_by"] {
        assert!(approved.to_string().contains(path), "{path}: {approved}");
    }
    place.ok(["audit", "verify"]);
    // There is a way back, and it brings back no approval.
    assert!(last["result"]["checkpoint"].as_str().unwrap().starts_with("cp-"));
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(cat(&place, "fix", "/a").as_deref(), Some("one\n"));
    place.json_error(&["approvals", "approve", id], 4);
    assert_eq!(pending(&place), 0);
}

#[test]
fn what_is_denied_leaves_nothing() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    place.ok(["approvals", "deny", &id, "-m", "keep the data"]);
    let last = envelope(&place, &id);
    assert_eq!(last["result"]["state"], "denied");
    let message = last["result"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("denied this command: keep the data"), "{message}");
    assert_eq!(last["result"]["changed_files"], serde_json::json!([]));
    assert_eq!(cat(&place, "fix", "/a").as_deref(), Some("one\n"));
    assert_eq!(workspaces(&place), ["fix"]);
    // Once is for good.
    place.json_error(&["approvals", "approve", &id], 4);
    place.json_error(&["approvals", "deny", &id], 4);
}

/// A fork that was made for a trial alone goes with it, and stays where somebody worked in it.
#[test]
fn forks_of_trials_are_cleaned_up() {
    let place = project();
    let alone = asked(&place, &[], &["rm", "a"]);
    let shared = asked(&place, &["-w", "shared"], &["rm", "a"]);
    assert_eq!(workspaces(&place).len(), 2);
    exec(&place, 0, &["-w", "shared"], &["sh", "-c", "echo x > x"]);
    place.ok(["approvals", "deny", &alone, &shared]);
    assert_eq!(workspaces(&place), ["shared"]);
    // So it is with what nobody decides.
    asked(&place, &["-c", "approvals.expire=1s"], &["rm", "a"]);
    assert_eq!(workspaces(&place).len(), 2);
    until(|| pending(&place) == 0);
    assert_eq!(workspaces(&place), ["shared"]);
}

#[test]
fn what_changed_meanwhile_is_merged() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; sed -i s/1/one/ c"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "sed -i s/5/five/ c; echo x > x"]);
    let decided = place.json(&["approvals", "approve", &id]);
    assert_eq!(decided["decided"][0]["merged"], true, "{decided}");
    assert_eq!(cat(&place, "fix", "/c").as_deref(), Some("one\n2\n3\n4\nfive\n"));
    assert_eq!(cat(&place, "fix", "/a"), None);
    assert_eq!(cat(&place, "fix", "/x").as_deref(), Some("x\n"));
    let last = envelope(&place, &id);
    assert_eq!(last["result"]["state"], "completed");
    let names: Vec<&str> = last["result"]["changed_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["/a", "/c"]);
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(cat(&place, "fix", "/c").as_deref(), Some("1\n2\n3\n4\nfive\n"));
}

#[test]
fn conflicts_are_told_and_never_forced() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; echo mine > b"]);
    exec(&place, 0, &["-w", "fix"], &["sh", "-c", "echo theirs > b"]);
    let refused = place.json_error(&["approvals", "approve", &id], 4);
    assert!(refused["message"].as_str().unwrap().contains("/b"), "{refused}");
    assert_eq!(cat(&place, "fix", "/a").as_deref(), Some("one\n"));
    assert_eq!(cat(&place, "fix", "/b").as_deref(), Some("theirs\n"));
    // Whoever brought it in by hand decides what conflicts: merging once more is of no use.
    let trial = approval(&place, &id)["snapshot_tried"].as_str().unwrap().to_owned();
    assert_eq!(place.run(["merge", &trial, "--into", "fix"]).status.code(), Some(4));
    let refused = place.json_error(&["approvals", "approve", &id], 4);
    assert!(refused["message"].as_str().unwrap().contains("unresolved conflicts: /b"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("offshoot conflicts -w fix"), "{refused}");
    assert!(!refused["hint"].as_str().unwrap().contains("offshoot merge"), "{refused}");
    place.ok(["undo", "-w", "fix"]);
    // It still waits; once nothing is in its way any more it fits.
    assert_eq!(approval(&place, &id)["state"], "pending");
    place.ok(["undo", "-w", "fix"]);
    place.ok(["approvals", "approve", &id]);
    assert_eq!(cat(&place, "fix", "/b").as_deref(), Some("mine\n"));
}

/// A trial has no network.
#[needs("python3")]
#[test]
fn a_trial_reaches_nobody() {
    let place = project();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    let call = format!("import socket\nsocket.create_connection((\"127.0.0.1\", {port}))\n");
    place.write("call.py", call + "open(\"reached\", \"w\")\n");
    let script = ["sh", "-c", "rm a; python3 call.py"];
    let tried = exec(&place, 123, &["-w", "fix"], &script);
    let result = &tried["result"];
    assert_eq!(result["sandbox"]["network"], "none", "{result}");
    assert_eq!(result["approval"]["tried"], true);
    assert!(server.accept().is_err(), "somebody called");
    assert!(!result["changed_files"].to_string().contains("reached"), "{result}");
}

#[test]
fn several_are_decided_at_once() {
    let place = project();
    for name in ["one", "two", "three"] {
        asked(&place, &["-w", name], &["rm", "a"]);
    }
    let decided = place.json(&["approvals", "approve", "--all", "-w", "two"]);
    assert_eq!(decided["decided"].as_array().unwrap().len(), 1);
    assert_eq!(cat(&place, "two", "/a"), None);
    assert!(cat(&place, "one", "/a").is_some());
    let decided = place.json(&["approvals", "approve", "--all"]);
    assert_eq!(decided["decided"].as_array().unwrap().len(), 2);
    assert_eq!(pending(&place), 0);
}

/// What waits is kept from the garbage collection, and what was denied is not.
#[test]
fn what_waits_is_kept() {
    let place = project();
    let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; echo precious > d"]);
    let gone = asked(&place, &["-w", "other"], &["sh", "-c", "rm a; echo wasted > e"]);
    place.ok(["approvals", "deny", &gone]);
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    assert_eq!(place.json(&["vault", "check"])["problems"].as_array().map_or(0, Vec::len), 0);
    place.ok(["approvals", "approve", &id]);
    assert_eq!(cat(&place, "fix", "/d").as_deref(), Some("precious\n"));
}

#[test]
fn a_trial_that_changes_nothing_waits_too() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "-f", "nothing"]);
    let shown: Value = place.json(&["approvals", "show", &id]);
    assert_eq!(shown["snapshot_before"], shown["snapshot_tried"]);
    place.ok(["approvals", "approve", &id]);
    assert_eq!(envelope(&place, &id)["result"]["state"], "completed");
}

/// A workspace that is deleted takes what waits with it; undo brings both back.
#[test]
fn a_deleted_workspace_takes_it_along() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["rm", "a"]);
    place.ok(["workspace", "delete", "fix"]);
    assert_eq!(approval(&place, &id)["state"], "gone");
    place.json_error(&["approvals", "approve", &id], 4);
    place.ok(["undo", "--vault-wide"]);
    place.ok(["approvals", "approve", &id]);
    assert_eq!(cat(&place, "fix", "/a"), None);
}

/// Whoever decides sees that the workspace moved since the trial, and whether the two conflict.
#[test]
fn a_trial_whose_workspace_moved_says_so() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked(&place, &["-w", "fix"], &["sh", "-c", "rm a; echo mine > c"]);
    let moved = || place.json(&["approvals", "show", &id])["moved"].clone();
    assert_eq!(moved(), Value::Null);
    place.run_with(["fs", "write", "new", "-w", "fix"], b"new\n");
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains("(1 file); approving merges the trial with it"), "{text}");
    assert!(!text.contains("--seen"), "{text}");
    place.run_with(["fs", "write", "c", "-w", "fix"], b"theirs\n");
    let text = place.ok(["approvals", "show", &id]);
    assert!(text.contains("(2 files); the trial conflicts with it: /c"), "{text}");
    assert_eq!(moved()["conflicts"], serde_json::json!(["/c"]));
}

/// Of what was denied nothing is left, in any answer; its workspace keeps its name.
#[test]
fn what_was_denied_left_nothing() {
    let place = project();
    let wait = ["exec", "--json", "--wait-approval", "-w", "fix", "--", "rm", "a"];
    let (child, id) = waiting(&place, &wait);
    place.ok(["approvals", "deny", &id, "-m", "keep the logs"]);
    let live = answered(&child.wait_with_output().unwrap(), 122);
    let recorded = envelope(&place, &id);
    for result in [&live["result"], &recorded["result"]] {
        assert_eq!(result["snapshot_after"], result["snapshot_before"], "{result}");
        assert_eq!(result["changed_files"], serde_json::json!([]), "{result}");
    }
    assert_eq!(workspaces(&place).len(), 0);
    let list = place.ok(["approvals", "list", "--all"]);
    assert!(list.contains("  fix  "), "{list}");
    let log = place.ok(["audit", "log"]);
    assert!(log.contains("deny rm a: keep the logs"), "{log}");
}
