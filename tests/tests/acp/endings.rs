//! How turns, agents and editors end.

use std::io::Write;
use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema::{CancelNotification, StopReason};
use offshoot_needs::needs;
use offshoot_tests::product::Place;
use serde_json::json;

use crate::editor::{acp, ended, initialize, open, place, prompt, run, start};

fn running(place: &Place) -> usize {
    place.json(&["ps"])["running"].as_array().unwrap().len()
}

fn wait_for(what: &str, reached: impl Fn() -> bool) {
    let started = Instant::now();
    while !reached() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_turn_is_cancelled_with_the_agent_or_without_it() {
    let place = place();
    let project = place.project();
    run(&place, &acp(&[], &[]), "yes", async move |agent, _| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        for (script, ends) in [("wait", false), ("write a.txt a\nhang", true)] {
            let (cancelled, talks) = (agent.clone(), session.clone());
            agent
                .spawn(async move {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    cancelled.send_notification(CancelNotification::new(talks))
                })
                .unwrap();
            assert_eq!(prompt(&agent, &session, script).await.unwrap(), StopReason::Cancelled);
            if ends {
                // It may take a moment until it is over.
                tokio::time::sleep(Duration::from_secs(3)).await;
                let over = prompt(&agent, &session, "env A").await.unwrap_err();
                assert!(over.message.contains("the agent ended: "), "{}", over.message);
            } else {
                assert_eq!(prompt(&agent, &session, "env A").await.unwrap(), StopReason::EndTurn);
            }
        }
    });
    assert_eq!(running(&place), 0);
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "agent-1"]), "a\n");
}

#[needs(UserNamespace, "python3")]
#[test]
fn an_agent_that_crashes_is_told_about_and_its_work_is_kept() {
    let place = place();
    let project = place.project();
    let (_, status, _) = run(&place, &acp(&[], &[]), "yes", async move |agent, _| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        let crashed =
            prompt(&agent, &session, "write a.txt a\ncrash out of ideas").await.unwrap_err();
        let expected = "the agent ended: exit code 3; it said: out of ideas. What it wrote is in workspace agent-1";
        assert_eq!(crashed.message, expected);
        // The editor goes on.
        let other = open(&agent, &project).await;
        assert_eq!(prompt(&agent, &other, "env A").await.unwrap(), StopReason::EndTurn);
    });
    assert!(status.success());
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "agent-1"]), "a\n");
}

#[needs(UserNamespace, "python3")]
#[test]
fn what_is_no_message_goes_to_standard_error() {
    let place = place();
    let project = place.project();
    let (_, _, errors) = run(&place, &acp(&[], &["garbage"]), "yes", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        assert_eq!(prompt(&agent, &session, "garbage\nenv A").await.unwrap(), StopReason::EndTurn);
        assert_eq!(seen.said(), "not set");
    });
    assert_eq!(errors.matches("Loaded { cached credentials.").count(), 2, "{errors}");
}

#[needs(UserNamespace, "python3")]
#[test]
fn an_agent_that_cannot_start_is_told_about() {
    let place = place();
    run(&place, &["acp", "--", "no-such-agent"], "yes", async move |agent, _| {
        let failed = initialize(&agent).await.unwrap_err();
        assert!(failed.message.contains("no-such-agent"), "{}", failed.message);
    });
    run(&place, &["acp", "--", "echo", "hello"], "yes", async move |agent, _| {
        let failed = initialize(&agent).await.unwrap_err();
        assert!(failed.message.starts_with("the agent ended: exit code 0"), "{}", failed.message);
    });
    assert_eq!(place.json(&["workspace", "list"])["workspaces"], json!([]));
}

/// Starts an agent that works and never answers, and returns when it does.
fn busy(place: &Place) -> std::process::Child {
    let mut child = start(place, &acp(&[], &[]));
    let input = child.stdin.as_mut().unwrap();
    let folder = place.project();
    let text = json!([{ "type": "text", "text": "write a.txt a\nhang" }]);
    for (id, method, params) in [
        (1, "initialize", json!({ "protocolVersion": 1 })),
        (2, "session/new", json!({ "cwd": folder, "mcpServers": [] })),
        (3, "session/prompt", json!({ "sessionId": "s1", "prompt": text })),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{message}").unwrap();
        let mut answer = [0; 1];
        if id < 3 {
            // Up to the end of the line.
            while answer != *b"\n" {
                std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut answer).unwrap();
            }
        }
    }
    wait_for("it runs", || running(place) == 1);
    std::thread::sleep(Duration::from_millis(500));
    child
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_killed_program_leaves_nothing_running_and_loses_nothing() {
    let place = place();
    let mut child = busy(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("it ends", || running(&place) == 0);
    wait_for("it is recorded", || !place.json(&["execs"])["execs"].as_array().unwrap().is_empty());
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "agent-1"]), "a\n");
}

#[needs(UserNamespace, "python3")]
#[test]
fn an_editor_that_is_gone_ends_everything() {
    let place = place();
    let mut child = busy(&place);
    drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
    ended(&mut child);
    assert_eq!(running(&place), 0);
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "agent-1"]), "a\n");
}

#[test]
fn without_an_agent_it_says_how() {
    let output = place().run(["acp"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("offshoot acp gemini"), "{said}");
}
