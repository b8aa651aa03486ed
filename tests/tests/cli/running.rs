//! Commands that run: `ps`, `kill`, `logs -f`, and the filters of `execs`.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};

use crate::background::{Background, eventually, is_alive};
use crate::transcript::{Transcript, demo_vault};

const SLEEPS: &str = "echo new > new; echo ready; sleep 600";

fn transcript<'a>(place: &'a Place, running: &Background) -> Transcript<'a> {
    let mut transcript = Transcript::new(place);
    transcript.hide(&format!("  {}  ", running.pids[0]), "  [pid]  ");
    for seconds in 0..60 {
        transcript.hide(&format!("  {seconds}s  "), "  [age]  ");
        transcript.hide(&format!("({seconds}s)"), "([age])");
    }
    transcript
}

#[needs(UserNamespace)]
#[test]
fn running_commands_for_people() {
    let place = demo_vault();
    let running = Background::start(&place, SLEEPS);
    let mut transcript = transcript(&place, &running);
    let exec = running.exec.clone();
    transcript.run(&["ps"]);
    transcript.run(&["ps", "--all"]);
    transcript.run(&["status", "--all"]);
    transcript.run(&["execs", "--running"]);
    transcript.run(&["show", &exec]);
    transcript.run(&["logs", &exec]);
    transcript.run(&["kill", &exec]);
    transcript.run(&["ps"]);
    transcript.run(&["kill", &exec]);
    transcript.run(&["kill", "01zzzz"]);
    transcript.run(&["kill", "01zzzzzz"]);
    transcript.run(&["kill", &exec, "--signal", "NOTHING"]);
    transcript.run(&["execs", "--state", "running"]);
    transcript.run(&["execs"]);
    assert_snapshot!(transcript.finish());
    assert_eq!(running.envelope()["result"]["interrupted"], true);
}

#[needs(UserNamespace)]
#[test]
fn running_commands_for_programs() {
    let place = demo_vault();
    let running = Background::start(&place, SLEEPS);
    let exec = running.exec.clone();
    let mut transcript = transcript(&place, &running);
    transcript.json(&["ps"]);
    transcript.json(&["status", "--all"]);
    transcript.json(&["execs", "--running"]);
    transcript.json(&["show", &exec]);
    transcript.json(&["logs", &exec]);
    transcript.json(&["kill", &exec, "--now"]);
    transcript.json(&["kill", &exec]);
    transcript.json(&["ps"]);
    assert_snapshot!(transcript.finish());
    drop(running);
}

/// A command that is ended is sealed, and its envelope says so.
#[needs(UserNamespace)]
#[test]
fn what_is_killed_is_sealed() {
    let place = demo_vault();
    let stubborn = "trap '' TERM INT HUP; echo new > new; echo ready; while :; do sleep 1; done";
    for (arguments, quick) in [(&["--now"][..], true), (&["--signal", "kill"], true), (&[], false)]
    {
        let running = Background::start(&place, stubborn);
        let (exec, pids) = (running.exec.clone(), running.pids);
        let start = Instant::now();
        let killed = place.json(&[&["kill", &exec, "-c", "exec.grace=1s"], arguments].concat());
        assert_eq!(killed["ended"], true, "{killed}");
        // The grace is that of the process that runs the command: two seconds.
        assert_eq!(start.elapsed() < Duration::from_millis(1900), quick, "{arguments:?}");
        let envelope = running.envelope();
        let result = &envelope["result"];
        assert_eq!((&result["interrupted"], &result["signal"]), (&true.into(), &9.into()));
        assert_eq!(result["changed_files"][0]["path"], "/new", "{envelope:#}");
        assert_eq!(result["durability"], "flushed");
        assert!(pids.into_iter().all(|pid| !is_alive(pid)));
        place.ok(["undo", "-w", "fix"]);
    }
}

/// What a few characters fit is not ended: it takes enough of the id to tell it from others of the same day.
#[needs(UserNamespace)]
#[test]
fn few_characters_of_an_id_end_nothing() {
    let place = demo_vault();
    let running = Background::start(&place, SLEEPS);
    let exec = running.exec.clone();
    for length in 1..8 {
        let error = place.json_error(&["kill", &exec[..length], "--now"], 2);
        assert_eq!(error["candidates"][0], exec.as_str(), "{error}");
    }
    place.ok(["logs", &exec[..4]]);
    assert_eq!(place.json(&["ps"])["running"].as_array().map(Vec::len), Some(1));
    assert_eq!(place.json(&["kill", &exec[..8], "--now"])["ended"], true);
    drop(running);
}

/// Another signal is for the command to deal with.
#[needs(UserNamespace)]
#[test]
fn other_signals_are_passed_on() {
    let place = demo_vault();
    let text = "trap 'echo heard > heard; exit 7' USR1; echo ready; while :; do sleep 0.1; done";
    let running = Background::start(&place, text);
    let sent = place.json(&["kill", &running.exec, "--signal", "USR1"]);
    assert_eq!((&sent["signal"], &sent["ended"]), (&"USR1".into(), &false.into()));
    let envelope = running.envelope();
    let result = &envelope["result"];
    assert_eq!((&result["exit_code"], &result["interrupted"]), (&7.into(), &false.into()));
    assert_eq!(result["changed_files"][0]["path"], "/heard");
}

#[needs(Root, UserNamespace)]
#[test]
fn commands_of_others_are_not_ended() {
    let user = User::new();
    let place = demo_vault();
    let running = Background::start(&place, SLEEPS);
    give_away(place.path());
    let output = user.run(&place, &["kill", &running.exec]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("is not yours to end"), "{said}");
    assert!(is_alive(running.pids[0]));
}

#[needs(UserNamespace)]
#[test]
fn every_vault_is_looked_at() {
    let place = demo_vault();
    let running = Background::start(&place, SLEEPS);
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let output = place.command(["ps", "--all", "--json"]).current_dir(&elsewhere).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &document["result"]["running"][0];
    assert_eq!(
        (&found["exec"], &found["vault"]),
        (&running.exec.as_str().into(), &"project".into())
    );
    let output = place.command(["ps"]).current_dir(&elsewhere).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

/// What is printed is seen while the command runs, each stream on its own, and all of it by the end.
#[needs(UserNamespace)]
#[test]
fn output_is_followed() {
    let place = demo_vault();
    let text =
        "echo ready; until [ -e go ]; do sleep 0.05; done; echo second; echo problem >&2; exit 3";
    let running = Background::start(&place, text);
    let mut command = place.command(["logs", "-f", &running.exec]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    assert_eq!(first, "ready\n", "it is there while the command runs");
    assert!(is_alive(running.pids[1]));
    // The command's root is its own: only a process of the same namespace could write there, so it is told by a signal.
    let sent = place.json(&["kill", &running.exec, "--no-wait"]);
    assert_eq!(sent["ended"], false);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(follower.wait().unwrap().success(), "the exit code is not the command's");
    assert_eq!(running.envelope()["result"]["signal"], 15);
}

#[needs(UserNamespace)]
#[test]
fn output_after_the_first_look_is_followed_too() {
    let place = demo_vault();
    let text = "echo ready; sleep 1; echo second; echo problem >&2; exit 3";
    let running = Background::start(&place, text);
    let output = place.run(["logs", "-f", &running.exec]);
    assert_eq!(output.stdout, b"ready\nsecond\n");
    assert_eq!(output.stderr, b"problem\n");
    assert_eq!(output.status.code(), Some(0));
    let exec = running.exec.clone();
    assert_eq!(running.envelope()["result"]["exit_code"], 3);
    assert_eq!(place.run(["logs", "-f", &exec]).stdout, b"ready\nsecond\n", "of one that is over");
}

#[needs(UserNamespace)]
#[test]
fn following_one_that_is_cut_short_fails() {
    let place = demo_vault();
    let running = Background::start(&place, SLEEPS);
    let mut command = place.command(["logs", "-f", &running.exec]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    running.crash();
    assert_eq!(follower.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    follower.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("was cut short"), "{said}");
}

/// What is kept on disk meanwhile has the limit of what is kept at all.
#[needs(UserNamespace)]
#[test]
fn output_on_disk_is_limited() {
    let place = demo_vault();
    let text = "echo ready; yes | head -c 1000000; yes no | head -c 1000000 >&2; sleep 600";
    let limit = "exec.output_limit=10000";
    let arguments = ["exec", "-w", "fix", "-c", limit, "--shell", text];
    let running = Background::start_with(&place, &arguments);
    let length =
        |stream: &str| place.json(&["logs", &running.exec])[stream].as_str().unwrap().len();
    eventually("both streams are full", || {
        length("stdout") == 10_000 && length("stderr") == 10_000
    });
    place.json(&["kill", &running.exec, "--now"]);
    drop(running);
}

fn commands(place: &Place, arguments: &[&str]) -> Vec<String> {
    let listed = place.json(&[&["execs"], arguments].concat())["execs"].clone();
    let command = |exec: &Value| exec["command"].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(command).collect()
}

#[needs(UserNamespace)]
#[test]
fn execs_are_filtered() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    for (workspace, text) in [
        ("fix", "echo 1 > 1"),
        ("fix", "exit 3"),
        ("other", "true"),
        ("other", "echo 2 > 2; exit 1"),
    ] {
        place.run(["exec", "-w", workspace, "--quiet", "--shell", text]);
    }
    place.run(["exec", "-w", "fix", "--quiet", "--", "no-such-command"]);
    let all = ["no-such-command", "echo 2 > 2; exit 1", "true", "exit 3", "echo 1 > 1"];
    assert_eq!(commands(&place, &[]), all);
    assert_eq!(commands(&place, &["-w", "other"]), all[1..3]);
    assert_eq!(commands(&place, &["--failed"]), [all[0], all[1], all[3]]);
    assert_eq!(commands(&place, &["--state", "failed"]), all[..1]);
    assert_eq!(commands(&place, &["--state", "completed"]), all[1..]);
    assert_eq!(commands(&place, &["--changed"]), [all[1], all[4]]);
    assert_eq!(commands(&place, &["--changed", "--failed"]), [all[1]]);
    assert_eq!(commands(&place, &["--command", "echo"]), [all[1], all[4]]);
    assert_eq!(commands(&place, &["--since", "1h"]), all);
    assert_eq!(commands(&place, &["--until", "1h"]), Vec::<String>::new());
    assert_eq!(
        commands(&place, &["--since", "2001-01-31", "--until", "2002-01-31T12:00"]),
        Vec::<String>::new()
    );
    assert_eq!(commands(&place, &["--running"]), Vec::<String>::new());
    let some = place.json(&["execs", "--changed", "-n", "1"]);
    assert_eq!((&some["more"], some["execs"].as_array().unwrap().len()), (&true.into(), 1));
    let last = place.json(&["execs", "--changed", "-n", "2"]);
    assert_eq!(last["more"], json!(false));
    let third = place.json(&["execs"])["execs"][2]["started"].as_str().unwrap().to_owned();
    assert_eq!(commands(&place, &["--since", &third]), all[..3]);
    assert_eq!(commands(&place, &["--until", &third]), all[3..]);
    place.json_error(&["execs", "--since", "yesterday-ish"], 2);
    place.json_error(&["execs", "--state", "sleeping"], 2);
}
