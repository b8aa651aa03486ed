//! Small things that people expect.

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};

use crate::transcript::{Transcript, demo, demo_vault};

fn told(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn a_fork_makes_the_vault_at_its_first_use() {
    for command in [&["new", "fix"][..], &["workspace", "create", "fix"]] {
        let place = demo();
        let said = told(&place, command);
        assert!(said.contains("created vault project for"), "{said}");
        assert!(said.contains("workspace fix forked from head\n"), "{said}");
        assert_eq!(place.ok(["fs", "cat", "/run.sh", "-w", "fix"]), "#!/bin/sh\nexec cargo run\n");
    }
}

#[test]
fn no_checkpoints_are_said_to_be_none() {
    let place = demo_vault();
    let said = place.ok(["checkpoint", "list", "-w", "fix"]);
    assert_eq!(said, "workspace fix has no checkpoints\n");
}

#[test]
fn the_version_is_a_command_too() {
    let place = Place::new();
    assert_eq!(place.ok(["version"]), place.ok(["--version"]));
    let mut transcript = Transcript::new(&place);
    transcript.hide(env!("CARGO_PKG_VERSION"), "[version]");
    transcript.run(&["version"]);
    transcript.json(&["version"]);
    for arguments in [["--version", "--json"], ["--json", "-V"]] {
        let output = place.run(arguments);
        assert_eq!(document_of(&output), document_of(&place.run(["version", "--json"])));
    }
    assert_snapshot!(transcript.finish());
}

#[test]
fn several_things_are_allowed_at_once() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/a", "-w", "fix"], b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n");
    assert_eq!(place.run(["commit", "-n", "-w", "fix"]).status.code(), Some(4));
    place.ok(["commit", "-n", "-w", "fix", "--allow", "git,markers"]);
    assert!(!place.project().join("a").exists(), "-n changes nothing");
}

#[needs(UserNamespace)]
#[test]
fn a_number_alone_is_of_seconds() {
    let place = demo_vault();
    let output = place.run(["exec", "-w", "fix", "--timeout", "1", "--", "sleep", "600"]);
    assert_eq!(output.status.code(), Some(124), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("timed out after 1s"), "{output:?}");
}

#[needs(UserNamespace)]
#[test]
fn who_pipes_into_a_command_hears_of_the_option() {
    let place = demo_vault();
    let hint = "add -i to pass it on";
    let said = |arguments: &[&str], input: &[u8]| {
        String::from_utf8_lossy(&place.run_with(arguments, input).stderr).into_owned()
    };
    let without = said(&["exec", "-w", "fix", "cat"], b"hello\n");
    assert!(without.contains(hint), "{without}");
    for (arguments, input) in [
        (&["exec", "-w", "fix", "-i", "cat"][..], b"hello\n".as_slice()),
        (&["exec", "-w", "fix", "cat"], b""),
        (&["exec", "-w", "fix", "--json", "cat"], b"hello\n"),
        (&["run", "-w", "fix", "cat"], b"hello\n"),
    ] {
        let said = said(arguments, input);
        assert!(!said.contains(hint), "{arguments:?}: {said}");
    }
}

/// What a refusal advises is what `policy explain` advises.
#[test]
fn refusals_and_explanations_agree() {
    let place = demo_vault();
    for command in [&["touch", "/etc/passwd"][..], &["sudo", "ls"], &["curl", "x.example"]] {
        let refused = place.run([&["exec", "-w", "fix", "--json", "--"], command].concat());
        let refused = document_of(&refused);
        let explained = place.json(&[&["policy", "explain", "--"], command].concat());
        let hint = &refused["result"]["error"]["hint"];
        let advice = &explained["verdict"]["remedy"]["advice"];
        assert_eq!(hint, advice, "{command:?}: {refused} {explained}");
    }
}
