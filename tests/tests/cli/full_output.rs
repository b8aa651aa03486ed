//! An answer that cannot be written is an error, for people and for programs.

use std::fs::File;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::transcript::demo_vault;

/// Runs the product with a standard output that has no room.
fn without_room(place: &Place, arguments: &[&str]) -> Output {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = place.command(arguments).stdout(full).output();
    child.unwrap()
}

#[track_caller]
fn check(place: &Place, arguments: &[&str]) -> String {
    let output = without_room(place, arguments);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{arguments:?}: {told}");
    assert!(told.contains("cannot write the output: No space left"), "{arguments:?}: {told}");
    told
}

#[test]
fn a_document_without_room_is_an_error() {
    let place = demo_vault();
    place.ok(["init"]);
    place.ok(["workspace", "create", "w"]);
    place.ok_with(["fs", "write", "/new", "-w", "w"], b"new\n");
    for arguments in [&["status", "--json"][..], &["status"], &["show", "nothing", "--json"]] {
        let output = without_room(&place, arguments);
        assert!(!output.stderr.is_empty() && !output.status.success(), "{arguments:?}");
    }
    // Some of it is written before all of it is known.
    let large: Vec<u8> =
        (0..200_000_u32).flat_map(|it| it.wrapping_mul(0x9e37_79b9).to_be_bytes()).collect();
    place.ok_with(["fs", "write", "/large", "-w", "w"], &large);
    check(&place, &["diff", "-w", "w"]);
    check(&place, &["fs", "cat", "/large", "-w", "w"]);
    check(&place, &["diff", "-w", "w", "--json"]);
    check(&place, &["commit", "-w", "w", "--json"]);
    assert!(place.project().join("new").exists(), "it was done, and only its answer is lost");
}

#[test]
fn help_without_room_is_an_error() {
    let place = Place::new();
    for arguments in [
        &["--help"][..],
        &["help"],
        &["help", "commit"],
        &["exec", "--help"],
        &["--version"],
        &["help", "--json"],
        &["version"],
        &["completions", "bash"],
        &["man"],
    ] {
        check(&place, arguments);
    }
}

/// Whoever closed the pipe has seen enough.
#[test]
fn help_for_a_reader_that_is_gone_is_no_error() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["--version"], &["help", "--json"], &["man"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command(arguments).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[needs(UserNamespace)]
#[test]
fn the_answer_of_a_command_that_ran_can_be_seen_later() {
    let place = demo_vault();
    place.ok(["init"]);
    for arguments in [
        &["exec", "-w", "w", "--", "echo", "said"][..],
        &["exec", "--json", "-w", "w", "--", "echo", "said"],
        &["run", "-w", "w", "--", "echo", "said"],
    ] {
        let told = check(&place, arguments);
        let id = told.split("`offshoot show ").nth(1).and_then(|rest| rest.split('`').next());
        let shown = place.ok(["show", id.unwrap(), "--json"]);
        assert!(shown.contains("said"), "{arguments:?}: {shown}");
    }
}
