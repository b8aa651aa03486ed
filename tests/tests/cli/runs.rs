//! `run` without a terminal, as scripts and pipes use it.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;
use offshoot_needs::needs;

use crate::transcript::{Transcript, demo_vault};

#[needs(UserNamespace)]
#[test]
fn runs_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    let change = "echo hi > f; rm run.sh; mv src/lib.rs src/new.rs; chmod 600 README.md; echo out";
    transcript.run(&["run", "-w", "fix", "--", "sh", "-c", change]);
    transcript.run_with(&["run", "-w", "fix", "--", "sh", "-c", "cat; exit 3"], "from a pipe\n");
    let many = "for i in $(seq 10); do echo $i > many-$i; done";
    transcript.run(&["run", "-w", "fix", "--", "sh", "-c", many]);
    transcript.run(&["run", "-w", "fix", "--quiet", "--", "sh", "-c", "echo quiet > g; echo out"]);
    transcript.run(&["run", "-w", "fix", "--read-only", "--", "sh", "-c", "echo > f"]);
    transcript.run(&["run", "-w", "fix", "--", "no-such-command"]);
    transcript.run(&["run", "-w", "fix", "--timeout", "100ms", "--", "sleep", "30"]);
    transcript.run(&["run", "-w", "no/thing", "--", "true"]);
    transcript.run(&["run", "-w", "fix", "--timeout", "soon"]);
    transcript.run(&["run", "-w", "fix", "--from", "head", "--", "true"]);
    assert_snapshot!(transcript.finish());
}

#[needs(UserNamespace)]
#[test]
fn runs_for_programs() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.json_with(&["run", "-w", "fix", "--", "sh", "-c", "cat > f; echo out"], "input");
    transcript.json(&["run", "-w", "no/thing", "--", "true"]);
    assert_snapshot!(transcript.finish());
}

/// A link in a chain of commands: each stream goes where it belongs and nothing is added to it.
#[needs(UserNamespace)]
#[test]
fn streams_are_passed_through_as_they_are() {
    let place = demo_vault();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let script = "cat; printf '\\377err' >&2";
    let output = place.run_with(["run", "-w", "fix", "-q", "--", "sh", "-c", script], &bytes);
    assert!(output.stdout == bytes, "{} bytes", output.stdout.len());
    assert_eq!(output.stderr, b"\xfferr");
    // A reader that has enough ends the command, as in `yes | head`.
    let mut yes = place.command(["run", "-w", "fix", "--", "yes"]);
    let mut yes = yes.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut start = [0; 4];
    yes.stdout.take().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"y\ny\n");
    yes.wait().unwrap();
}

/// A fork starts from what is in the folder, and its name is the way back.
#[needs(UserNamespace)]
#[test]
fn a_run_without_a_workspace_forks_one() {
    let place = demo_vault();
    let output = place.run(["run", "--", "sh", "-c", "echo hi > f"]);
    let text = String::from_utf8(output.stderr).unwrap();
    let name = text.split_once("undo -w ").unwrap().1.split_whitespace().next().unwrap();
    assert_ne!(name, "fix");
    assert_eq!(place.ok(["fs", "cat", "/f", "-w", name]), "hi\n");
    assert!(!place.project().join("f").exists());
    place.ok(["undo", "-w", name]);
    assert!(!place.run(["fs", "cat", "/f", "-w", name]).status.success());
    place.ok(["discard", "-w", name]);
    let ephemeral = ["-c", "workspace.ephemeral_ttl=1s", "run", "--ephemeral", "--from", "fix"];
    place.ok([&ephemeral[..], &["--", "true"]].concat());
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    place.ok(["run", "-w", "fix", "--", "true"]);
    assert_eq!(place.json(&["workspace", "list"])["workspaces"].as_array().unwrap().len(), 1);
}
