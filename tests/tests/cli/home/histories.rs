//! What is undone stays undone, and what `status`, `review`, `diff` and a dry run say is what a commit does.

use std::collections::BTreeSet;
use std::fs;

use offshoot_tests::product::{Place, document_of, with_json};
use serde_json::Value;

use super::{edit, fork, lines, numbered, read};

/// The paths of a list in a document.
fn paths(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|item| item["path"].as_str().unwrap().to_owned()).collect()
}

/// What every command says that a workspace would commit; all must say the same.
fn brings(place: &Place, workspace: &str) -> Vec<String> {
    let status = place.json(&["status", "-w", workspace]);
    let listed: BTreeSet<String> =
        paths(&status["changes"]).difference(&paths(&status["stays"])).cloned().collect();
    let review = place.json(&["review", "--list", "-w", workspace]);
    let mut items = review["items"].as_array().unwrap().clone();
    items.retain(|item| item.get("held").is_none());
    let dry = place.json(&["commit", "--dry-run", "-w", workspace]);
    assert_eq!(paths(&dry["changes"]), listed, "status: {status}\ndry run: {dry}");
    assert_eq!(paths(&Value::Array(items)), listed, "status: {status}\nreview: {review}");
    for words in [["diff", workspace, "--name-only"], ["diff", "--name-only", "-w"]] {
        let words =
            if words[2] == "-w" { [&words[..], &[workspace]].concat() } else { words.into() };
        let shown: BTreeSet<String> = place.ok(words).lines().map(str::to_owned).collect();
        assert_eq!(shown, listed);
    }
    listed.into_iter().collect()
}

/// Two workspaces of a folder with `lines` and `other`.
fn two() -> Place {
    let place = lines();
    fork(&place, "a");
    fork(&place, "b");
    place
}

fn three() -> String {
    numbered(&[(3, "three")])
}

#[test]
fn an_undone_commit_stays_undone_for_who_pulled_it() {
    let place = two();
    edit(&place, "a", "/lines", three());
    place.ok(["commit", "-w", "a"]);
    place.ok(["pull", "-w", "b"]);
    place.ok(["workspace", "create", "c"]);
    place.ok(["undo", "-w", "a"]);
    for (workspace, path) in [("b", "/from-b"), ("c", "/from-c")] {
        edit(&place, workspace, path, format!("{path}\n"));
        assert_eq!(brings(&place, workspace), [path]);
        place.ok(["commit", "-w", workspace]);
        assert_eq!(read(&place, "lines"), numbered(&[]));
    }
    // Its own workspace has it, says so, and commits it again.
    assert_eq!(brings(&place, "a"), ["/lines"]);
    place.ok(["commit", "-w", "a"]);
    assert_eq!(read(&place, "lines"), three());
    assert_eq!(read(&place, "from-b"), "/from-b\n");
}

#[test]
fn an_undone_deletion_stays_undone_for_who_pulled_it() {
    let place = two();
    place.ok(["fs", "rm", "/other", "-w", "a"]);
    place.ok(["commit", "-w", "a"]);
    place.ok(["pull", "-w", "b"]);
    place.ok(["undo", "-w", "a"]);
    edit(&place, "b", "/new", "new\n");
    assert_eq!(brings(&place, "b"), ["/new"]);
    place.ok(["commit", "-w", "b"]);
    assert_eq!(read(&place, "other"), "other\n");
    assert_eq!(brings(&place, "a"), ["/other"]);
}

/// Undo, redo and undo again, with somebody else at every stage.
#[test]
fn whoever_comes_between_gets_what_stands() {
    let place = two();
    edit(&place, "a", "/lines", three());
    place.ok(["commit", "-w", "a"]);
    for round in 0..2 {
        place.ok(["pull", "-w", "b"]);
        place.ok(["undo", "-w", "a"]);
        edit(&place, "b", "/new", format!("undone {round}\n"));
        assert_eq!(brings(&place, "b"), ["/new"]);
        place.ok(["commit", "-w", "b"]);
        assert_eq!(read(&place, "lines"), numbered(&[]));
        place.ok(["redo", "-w", "a"]);
        assert_eq!(read(&place, "lines"), three());
        edit(&place, "b", "/new", format!("redone {round}\n"));
        assert_eq!(brings(&place, "b"), ["/new"]);
        place.ok(["commit", "-w", "b"]);
        assert_eq!(read(&place, "lines"), three());
    }
    assert!(brings(&place, "a").is_empty());
    place.ok(["vault", "check"]);
}

/// Who has a change from the workspace that made it, and not from head, has it still when it is undone, and says so.
#[test]
fn a_fork_of_the_workspace_brings_what_it_has_of_it() {
    let place = two();
    edit(&place, "a", "/lines", three());
    place.ok(["checkpoint", "create", "mine", "-w", "a"]);
    place.ok(["workspace", "create", "before", "--from", "a"]);
    place.ok(["merge", "a", "--into", "b"]);
    place.ok(["commit", "-w", "a"]);
    place.ok(["workspace", "create", "after", "--from", "a"]);
    for workspace in ["before", "b", "after"] {
        assert!(brings(&place, workspace).is_empty(), "{workspace}");
    }
    place.ok(["undo", "-w", "a"]);
    place.ok(["workspace", "create", "again", "--from", "a"]);
    place.ok(["workspace", "create", "point", "--from", "a@mine"]);
    for workspace in ["a", "before", "b", "again", "point"] {
        assert_eq!(brings(&place, workspace), ["/lines"], "{workspace}");
    }
    // It has the change from head alone.
    assert!(brings(&place, "after").is_empty());
    edit(&place, "a", "/lines", numbered(&[(4, "four")]));
    place.ok(["checkpoint", "restore", "mine", "-w", "a"]);
    assert_eq!(brings(&place, "a"), ["/lines"]);
    place.ok(["commit", "-w", "before"]);
    assert_eq!(read(&place, "lines"), three());
    for workspace in ["a", "b", "again", "point", "after"] {
        assert!(brings(&place, workspace).is_empty(), "{workspace}");
    }
}

/// A fork of the workspace that committed, too, keeps what it brought, and nothing of what is undone counts as brought by it.
#[test]
fn a_commit_beneath_another_one_is_given_back() {
    let place = two();
    edit(&place, "a", "/lines", three());
    place.ok(["workspace", "create", "c", "--from", "a"]);
    place.ok(["commit", "-w", "a"]);
    edit(&place, "c", "/new", "new\n");
    assert_eq!(brings(&place, "c"), ["/new"]);
    place.ok(["commit", "-w", "c"]);
    place.ok(["undo", "-w", "a"]);
    assert_eq!(read(&place, "lines"), numbered(&[]));
    assert_eq!(read(&place, "new"), "new\n");
    assert_eq!(brings(&place, "a"), ["/lines"]);
    edit(&place, "c", "/more", "more\n");
    assert_eq!(brings(&place, "c"), ["/more"]);
    place.ok(["commit", "-w", "c"]);
    place.ok(["commit", "-w", "a"]);
    assert_eq!(read(&place, "lines"), three());
    assert_eq!(read(&place, "more"), "more\n");
    // The chain of undos goes on, one workspace at a time.
    place.ok(["undo", "-w", "a"]);
    place.ok(["undo", "-w", "a"]);
    assert!(brings(&place, "a").is_empty());
}

/// The log of the whole vault can be walked back and forth, also where captures of the folder lie between commits.
#[test]
fn the_whole_vault_goes_back_and_forth() {
    let place = two();
    place.write("person", "one\n");
    edit(&place, "a", "/lines", three());
    place.ok(["commit", "-w", "a"]);
    edit(&place, "b", "/new", "new\n");
    place.ok(["commit", "-w", "b"]);
    let steps = 5;
    for _ in 0..steps {
        place.ok(["undo", "--vault-wide"]);
    }
    assert_eq!(read(&place, "lines"), numbered(&[]));
    assert!(!place.project().join("new").exists());
    assert_eq!(read(&place, "person"), "one\n");
    assert!(brings(&place, "a").is_empty());
    place.ok(["vault", "check"]);
}

/// What a fork of a workspace brings, and what somebody else brought already.
#[test]
fn status_knows_what_a_fork_of_a_fork_brings() {
    let place = two();
    edit(&place, "a", "/lines", three());
    place.ok(["workspace", "create", "c", "--from", "a"]);
    edit(&place, "c", "/new", "new\n");
    assert_eq!(brings(&place, "c"), ["/lines", "/new"]);
    edit(&place, "b", "/new", "new\n");
    place.ok(["commit", "-w", "b"]);
    assert_eq!(brings(&place, "c"), ["/lines"]);
    place.ok(["review", "-w", "c", "--drop", "/lines"]);
    assert!(brings(&place, "c").is_empty());
    assert_eq!(place.ok(["fs", "cat", "/lines", "-w", "c"]), numbered(&[]));
}

/// Where a commit would change nothing, every command says so.
#[test]
fn conflicts_with_head_are_told_before() {
    let place = two();
    edit(&place, "a", "/lines", three());
    edit(&place, "b", "/lines", numbered(&[(3, "drei")]));
    place.ok(["commit", "-w", "a"]);
    let status = place.json(&["status", "-w", "b"]);
    assert_eq!(paths(&status["clashes"]), BTreeSet::from(["/lines".to_owned()]));
    assert_eq!(paths(&status["changes"]), BTreeSet::from(["/lines".to_owned()]));
    let text = place.ok(["status", "-w", "b"]);
    assert!(text.contains("1 conflict with the folder: a commit would change nothing"), "{text}");
    for words in
        [&["commit", "-w", "b"][..], &["commit", "--dry-run", "-w", "b"], &["pull", "-w", "b"]]
    {
        let output = place.run(with_json(words));
        let document = document_of(&output);
        assert_eq!(output.status.code(), Some(4));
        assert_eq!(document["success"], false, "{document}");
        assert_eq!(paths(&document["result"]["conflicts"]), paths(&status["clashes"]));
    }
    let merged = document_of(&place.run(with_json(&["merge", "a", "--into", "b"])));
    assert_eq!(merged["success"], false, "{merged}");
}

/// Status does not read the folder, and says where that matters.
#[test]
fn edits_in_the_folder_are_noticed() {
    let place = two();
    edit(&place, "a", "/lines", three());
    edit(&place, "a", "/new", "new\n");
    let outdated = || place.json(&["status", "-w", "a"])["outdated"].clone();
    assert_eq!(outdated(), Value::Null);
    place.write("other", "changed\n");
    assert_eq!(outdated(), Value::Null);
    place.write("lines", numbered(&[(19, "nineteen")]));
    place.write("new", "here too\n");
    assert_eq!(outdated(), serde_json::json!(["/lines", "/new"]));
    let text = place.ok(["status", "-w", "a"]);
    assert!(
        text.contains("changed in the folder since it was last read: /lines and 1 more"),
        "{text}"
    );
    place.run(["pull", "--head"]);
    assert_eq!(outdated(), Value::Null);
}

/// A file on one side and a directory on the other do not fit, though neither changed what the other looks at.
#[test]
fn files_and_directories_that_do_not_fit_are_noticed() {
    let place = Place::new();
    for name in ["became-file/old", "grew/deep/old", "kept/old"] {
        place.write(name, "old\n");
    }
    place.write("becomes-directory", "file\n");
    place.ok(["init"]);
    let change = "rm -r grew becomes-directory; echo file > grew; echo new > became-file/new; \
                  mkdir becomes-directory; echo new > becomes-directory/new; echo new > kept/new";
    place.ok(["exec", "-w", "a", "--", "sh", "-c", change]);
    let outdated = || place.json(&["status", "-w", "a"])["outdated"].clone();
    assert_eq!(outdated(), Value::Null);
    fs::remove_dir_all(place.project().join("became-file")).unwrap();
    place.write("became-file", "file\n");
    place.write("grew/deep/mine", "mine\n");
    assert_eq!(outdated(), serde_json::json!(["/became-file", "/grew/deep/mine"]));
    let review = place.json(&["review", "-w", "a", "--list"]);
    assert_eq!(review["outdated"], outdated());
    let rehearsal = place.run(["commit", "-w", "a", "--dry-run"]);
    assert_eq!(rehearsal.status.code(), Some(4), "{rehearsal:?}");
}

/// What a commit is merged against is not collected, whatever refs name.
#[test]
fn the_base_of_a_fork_outlives_a_collection() {
    let place = two();
    edit(&place, "a", "/lines", three());
    place.ok(["workspace", "create", "c", "--from", "a"]);
    place.ok(["commit", "-w", "a"]);
    place.ok(["undo", "-w", "a"]);
    place.write("lines", numbered(&[(18, "eighteen")]));
    place.ok(["pull", "--head"]);
    for workspace in ["a", "b"] {
        place.ok(["workspace", "delete", workspace]);
    }
    place.ok(["gc", "-c", "gc.keep_operations=0", "-c", "gc.keep_age=0s"]);
    assert_eq!(brings(&place, "c"), ["/lines"]);
    place.ok(["commit", "-w", "c"]);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three"), (18, "eighteen")]));
}

/// `diff NAME` is about that workspace, whatever was used last; two names compare.
#[test]
fn diff_of_a_workspace_is_what_it_changed() {
    let place = two();
    edit(&place, "a", "/lines", three());
    edit(&place, "b", "/new", "new\n");
    assert_eq!(place.ok(["diff", "a", "--name-only"]), "/lines\n");
    assert_eq!(place.ok(["diff", "b", "--name-only"]), "/new\n");
    assert_eq!(place.ok(["diff", "a", "b", "--name-only"]), "/lines\n/new\n");
    assert_eq!(place.ok(["diff", "a@base", "--name-only", "-w", "a"]), "/lines\n");
}
