//! Choosing what is committed: `--only`, `--exclude`, `--dry-run`.

use serde_json::json;

use super::{assert_captured, assert_same, edit, folder, fork, lines, numbered, read};

#[test]
fn a_dry_run_changes_nothing() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    edit(&place, "work", "/sub/new", "new");
    place.write("other", "changed by a person");
    let (before, log) = (folder(&place), place.json(&["op", "log"]));
    let document = place.json(&["commit", "-w", "work", "--dry-run"]);
    assert_eq!((&document["committed"], &document["dry_run"]), (&json!(false), &json!(true)));
    let paths: Vec<&str> = document["changes"].as_array().unwrap().iter().map(path).collect();
    assert_eq!(paths, ["/lines", "/sub", "/sub/new"]);
    assert_same(&before, &folder(&place));
    assert_eq!(place.json(&["op", "log"]), log);
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "other"), "changed by a person");
}

fn path(change: &serde_json::Value) -> &str {
    change["path"].as_str().unwrap()
}

#[test]
fn what_is_not_asked_for_stays_in_the_workspace() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    edit(&place, "work", "/src/a.rs", "a");
    edit(&place, "work", "/src/b.txt", "b");
    edit(&place, "work", "/docs/c.txt", "c");
    place.ok(["fs", "rm", "/other", "-w", "work"]);
    place.ok(["commit", "-w", "work", "--only", "/src", "--exclude", "*.txt"]);
    assert_eq!(read(&place, "src/a.rs"), "a");
    assert_eq!(read(&place, "lines"), numbered(&[]));
    assert_eq!(read(&place, "other"), "other\n");
    for absent in ["src/b.txt", "docs"] {
        assert!(!place.project().join(absent).exists(), "{absent}");
    }
    assert_captured(&place);
    // The rest is all there, and is committed as if nothing had been brought before.
    assert_eq!(place.ok(["fs", "cat", "/src/b.txt", "-w", "work"]), "b");
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "src/b.txt"), "b");
    assert_eq!(read(&place, "docs/c.txt"), "c");
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
    assert!(!place.project().join("other").exists());
    assert_eq!(place.json(&["status", "-w", "work"])["changes"], json!([]));
}

/// Half of a move: the new name is committed and the old one stays, or the other way round.
#[test]
fn halves_of_a_move_can_come_home() {
    let place = lines();
    fork(&place, "work");
    place.ok(["fs", "mkdir", "/deep", "-w", "work"]);
    place.ok(["fs", "mv", "/lines", "/deep/lines", "-w", "work"]);
    place.ok(["commit", "-w", "work", "--exclude", "/lines"]);
    assert_eq!(read(&place, "lines"), read(&place, "deep/lines"));
    place.ok(["commit", "-w", "work"]);
    assert!(!place.project().join("lines").exists());
    assert_captured(&place);
}

/// A file that became a directory, and one that stays for what is left in it.
#[test]
fn kinds_change_in_parts() {
    let place = lines();
    place.write("dir/stays", "1");
    place.write("dir/goes", "2");
    place.ok(["init"]);
    fork(&place, "work");
    let script =
        "rm lines; mkdir lines; echo in >lines/in; echo out >lines/out; rm -r dir; echo x >dir";
    place.ok(["exec", "-w", "work", "--", "sh", "-c", script]);
    place.ok(["commit", "-w", "work", "--only", "/lines/in", "--only", "/dir/goes"]);
    assert_eq!(read(&place, "lines/in"), "in\n");
    assert!(!place.project().join("lines/out").exists());
    assert_eq!(read(&place, "dir/stays"), "1");
    assert!(!place.project().join("dir/goes").exists());
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "lines/out"), "out\n");
    assert_eq!(read(&place, "dir"), "x\n");
    assert_captured(&place);
}

#[test]
fn what_is_no_path_is_told() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/new", "new");
    let error = place.json_error(&["commit", "-w", "work", "--only", "["], 2);
    assert!(error["message"].as_str().unwrap().contains("pattern"), "{error}");
    place.json_error(&["commit", "-w", "work", "--exclude", "../x"], 2);
    fork(&place, "other");
    place.json_error(&["commit"], 2);
    let output = place.run(["commit", "-w", "work", "--only", "/typo"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--only /typo"), "{output:?}");
    assert!(!place.project().join("new").exists());
}
