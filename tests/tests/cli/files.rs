//! `fs`.

use std::fs;

use insta::assert_snapshot;
use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::product::Place;
use offshoot_tests::scan::{CompareOptions, compare, scan};

use crate::transcript::{Transcript, demo_vault, settle};

#[test]
fn reading_for_people() {
    let place = demo_vault();
    place.ok(["fs", "rm", "/run.sh", "-w", "fix"]);
    let mut transcript = Transcript::new(&place);
    transcript.run(&["fs", "ls"]);
    transcript.run(&["fs", "ls", "/src", "-w", "fix"]);
    transcript.run(&["fs", "ls", "-l", "--at", "head"]);
    transcript.run(&["fs", "ls", "guide", "-l", "--at", "head"]);
    transcript.run(&["fs", "cat", "/README.md"]);
    transcript.run(&["fs", "cat", "guide"]);
    transcript.run(&["fs", "cat", "/run.sh", "--at", "fix@base"]);
    transcript.run(&["fs", "tree"]);
    transcript.run(&["fs", "tree", "--depth", "1", "--at", "head"]);
    transcript.run(&["fs", "tree", "/src"]);
    transcript.run(&["fs", "stat", "/README.md"]);
    transcript.run(&["fs", "stat", "/guide"]);
    transcript.run(&["fs", "stat", "/src", "--at", "head"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn reading_for_programs() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["fs", "ls"]);
    transcript.json(&["fs", "ls", "/README.md", "--at", "head"]);
    transcript.json(&["fs", "cat", "/guide"]);
    transcript.json(&["fs", "tree", "/src", "--at", "fix"]);
    transcript.json(&["fs", "stat", "/guide"]);
    transcript.json(&["fs", "stat", "/"]);
    assert_snapshot!(transcript.finish());
}

/// A folder of the host to import.
fn with_source(place: &Place) -> String {
    let source = place.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("one.txt"), "1\n").unwrap();
    fs::write(source.join("two.sh"), "2\n").unwrap();
    settle(&source);
    source.to_str().unwrap().to_owned()
}

#[test]
fn changing_for_people() {
    let place = demo_vault();
    let source = with_source(&place);
    let mut transcript = Transcript::new(&place);
    transcript.run_with(&["fs", "write", "/hello.txt", "-w", "fix"], "hi\n");
    transcript.run_with(&["fs", "write", "/hello.txt", "-w", "fix"], "hi\n");
    transcript.run_with(&["fs", "write", "/a/b/c.txt", "-w", "fix"], "deep\n");
    transcript.run_with(&["fs", "write", "-p", "/a/b/c.txt", "-w", "fix"], "deep\n");
    transcript.run(&["fs", "write", "/from.md", "--from", "README.md", "-w", "fix"]);
    transcript.run(&["fs", "mkdir", "/docs", "-w", "fix"]);
    transcript.run(&["fs", "mkdir", "/docs", "-w", "fix"]);
    transcript.run(&["fs", "mkdir", "-p", "/docs/x/y", "-w", "fix"]);
    transcript.run(&["fs", "cp", "/hello.txt", "/docs", "-w", "fix"]);
    transcript.run(&["fs", "cp", "-r", "/src", "/old", "-w", "fix"]);
    transcript.run(&["fs", "mv", "/hello.txt", "/docs/bye.txt", "-w", "fix"]);
    transcript.run(&["fs", "mv", "/old", "/older", "-w", "fix"]);
    transcript.run(&["fs", "rm", "/from.md", "/docs/hello.txt", "-w", "fix"]);
    transcript.run(&["fs", "rm", "-r", "/older", "-w", "fix"]);
    transcript.run(&["fs", "import", &source, "/data", "-w", "fix"]);
    transcript.run(&["fs", "import", "run.sh", "/again.sh", "-w", "fix"]);
    transcript.run(&["fs", "rm", "-r", "/src", "/README.md", "-w", "fix"]);
    transcript.run(&["fs", "revert", "/src/main.rs", "/README.md", "-w", "fix"]);
    transcript.run(&["fs", "revert", "/data", "--at", "head", "-w", "fix"]);
    transcript.run(&["fs", "revert", "/README.md", "-w", "fix"]);
    transcript.run(&["fs", "export", "/docs", "../docs", "-w", "fix"]);
    transcript.run(&["fs", "export", "/run.sh", "../run.sh", "--at", "head"]);
    transcript.run(&["fs", "export", "/", "../docs", "-w", "fix"]);
    transcript.run(&["fs", "tree", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn changing_for_programs() {
    let place = demo_vault();
    let source = with_source(&place);
    let mut transcript = Transcript::new(&place);
    transcript.json_with(&["fs", "write", "/hello.txt", "-w", "fix"], "hi\n");
    transcript.json_with(&["fs", "write", "/hello.txt", "-w", "fix"], "hi\n");
    transcript.json(&["fs", "mkdir", "-p", "/docs/x", "-w", "fix"]);
    transcript.json(&["fs", "cp", "/hello.txt", "/docs", "-w", "fix"]);
    transcript.json(&["fs", "mv", "/hello.txt", "/bye.txt", "-w", "fix"]);
    transcript.json(&["fs", "rm", "-r", "/docs", "-w", "fix"]);
    transcript.json(&["fs", "import", &source, "/data", "-w", "fix"]);
    transcript.json(&["fs", "revert", "/bye.txt", "-w", "fix"]);
    transcript.json(&["fs", "export", "/data", "../data", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn a_tree_that_is_hard_to_keep_comes_back_whole() {
    let place = Place::new();
    let options = AwkwardOptions { many: 300, ..AwkwardOptions::default() };
    awkward::build(&place.project(), &options).unwrap();
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    let out = place.path().join("out");
    place.ok(["fs", "export", "/", out.to_str().unwrap(), "-w", "fix"]);
    let differences =
        compare(&scan(&place.project()).unwrap(), &scan(&out).unwrap(), &CompareOptions::default());
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
    assert_eq!(place.json(&["init"])["changed"], false);
    for folder in [out, place.project()] {
        awkward::clear(&folder).unwrap();
    }
    awkward::clear(&place.home()).unwrap();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = demo_vault();
    let big = "line\n".repeat(400_000);
    place.ok_with(["fs", "write", "/big.txt", "-w", "fix"], big.as_bytes());
    for arguments in [["fs", "cat", "/big.txt"], ["diff", "-w", "fix"]] {
        let mut command = place.command(arguments);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("error"), "{output:?}");
    }
    assert_eq!(place.ok(["fs", "cat", "/big.txt"]), big);
}
