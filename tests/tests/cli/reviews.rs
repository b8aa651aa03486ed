//! `review` for programs, and the forms of `diff` and `status` for people.

use std::fs;

use insta::assert_snapshot;
use offshoot_tests::product::Place;
use serde_json::Value;

use crate::transcript::{Transcript, demo_vault};

const NUMBERS: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

/// A file with two hunks, a new file, a file that is gone and one that was moved and changed.
fn changed() -> Place {
    let place = demo_vault();
    fs::write(place.project().join("numbers"), NUMBERS).unwrap();
    place.ok(["init"]);
    place.ok(["workspace", "create", "work"]);
    let numbers = NUMBERS.replace("2\n3\n", "two\n3\n").replace("11\n", "eleven\n");
    place.ok_with(["fs", "write", "/numbers", "-w", "work"], numbers.as_bytes());
    place.ok_with(["fs", "write", "-p", "/deep/new", "-w", "work"], b"new\n");
    place.ok(["fs", "rm", "/run.sh", "-w", "work"]);
    place.ok(["fs", "mv", "/src/lib.rs", "/src/library.rs", "-w", "work"]);
    place
}

fn items(place: &Place, more: &[&str]) -> Vec<Value> {
    let arguments = [&["review", "--list", "-w", "work"], more].concat();
    place.json(&arguments)["items"].as_array().unwrap().clone()
}

/// The ids of the pieces of a path.
fn ids(place: &Place, path: &str, more: &[&str]) -> Vec<String> {
    let items = items(place, more);
    let item = items.iter().find(|item| item["path"] == path).unwrap();
    let pieces = item["pieces"].as_array().unwrap();
    pieces.iter().map(|piece| piece["id"].as_str().unwrap().to_owned()).collect()
}

fn numbers(place: &Place) -> String {
    place.ok(["fs", "cat", "/numbers", "-w", "work"])
}

#[test]
fn changes_are_listed_in_pieces() {
    let place = changed();
    let listed = items(&place, &[]);
    let paths: Vec<&str> = listed.iter().map(|item| item["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/deep/new", "/numbers", "/run.sh", "/src/library.rs"]);
    assert_eq!(listed[1]["pieces"].as_array().unwrap().len(), 2);
    assert_eq!(listed[1]["pieces"][0]["hunk"]["lines"][1]["text"], "2");
    assert_eq!(listed[1]["last_changed_by"]["reason"], "write");
    assert_eq!(listed[3]["from"], "/src/lib.rs");
    assert_eq!(listed[3]["pieces"][0]["piece"], "rename");
    assert_eq!(items(&place, &["/src"]).len(), 1);
    let text = place.ok(["review", "--list", "-w", "work"]);
    assert!(text.contains("M /numbers\n") && text.contains("hunk at line 2, +1 -1  2"), "{text}");
}

#[test]
fn a_hunk_is_dropped_and_the_other_keeps_its_id() {
    let place = changed();
    let before = ids(&place, "/numbers", &[]);
    let document = place.json(&["review", "--drop", &before[0], "-w", "work"]);
    assert_eq!((&document["dropped"], &document["undecided"]), (&1.into(), &4.into()));
    assert_eq!(numbers(&place), NUMBERS.replace("11\n", "eleven\n"));
    assert_eq!(ids(&place, "/numbers", &[]), before[1..]);
    place.ok(["undo", "-w", "work"]);
    assert_eq!(ids(&place, "/numbers", &[]), before);
    let error = place.json_error(&["review", "--drop", "0123456789ab", "-w", "work"], 3);
    assert!(error["message"].as_str().unwrap().contains("0123456789ab"), "{error}");
}

#[test]
fn everything_dropped_is_as_it_was() {
    let place = changed();
    place.ok(["review", "--drop", "/", "-w", "work"]);
    assert_eq!(place.ok(["diff", "--name-status", "-w", "work"]), "");
    assert_eq!(items(&place, &[]).len(), 0);
    let done = place.json(&["status", "-w", "work"]);
    assert_eq!(done["last_operation"], "review: 5 dropped in work");
}

#[test]
fn only_what_was_accepted_is_committed() {
    let place = changed();
    let hunks = ids(&place, "/numbers", &[]);
    let accepted = format!("{},{}", hunks[1], ids(&place, "/src/library.rs", &[])[0]);
    place.ok(["review", "--accept", &accepted, "--commit", "-m", "Some of it", "-w", "work"]);
    let read = |name: &str| fs::read_to_string(place.project().join(name));
    assert_eq!(read("numbers").unwrap(), NUMBERS.replace("11\n", "eleven\n"));
    assert!(read("src/library.rs").is_ok() && read("src/lib.rs").is_err());
    assert!(read("run.sh").is_ok() && read("deep/new").is_err());
    // The rest is still in the workspace, and can be committed later.
    assert!(numbers(&place).contains("two\n") && numbers(&place).contains("eleven\n"));
    assert_eq!(
        place.ok(["diff", "--name-status", "-w", "work"]),
        "A /deep/new\nM /numbers\nD /run.sh\n"
    );
    place.ok(["commit", "-w", "work"]);
    assert!(read("numbers").unwrap().contains("two\n") && read("run.sh").is_err());
    place.ok(["undo", "-w", "work"]);
    place.ok(["undo", "-w", "work"]);
    assert_eq!(read("numbers").unwrap(), NUMBERS);
}

#[test]
fn a_walk_needs_a_terminal() {
    let place = changed();
    let error = place.json_error(&["review", "-w", "work"], 2);
    assert!(error["hint"].as_str().unwrap().contains("--list"), "{error}");
    let error = place.json_error(&["commit", "-p", "-w", "work"], 2);
    assert!(error["message"].as_str().unwrap().contains("terminal"), "{error}");
}

#[test]
fn diffs_by_words_and_side_by_side() {
    let place = changed();
    let words = place.ok(["diff", "--word-diff", "-w", "work", "--", "/numbers"]);
    assert!(words.contains("\n1\n[-2-]{+two+}\n3\n"), "{words}");
    let mut command = place.command(["diff", "-y", "-w", "work", "--", "/numbers"]);
    let output = command.env("COLUMNS", "40").output().unwrap();
    let columns = String::from_utf8(output.stdout).unwrap();
    let row = columns.lines().find(|line| line.contains('|')).unwrap();
    assert!(row.starts_with(" 2 2 ") && row.ends_with("|  2 two"), "{columns}");
    let patch = place.ok(["diff", "-U", "0", "-w", "work", "--", "/numbers"]);
    assert!(patch.contains("@@ -2 +2 @@\n-2\n+two\n@@ "), "{patch}");
}

#[test]
fn a_status_says_how_things_stand() {
    let place = changed();
    place.ok_with(["fs", "write", "/.gitignore", "-w", "work"], b"/out\n");
    place.ok_with(["fs", "write", "-p", "/out/built", "-w", "work"], b"built\n");
    fs::write(place.project().join("numbers"), "0\n").unwrap();
    place.ok(["pull", "--head"]);
    let document = place.json(&["status", "-w", "work"]);
    assert_eq!(document["behind"], 1);
    assert_eq!(document["folders"][0], place.project().to_str().unwrap());
    let stays = document["stays"].as_array().unwrap();
    assert!(stays.iter().any(|held| held["path"] == "/out/built"), "{document}");
    let text = place.ok(["status", "-w", "work"]);
    assert!(
        text.contains("the folder has changes that work does not have: `offshoot pull -w work`"),
        "{text}"
    );
    assert!(text.contains("ignored by .gitignore"), "{text}");
    let short = place.ok(["status", "-s", "-w", "work"]);
    assert!(short.starts_with("## work [behind 1]\n"), "{short}");
    assert!(short.contains("\n! /out/built\n") && short.contains("\nM /numbers\n"), "{short}");
}

#[test]
fn reviews_for_people() {
    let place = changed();
    let hunk = ids(&place, "/numbers", &[])[0].clone();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["review", "--list", "-w", "work"]);
    transcript.run(&["review", "--drop", &hunk, "-w", "work"]);
    transcript.run(&["review", "--drop", "/src", "--drop", "/nowhere", "-w", "work"]);
    transcript.run(&["review", "-w", "work"]);
    transcript.run(&["review", "--list", "/README.md", "-w", "work"]);
    transcript.run(&["diff", "--word-diff", "-w", "work", "--", "/numbers"]);
    transcript.run(&["diff", "--side-by-side", "-w", "work", "--", "/numbers"]);
    transcript.run(&["status", "--short", "-w", "work"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn reviews_for_programs() {
    let place = changed();
    let hunk = ids(&place, "/numbers", &[])[1].clone();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["review", "--list", "-w", "work", "/numbers", "/src"]);
    transcript.json(&["review", "--drop", &hunk, "-w", "work"]);
    assert_snapshot!(transcript.finish());
}

/// A file that became a directory, and a directory that became a file.
fn other_kinds() -> Place {
    let place = demo_vault();
    place.write("numbers", NUMBERS);
    place.write("a", "a\n");
    place.write("d/x", "x\n");
    place.write("d/y", "y\n");
    place.ok(["init"]);
    place.ok(["workspace", "create", "work"]);
    place.ok(["fs", "rm", "/a", "-w", "work"]);
    place.ok_with(["fs", "write", "-p", "/a/in", "-w", "work"], b"in\n");
    place.ok(["fs", "rm", "-r", "/d", "-w", "work"]);
    place.ok_with(["fs", "write", "/d", "-w", "work"], b"d\n");
    place
}

#[test]
fn what_became_of_another_kind_is_accepted_with_all_below() {
    let place = other_kinds();
    let read = |at: &str| fs::read_to_string(place.project().join(at)).ok();
    place.ok(["review", "--accept", "/d", "--commit", "-w", "work"]);
    assert_eq!(read("d").as_deref(), Some("d\n"));
    assert_eq!(read("a").as_deref(), Some("a\n"), "nobody accepted it");
    place.ok(["review", "--accept", "/a/in", "--commit", "-w", "work"]);
    assert_eq!(read("a/in").as_deref(), Some("in\n"));
    assert_eq!(items(&place, &[]).len(), 0);
}

#[test]
fn what_became_of_another_kind_is_dropped_with_all_below() {
    let place = other_kinds();
    assert_eq!(items(&place, &["/a/in"]).len(), 1);
    place.ok(["review", "--drop", "/a/in", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/a", "-w", "work"]), "a\n");
    place.ok(["review", "--drop", "/d/x", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/d/y", "-w", "work"]), "y\n");
    assert_eq!(items(&place, &[]).len(), 0);
}

/// What was moved into the new directory is no longer a move of its own.
#[test]
fn a_file_that_was_moved_into_a_directory_that_was_a_file() {
    let place = other_kinds();
    place.ok(["fs", "mv", "/numbers", "/a/numbers", "-w", "work"]);
    let paths: Vec<Value> = items(&place, &[]).iter().map(|item| item["path"].clone()).collect();
    assert_eq!(paths, ["/a", "/d", "/numbers"]);
    place.ok(["review", "--drop", "/a", "--drop", "/numbers", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/numbers", "-w", "work"]), NUMBERS);
}
