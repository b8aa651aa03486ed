//! `checkpoint`, and `snapshot create`, which is another word for it.

use insta::assert_snapshot;

use crate::transcript::{Transcript, demo_vault};

#[test]
fn checkpoints_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["checkpoint", "list", "-w", "fix"]);
    transcript.run(&["checkpoint", "create", "before", "-w", "fix", "-m", "tests pass"]);
    transcript.run_with(&["fs", "write", "/README.md", "-w", "fix"], "other\n");
    transcript.run(&["fs", "rm", "/run.sh", "-w", "fix"]);
    transcript.run(&["snapshot", "create", "fix", "--name", "after"]);
    transcript.run(&["checkpoint", "create", "-w", "fix"]);
    transcript.run(&["checkpoint", "list"]);
    transcript.run(&["checkpoint", "show", "before"]);
    transcript.run(&["checkpoint", "restore", "before", "-w", "fix"]);
    transcript.run(&["checkpoint", "restore", "before", "-w", "fix"]);
    transcript.run(&["status", "-w", "fix"]);
    transcript.run(&["undo", "-w", "fix"]);
    transcript.run(&["status", "-w", "fix"]);
    transcript.run(&["checkpoint", "restore", "fix@base", "-w", "fix"]);
    transcript.run(&["checkpoint", "delete", "before", "-w", "fix"]);
    transcript.run(&["checkpoint", "list", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn checkpoints_for_programs() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["checkpoint", "create", "before", "-w", "fix", "-m", "tests pass"]);
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"other\n");
    transcript.json(&["snapshot", "create", "fix", "--name", "after"]);
    transcript.json(&["checkpoint", "list", "-w", "fix"]);
    transcript.json(&["checkpoint", "show", "before"]);
    transcript.json(&["checkpoint", "restore", "before", "-w", "fix"]);
    transcript.json(&["checkpoint", "restore", "before", "-w", "fix"]);
    transcript.json(&["checkpoint", "delete", "after", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn restoring_brings_every_byte_back() {
    let place = demo_vault();
    let all = |reference: &str| place.json(&["fs", "tree", "--at", reference])["entries"].clone();
    let before = all("fix");
    place.ok(["checkpoint", "create", "start", "-w", "fix"]);
    place.ok(["fs", "rm", "-r", "/src", "-w", "fix"]);
    place.ok(["fs", "mv", "/README.md", "/other.md", "-w", "fix"]);
    let after = all("fix");
    assert_ne!(before, after);
    place.ok(["checkpoint", "restore", "start", "-w", "fix"]);
    assert_eq!(all("fix"), before);
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(all("fix"), after);
    assert_eq!(all("fix@start"), before);
}

/// The name of a checkpoint is that of the workspace at hand, and never by chance that of another.
#[test]
fn a_checkpoint_of_another_workspace_is_told_whose_it_is() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    place.ok_with(["fs", "write", "/README.md", "-w", "other"], b"other\n");
    place.ok(["checkpoint", "create", "before", "-w", "other"]);
    let error = place.json_error(&["checkpoint", "restore", "before", "-w", "fix"], 3);
    assert_eq!(error["message"], "checkpoint before is one of workspace other, not of fix");
    let commands = error["commands"].as_array().unwrap().iter();
    let commands: Vec<Vec<String>> =
        commands.map(|command| serde_json::from_value(command["argv"].clone()).unwrap()).collect();
    let restore = ["offshoot", "checkpoint", "restore"];
    assert_eq!(commands[0], [&restore[..], &["before", "-w", "other"]].concat());
    assert_eq!(commands[1], [&restore[..], &["other@before", "-w", "fix"]].concat());
    assert_ne!(place.ok(["fs", "cat", "/README.md", "-w", "fix"]), "other\n");
    for command in &commands {
        place.ok(&command[1..]);
    }
    assert_eq!(place.ok(["fs", "cat", "/README.md", "-w", "fix"]), "other\n");
}
