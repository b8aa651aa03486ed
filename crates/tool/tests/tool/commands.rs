//! Running commands: what is told of them, the background, approvals, and calls that are made once more.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use offshoot_engine::approval::{ApprovalScope, Approving};
use offshoot_needs::needs;
use offshoot_protocol::ExecState;
use offshoot_tool::{CallContext, CallEnding, CallOutcome, CallProgress, Capabilities, ToolHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{World, run};

fn rule(world: &World, decision: &str, program: &str) {
    let text = format!(
        "version = 1\n[[rule]]\nname = \"mine\"\ndecision = \"{decision}\"\nprefix = [\"{program}\"]\n"
    );
    fs::write(world.scratch.path().join("project/offshoot-policy.toml"), text).unwrap();
}

#[needs(UserNamespace)]
#[test]
fn a_command_tells_its_ending_its_output_and_its_changes() {
    run(async {
        let world = World::new();
        let shell = json!({"command": "echo out; echo err >&2; echo new > made; exit 3"});
        let result = world.result("run_command", shell).await;
        for part in ["exit code 3", "--- stdout\nout", "--- stderr\nerr", "--- changed", "/made"] {
            assert!(result.text.contains(part), "{part}: {}", result.text);
        }
        let exec = result.exec.unwrap();
        let told = (exec.state, exec.exit_code, exec.changed);
        assert_eq!(told, (Some(ExecState::Completed), Some(3), 1));
        assert!(!world.scratch.path().join("project/made").exists());
        let argv = json!({
            "argv": "[\"sh\", \"-c\", \"pwd; echo $WORD; cat\"]",
            "directory": "src", "env": {"WORD": "word"}, "stdin": "typed",
        });
        let text = world.text("run_command", argv).await;
        assert!(text.contains("/src\nword\ntyped"), "{text}");
        assert!(text.contains("`argv`: JSON was in a string"), "{text}");
        for (wrong, told) in [
            (json!({}), "give `command`"),
            (json!({"command": "true", "argv": ["true"]}), "not both"),
            (json!({"command": "true", "timeout_seconds": 0}), "above 0"),
            (json!({"command": "true", "allow_hosts": ["crates.io"]}), "--net allow=HOST"),
        ] {
            let text = world.refused("run_command", wrong).await;
            assert!(text.contains(told), "{text}");
        }
    });
}

#[needs(UserNamespace)]
#[test]
fn the_time_of_a_command_ends_it() {
    run(async {
        let world = World::new();
        let slow = json!({"command": "sleep 60", "timeout_seconds": 0.2});
        let result = world.result("run_command", slow).await;
        assert!(result.text.starts_with("timed out after 0.2 s"), "{}", result.text);
    });
}

#[needs(UserNamespace)]
#[test]
fn a_command_goes_on_in_the_background_until_it_is_ended() {
    run(async {
        let world = World::new();
        let context = world.context();
        let raw =
            json!({"command": "echo one; sleep 60; echo two", "background": true}).to_string();
        let started = world.registry.call("run_command", &raw, context).await;
        let started = started.result().unwrap();
        assert!(started.text.contains("running in the background"), "{}", started.text);
        let exec = started.exec.as_ref().unwrap();
        assert_eq!(exec.state, None);
        let id = exec.id;
        let poll = |offset: usize| json!({"id": id.to_string(), "offset": offset});
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let text = world.text("poll_command", poll(0)).await;
            if text.contains("--- output\none\n") && text.contains("offset 4 has") {
                break;
            }
            assert!(Instant::now() < until, "{text}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let text = world.text("poll_command", poll(4)).await;
        assert!(text.contains("nothing new was printed"), "{text}");
        let edit = json!({"path": "other", "content": "x"});
        let busy = world.refused("write_file", edit).await;
        assert!(busy.contains("is busy") && busy.contains("end_command"), "{busy}");
        let ended = world.result("end_command", json!({"id": id.to_string()})).await;
        assert!(ended.text.contains("interrupted"), "{}", ended.text);
        assert!(ended.text.contains("one") && !ended.text.contains("two"), "{}", ended.text);
        let after = world.result("poll_command", poll(0)).await;
        assert!(after.text.contains("interrupted"), "{}", after.text);
        let none = world.refused("poll_command", json!({"id": "nonsense"})).await;
        assert!(none.contains("none is running in the background"), "{none}");
    });
}

#[needs(UserNamespace)]
#[test]
fn a_command_that_takes_longer_than_its_call_waits_goes_on() {
    run(async {
        let world = World::new();
        let slow = json!({"command": "sleep 3; echo late > made", "wait_seconds": 1});
        let result = world.result("run_command", slow).await;
        let id = result.exec.unwrap().id.to_string();
        assert!(result.text.contains("running in the background"), "{}", result.text);
        let over = world.text("poll_command", json!({"id": id, "wait_seconds": 60})).await;
        assert!(over.contains("exit code 0") && over.contains("/made"), "{over}");
    });
}

#[needs(UserNamespace)]
#[test]
fn no_more_than_eight_commands_run_at_once_and_all_end_with_the_session() {
    run(async {
        let world = World::new();
        let sleep = json!({"command": "sleep 300", "background": true, "read_only": true});
        let mut ids = Vec::new();
        for _ in 0..8 {
            ids.push(world.result("run_command", sleep.clone()).await.exec.unwrap().id);
        }
        let ninth = world.refused("run_command", sleep).await;
        assert!(ninth.contains("8 commands are running in the background"), "{ninth}");
        let World { project, host, registry, scratch } = world;
        drop((host, registry));
        project.wait_idle();
        for id in ids {
            let envelope = project.envelope(&id).unwrap().unwrap();
            assert!(envelope.result.interrupted, "{envelope:?}");
        }
        drop(scratch);
    });
}

#[needs(UserNamespace)]
#[test]
fn a_call_that_is_cancelled_ends_its_command() {
    run(async {
        let world = World::new();
        let token = CancellationToken::new();
        let heard: Arc<Mutex<String>> = Arc::default();
        let (telling, ending) = (Arc::clone(&heard), token.clone());
        let context = world.context().cancel(token).progress(move |progress| {
            if let CallProgress::Output(text) = progress {
                telling.lock().unwrap().push_str(&text);
                ending.cancel();
            }
        });
        let raw = json!({"command": "echo begun; echo x > made; sleep 300"}).to_string();
        let outcome = world.registry.call("run_command", &raw, context).await;
        let result = outcome.result().unwrap();
        assert_eq!(result.ending, CallEnding::Cancelled);
        assert!(result.text.contains("interrupted"), "{}", result.text);
        assert_eq!(*heard.lock().unwrap(), "begun\n");
    });
}

#[needs(UserNamespace)]
#[test]
fn a_call_that_is_made_once_more_runs_nothing() {
    run(async {
        let world = World::new();
        let context = world.context();
        let raw = json!({"command": "echo line >> log; cat log"}).to_string();
        let first = world.registry.call("run_command", &raw, context.clone()).await;
        let again = world.registry.call("run_command", &raw, context.clone()).await;
        assert_eq!(first, again, "the session knows it");
        // Whoever begins anew has only the vault.
        let other = ToolHost::new(world.host.workspace().clone());
        let other = other.session(world.project.session("work").unwrap());
        let context = CallContext::new(Arc::new(other), context.call());
        let context = context.capabilities(Capabilities::all());
        let third = world.registry.call("run_command", &raw, context).await;
        let third = third.result().unwrap();
        assert!(third.text.starts_with("note: this call was made before"), "{}", third.text);
        assert_eq!(third.exec, first.result().unwrap().exec);
        assert_eq!(world.text("read_file", json!({"path": "log"})).await, "line\n");
    });
}

#[test]
fn a_denied_command_says_why() {
    run(async {
        let world = World::new();
        rule(&world, "deny", "make");
        let result = world.result("run_command", json!({"argv": ["make"]})).await;
        assert!(result.failed && result.text.contains("denied: it did not run"), "{}", result.text);
        assert_eq!(result.exec.unwrap().state, Some(ExecState::Denied));
    });
}

#[needs(UserNamespace)]
#[test]
fn a_command_that_needs_a_person_is_an_outcome_and_goes_on_when_they_approved() {
    run(async {
        let world = World::new();
        rule(&world, "require_approval", "touch");
        let context = world.context();
        let raw = json!({"argv": ["touch", "made"], "read_only": "false"}).to_string();
        let call = || world.registry.call("run_command", &raw, context.clone());
        let CallOutcome::NeedsApproval(needed) = call().await else { panic!("it just ran") };
        assert!(needed.approval.is_some());
        assert!(needed.text.contains("needs the approval of a person"), "{}", needed.text);
        assert!(!needed.reason.is_empty());
        assert!(needed.text.contains("a boolean was in a string"), "{}", needed.text);
        world.refused("read_file", json!({"path": "made"})).await;
        let CallOutcome::NeedsApproval(_) = call().await else { panic!("nobody decided yet") };
        let pending = world.project.pending().unwrap();
        let [approval] = &pending[..] else { panic!("{pending:?}") };
        let how = Approving { reason: None, scope: ApprovalScope::Once, seen: None };
        world.project.approve(approval, &how).unwrap();
        let approved = call().await;
        let approved = approved.result().unwrap();
        assert!(!approved.failed && approved.text.contains("/made"), "{}", approved.text);
        world.text("read_file", json!({"path": "made"})).await;
    });
}

#[needs(UserNamespace)]
#[test]
fn long_output_is_shortened_and_kept() {
    run(async {
        let world = World::new();
        let many =
            json!({"command": "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done"});
        let result = world.result("run_command", many).await;
        assert!(result.text.len() <= 24_000);
        assert!(result.text.contains("line 0\n") && result.text.contains("line 8999"));
        let id = result.full.unwrap();
        let (mut all, mut offset) = (String::new(), Some(0));
        while let Some(from) = offset {
            let read = json!({"id": id.as_str(), "offset": from, "limit": 20_000});
            let part: Value = world.text("read_result", read).await.into();
            let (head, text) = part.as_str().unwrap().split_once("]\n").unwrap();
            offset = head
                .split_once("; offset ")
                .map(|(_, rest)| rest.split(' ').next().unwrap().parse().unwrap());
            all.push_str(text);
        }
        assert!(all.contains("line 4500\n") && all.matches("line ").count() >= 9000);
    });
}
