//! `log`, `show`, `undo`, `redo`, `op` and `history`.

use insta::assert_snapshot;
use offshoot_tests::product::Place;

use crate::transcript::{Transcript, demo, demo_vault};

/// Two workspaces that each did something.
fn busy() -> Place {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"one\n");
    place.ok(["checkpoint", "create", "half", "-w", "fix"]);
    place.ok(["workspace", "create", "other"]);
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"two\n");
    place.ok(["fs", "rm", "/run.sh", "-w", "other"]);
    place
}

fn operation(place: &Place, summary: &str) -> String {
    let log = place.json(&["op", "log"]);
    let all = log["operations"].as_array().unwrap();
    let found = all.iter().find(|operation| operation["summary"] == summary);
    found.unwrap_or_else(|| panic!("no {summary} in {log}"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn histories_for_people() {
    let place = busy();
    let first = operation(&place, "create workspace other from head");
    let snapshot = place.json(&["log", "-w", "fix"])["snapshots"][1]["snapshot"]["id"].clone();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["log"]);
    transcript.run(&["log", "-w", "fix", "-n", "2"]);
    transcript.run(&["log", "head"]);
    transcript.run(&["op", "log"]);
    transcript.run(&["op", "log", "-w", "fix", "-n", "3"]);
    transcript.run(&["show", "fix"]);
    transcript.run(&["show", "fix@half"]);
    transcript.run(&["show", snapshot.as_str().unwrap(), "--metadata"]);
    transcript.run(&["show", "head"]);
    transcript.run(&["show", &first]);
    transcript.run(&["history", "/README.md", "-w", "fix"]);
    transcript.run(&["history", "/run.sh", "-w", "other"]);
    transcript.run(&["history", "/README.md", "--at", "fix@half"]);
    transcript.run(&["undo", "-w", "fix"]);
    transcript.run(&["undo", "-w", "fix"]);
    transcript.run(&["redo", "-w", "fix"]);
    transcript.run(&["undo", "--vault-wide"]);
    transcript.run(&["redo", "--vault-wide"]);
    transcript.run(&["undo", "-w", "fix"]);
    transcript.run(&["op", "restore", &first, "-w", "fix"]);
    transcript.run(&["op", "restore", &first, "-w", "fix"]);
    transcript.run(&["op", "restore", &first, "--vault-wide"]);
    transcript.run(&["op", "log", "-n", "4"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn histories_for_programs() {
    let place = busy();
    let first = operation(&place, "create workspace other from head");
    let mut transcript = Transcript::new(&place);
    transcript.json(&["log", "-w", "fix"]);
    transcript.json(&["op", "log", "-n", "3"]);
    transcript.json(&["show", "fix"]);
    transcript.json(&["show", "fix@half"]);
    transcript.json(&["show", &first]);
    transcript.json(&["history", "/run.sh", "-w", "other"]);
    transcript.json(&["undo", "-w", "fix"]);
    transcript.json(&["redo", "-w", "fix"]);
    transcript.json(&["op", "restore", &first, "-w", "fix"]);
    transcript.json(&["op", "restore", &first, "--vault-wide"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn undo_and_redo_walk_all_the_way() {
    let place = demo_vault();
    let read = || place.ok(["fs", "cat", "/n", "-w", "fix"]);
    for number in 0..5 {
        place.ok_with(["fs", "write", "/n", "-w", "fix"], format!("{number}").as_bytes());
    }
    for number in (0..4).rev() {
        place.ok(["undo", "-w", "fix"]);
        assert_eq!(read(), number.to_string());
    }
    for number in 1..5 {
        place.ok(["redo", "-w", "fix"]);
        assert_eq!(read(), number.to_string());
    }
    place.json_error(&["redo", "-w", "fix"], 4);
    // Something new takes the place of what was undone.
    place.ok(["undo", "-w", "fix"]);
    place.ok_with(["fs", "write", "/n", "-w", "fix"], b"new");
    place.json_error(&["redo", "-w", "fix"], 4);
    assert_eq!(read(), "new");
}

#[test]
fn who_did_it_is_recorded() {
    let place = demo_vault();
    let mut command = place.command(["fs", "mkdir", "/made", "-w", "fix", "--json"]);
    command.env("USER", "ada").env("OFFSHOOT_AGENT", "helper").env("OFFSHOOT_SESSION", "s-1");
    let document = offshoot_tests::product::document_of(&command.output().unwrap());
    let actor = serde_json::json!({"user": "ada", "agent": "helper", "session": "s-1"});
    assert_eq!(document["result"]["snapshot"]["actor"], actor);
    assert_eq!(place.json(&["op", "log", "-n", "1"])["operations"][0]["actor"], actor);
}

/// What a hint says to run, without the program's name.
fn hinted(error: &serde_json::Value) -> Vec<String> {
    let hint = error["hint"].as_str().unwrap_or_else(|| panic!("{error}"));
    let command = hint.split('`').nth(1).unwrap_or_else(|| panic!("{hint}"));
    command.split(' ').skip(1).map(str::to_owned).collect()
}

fn names(place: &Place) -> Vec<String> {
    let listed = place.json(&["workspace", "list"]);
    let all = listed["workspaces"].as_array().unwrap().iter();
    all.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// A workspace that was deleted, and another one of the same name.
fn made_anew() -> Place {
    let place = Place::new();
    place.write("file", "first\n");
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    place.ok_with(["fs", "write", "/file", "-w", "fix"], b"of the earlier one\n");
    place.ok(["workspace", "delete", "fix"]);
    place.ok(["workspace", "create", "fix"]);
    place
}

#[test]
fn an_operation_of_an_earlier_workspace_does_not_delete_the_one_of_its_name() {
    let place = made_anew();
    let written = operation(&place, "write /file in fix");
    let error = place.json_error(&["op", "restore", &written, "-w", "fix"], 4);
    assert!(error["message"].as_str().unwrap().contains("earlier workspace fix"), "{error}");
    assert_eq!(names(&place), ["fix"]);
    place.ok(hinted(&error));
    assert_eq!(place.ok(["fs", "cat", "/file", "-w", "fix-2"]), "of the earlier one\n");
    assert_eq!(place.ok(["fs", "cat", "/file", "-w", "fix"]), "first\n");
    // Nor is it said that nothing changed since, once the later one is deleted too.
    place.ok(["workspace", "delete", "fix"]);
    let error = place.json_error(&["op", "restore", &written, "-w", "fix"], 4);
    assert!(error["message"].as_str().unwrap().contains("earlier workspace fix"), "{error}");
    assert_eq!(names(&place), ["fix-2"]);
}

#[test]
fn a_workspace_that_was_not_there_yet_is_said_to_be_deleted() {
    let place = made_anew();
    let deleted = operation(&place, "delete workspace fix");
    let said = place.ok(["op", "restore", &deleted, "-w", "fix"]);
    assert!(said.contains("workspace fix is deleted"), "{said}");
    assert_eq!(names(&place), Vec::<String>::new());
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(names(&place), ["fix"]);
}

#[test]
fn a_deleted_workspace_comes_back_though_its_name_was_used_again() {
    let place = made_anew();
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(names(&place), Vec::<String>::new());
    let error = place.json_error(&["undo", "-w", "fix"], 4);
    let hint = hinted(&error);
    assert_eq!(hint, ["undo", "--vault-wide"], "{error}");
    place.ok(hint);
    assert_eq!(place.ok(["fs", "cat", "/file", "-w", "fix"]), "of the earlier one\n");
}

/// Whoever has nothing to undo is told why, and what the vault could undo or redo.
#[test]
fn nothing_to_undo_is_told_with_the_reason() {
    let place = demo();
    place.ok(["init"]);
    let told = |arguments: &[&str]| {
        let error = place.json_error(arguments, 4);
        (
            error["message"].as_str().unwrap().to_owned(),
            error["hint"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let (undo, redo) = ("there is nothing to undo: ", "there is nothing to redo: ");
    let none = "the vault has no workspace";
    assert_eq!(told(&["undo"]), (format!("{undo}{none}"), String::new()));
    assert_eq!(told(&["redo"]), (format!("{redo}{none}"), String::new()));
    place.ok(["workspace", "create", "fix"]);
    assert_eq!(told(&["redo"]).0, format!("{redo}the last operation was not an undo"));
    place.ok(["undo"]);
    let (message, hint) = told(&["redo"]);
    assert_eq!(message, format!("{redo}{none}"));
    assert!(
        hint.starts_with("`offshoot redo --vault-wide` redoes")
            && hint.contains("create workspace fix"),
        "{hint}"
    );
    let all = "everything since the vault was created is undone already";
    assert_eq!(told(&["undo", "--vault-wide"]), (format!("{undo}{all}"), String::new()));
}

/// A name that was used before means the workspace that has it now: what an earlier one did stays as it is.
#[test]
fn undo_leaves_an_earlier_workspace_of_the_name_alone() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/old", "-w", "fix"], b"old\n");
    place.ok(["workspace", "delete", "fix"]);
    place.ok(["workspace", "create", "fix"]);
    let id = place.json(&["workspace", "show", "fix"])["workspace"]["id"].clone();
    let undone = place.ok(["undo", "-w", "fix"]);
    assert!(undone.starts_with("undone: create workspace fix from head ("), "{undone}");
    let gone = "workspace fix is gone; `offshoot redo -w fix` brings it back\n";
    assert!(undone.ends_with(gone), "{undone}");
    for _ in 0..2 {
        let error = place.json_error(&["undo", "-w", "fix"], 4);
        assert_eq!(
            error["message"],
            "there is nothing to undo: all operations of this workspace are undone already"
        );
        assert!(error["hint"].as_str().unwrap().ends_with(": delete workspace fix"), "{error}");
    }
    let none = place.json(&["workspace", "list"]);
    assert_eq!(none["workspaces"].as_array().unwrap().len(), 0, "{none}");
    let redone = place.ok(["redo", "-w", "fix"]);
    assert_eq!(redone.lines().count(), 1, "{redone}");
    assert_eq!(place.json(&["workspace", "show", "fix"])["workspace"]["id"], id);
    assert!(!place.ok(["fs", "ls", "/", "-w", "fix"]).contains("old"));
    // The earlier one is where it was: behind the operations of the vault.
    place.ok(["undo", "-w", "fix"]);
    place.ok(["undo", "--vault-wide"]);
    assert_eq!(place.ok(["fs", "cat", "/old", "-w", "fix"]), "old\n");
}
