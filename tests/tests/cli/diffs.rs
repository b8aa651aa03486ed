//! `diff` and `status`.

use std::process::Command;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::scan::{CompareOptions, compare, scan};

use crate::transcript::{Transcript, demo_vault};

/// A change of every kind, and a checkpoint in the middle.
fn changed() -> Place {
    let place = demo_vault();
    let main = "fn main() {\n    println!(\"good bye\");\n}\n";
    place.ok_with(["fs", "write", "/src/main.rs", "-w", "fix"], main.as_bytes());
    place.ok(["fs", "mv", "/src/lib.rs", "/src/library.rs", "-w", "fix"]);
    place.ok(["checkpoint", "create", "half", "-w", "fix"]);
    place.ok(["fs", "rm", "/run.sh", "-w", "fix"]);
    place.ok_with(["fs", "write", "-p", "/doc/new.txt", "-w", "fix"], b"no newline at the end");
    place.ok_with(["fs", "write", "/data.bin", "-w", "fix"], b"\0\x01\x02binary");
    place
}

#[test]
fn diffs_for_people() {
    let place = changed();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["diff"]);
    transcript.run(&["diff", "--patch", "-w", "fix", "-c", "diff.context=0"]);
    transcript.run(&["diff", "--stat"]);
    transcript.run(&["diff", "--name-status"]);
    transcript.run(&["diff", "--name-only"]);
    transcript.run(&["diff", "--name-status", "-c", "diff.renames=false"]);
    transcript.run(&["diff", "--name-status", "--metadata"]);
    transcript.run(&["diff", "--name-status", "half", "-w", "fix"]);
    transcript.run(&["diff", "--name-status", "fix@half", "head"]);
    transcript.run(&["diff", "--name-status", "fix", "fix"]);
    transcript.run(&["diff", "--name-status", "--", "/src", "/doc"]);
    transcript.run(&["diff", "head", "fix", "--stat", "--", "/src/main.rs"]);
    transcript.run(&["diff", "--exit-code", "--name-only", "--", "/README.md"]);
    transcript.run(&["diff", "--exit-code", "--name-only", "--", "/doc"]);
    transcript.run(&["status"]);
    transcript.run(&["status", "--metadata"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn diffs_for_programs() {
    let place = changed();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["diff"]);
    transcript.json(&["diff", "--stat", "--", "/src"]);
    transcript.json(&["diff", "--patch", "--", "/src/main.rs", "/doc"]);
    transcript.json(&["diff", "--metadata", "fix@half", "fix"]);
    transcript.json(&["diff", "--exit-code", "--name-only", "--", "/doc"]);
    transcript.json(&["status"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn the_exit_code_says_whether_there_are_differences() {
    let place = changed();
    let code = |arguments: &[&str]| place.run(arguments).status.code();
    assert_eq!(code(&["diff"]), Some(0));
    assert_eq!(code(&["diff", "--exit-code"]), Some(1));
    assert_eq!(code(&["diff", "--exit-code", "--json"]), Some(1));
    assert_eq!(code(&["diff", "--exit-code", "fix", "fix@half"]), Some(1));
    assert_eq!(code(&["diff", "--exit-code", "head", "fix@base"]), Some(0));
}

#[needs("git")]
#[test]
fn git_applies_a_patch_to_the_project() {
    let place = changed();
    // Binary files have no lines, so a patch only names them.
    place.ok(["fs", "rm", "/data.bin", "-w", "fix"]);
    let patch = place.ok(["diff", "-w", "fix"]);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(place.project()).env("HOME", place.path());
        assert!(git.env("GIT_CONFIG_NOSYSTEM", "1").status().unwrap().success(), "{arguments:?}");
    };
    std::fs::write(place.path().join("patch"), patch).unwrap();
    git(&["init", "--quiet"]);
    git(&["apply", "../patch"]);
    std::fs::remove_dir_all(place.project().join(".git")).unwrap();
    let out = place.path().join("out");
    place.ok(["fs", "export", "/", out.to_str().unwrap(), "-w", "fix"]);
    let options = CompareOptions::content();
    let differences = compare(&scan(&place.project()).unwrap(), &scan(&out).unwrap(), &options);
    assert!(differences.is_empty(), "{differences:?}");
}
