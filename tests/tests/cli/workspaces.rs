//! `workspace`, its alias `ws`, and `discard`.

use insta::assert_snapshot;

use crate::transcript::{Transcript, demo, demo_vault};

#[test]
fn workspaces_for_people() {
    let place = demo();
    place.ok(["init"]);
    let mut transcript = Transcript::new(&place);
    transcript.run(&["status"]);
    transcript.run(&["workspace", "list"]);
    transcript.run(&["workspace", "show"]);
    transcript.run(&["workspace", "create", "fix"]);
    transcript.run_with(&["fs", "write", "/new.txt", "-w", "fix"], "new\n");
    transcript.run(&["ws", "create", "try-2", "--from", "fix"]);
    transcript.run(&["workspace", "create", "short", "--ephemeral=10m"]);
    transcript.run(&["workspace", "create", "day", "--ephemeral"]);
    transcript.run(&["checkpoint", "create", "before", "-w", "fix"]);
    transcript.run(&["workspace", "create", "old", "--from", "fix@before"]);
    transcript.run(&["ws", "list"]);
    transcript.run(&["workspace", "tree"]);
    transcript.run(&["workspace", "show"]);
    transcript.run(&["workspace", "show", "fix"]);
    transcript.run(&["workspace", "rename", "fix", "login-fix"]);
    transcript.run(&["workspace", "delete", "login-fix"]);
    transcript.run(&["workspace", "tree"]);
    transcript.run(&["undo", "-w", "login-fix"]);
    transcript.run(&["status", "-w", "login-fix"]);
    transcript.run(&["discard", "-w", "login-fix", "--keep"]);
    transcript.run(&["discard", "-w", "login-fix", "--keep"]);
    transcript.run(&["discard", "-w", "login-fix"]);
    transcript.run(&["discard", "-w", "old"]);
    transcript.run(&["workspace", "list"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn workspaces_for_programs() {
    let place = demo();
    place.ok(["init"]);
    let mut transcript = Transcript::new(&place);
    transcript.json(&["status"]);
    transcript.json(&["workspace", "create", "fix"]);
    transcript.json(&["ws", "create", "short", "--from", "fix", "--ephemeral=10m"]);
    place.ok(["checkpoint", "create", "before", "-w", "fix", "-m", "why"]);
    place.ok_with(["fs", "write", "/README.md", "-w", "fix"], b"less\n");
    transcript.json(&["status", "-w", "fix"]);
    transcript.json(&["workspace", "list"]);
    transcript.json(&["workspace", "tree"]);
    transcript.json(&["workspace", "show", "fix"]);
    transcript.json(&["workspace", "show"]);
    transcript.json(&["workspace", "rename", "short", "long"]);
    transcript.json(&["workspace", "delete", "long"]);
    transcript.json(&["discard", "-w", "fix", "--keep"]);
    transcript.json(&["discard", "-w", "fix", "--keep"]);
    transcript.json(&["discard", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn a_workspace_without_a_name_gets_a_friendly_one() {
    let place = demo_vault();
    for arguments in [&["workspace", "create"][..], &["ws", "create", "--ephemeral"]] {
        let made = place.json(arguments);
        let name = made["workspace"]["name"].as_str().unwrap();
        assert!(name.split('-').count() >= 2, "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        place.ok(["status", "-w", name]);
    }
}

#[test]
fn a_name_follows_the_id_when_renamed() {
    let place = demo_vault();
    let id = place.json(&["workspace", "show", "fix"])["workspace"]["id"].clone();
    let id = id.as_str().unwrap();
    place.ok(["workspace", "rename", "fix", "other"]);
    for reference in [id, &id[..10], "other"] {
        let shown = place.json(&["workspace", "show", reference]);
        assert_eq!(shown["workspace"]["name"], "other", "{reference}");
    }
}

/// An old name must not lead an undo to what has another name by now.
#[test]
fn an_undo_by_an_old_name_does_nothing() {
    let place = demo_vault();
    place.ok(["workspace", "rename", "fix", "other"]);
    place.ok_with(["fs", "write", "/new", "-w", "other"], b"new\n");
    for verb in ["undo", "redo"] {
        let error = place.json_error(&[verb, "-w", "fix"], 3);
        assert_eq!(error["candidates"][0], "other", "{error}");
    }
    assert_eq!(place.ok(["fs", "cat", "/new", "-w", "other"]), "new\n");
    place.ok(["undo", "-w", "other"]);
    place.ok(["undo", "-w", "other"]);
    place.ok(["status", "-w", "fix"]);
    // A name that is taken again is that of who has it.
    place.ok(["redo", "-w", "fix"]);
    place.ok(["workspace", "create", "fix"]);
    place.ok_with(["fs", "write", "/own", "-w", "fix"], b"own\n");
    place.ok(["undo", "-w", "fix"]);
    place.ok(["status", "-w", "other"]);
    place.json_error(&["fs", "cat", "/own", "-w", "fix"], 3);
}

#[test]
fn the_workspace_comes_from_the_environment_too() {
    let place = demo_vault();
    place.ok(["workspace", "create", "second"]);
    let mut command = place.command(["fs", "mkdir", "/made"]);
    let output = command.env("OFFSHOOT_WORKSPACE", "fix").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(place.ok(["diff", "-w", "fix", "--name-only"]), "/made\n");
    assert_eq!(place.ok(["diff", "-w", "second", "--name-only"]), "");

    let output = place.command(["status"]).env("OFFSHOOT_VAULT", "nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

/// Who makes a workspace means the folder as it is, not as it was read last.
#[test]
fn a_new_workspace_has_what_is_in_the_folder_now() {
    let place = demo_vault();
    place.write("newer.txt", "newer");
    place.ok(["workspace", "create", "old", "--from", "head"]);
    assert_eq!(place.run(["fs", "cat", "/newer.txt", "-w", "old"]).status.code(), Some(3));
    place.ok(["-c", "exec.refresh=false", "workspace", "create", "asked"]);
    assert_eq!(place.run(["fs", "cat", "/newer.txt", "-w", "asked"]).status.code(), Some(3));
    let output = place.run(["new", "late"]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("was brought up to date"));
    assert_eq!(place.ok(["fs", "cat", "/newer.txt", "-w", "late"]), "newer");
}

/// What another workspace committed is no change of this one any more, whichever command is asked.
#[test]
fn all_count_the_changes_that_would_come_home() {
    let place = demo_vault();
    place.ok(["workspace", "create", "two"]);
    for name in ["fix", "two"] {
        place.ok_with(["fs", "write", "/same", "-w", name], b"same\n");
    }
    place.ok_with(["fs", "write", "/README.md", "-w", "two"], b"more\n");
    place.ok(["commit", "-w", "fix"]);
    for (name, count, words) in [("fix", 0, "nothing changed"), ("two", 1, "1 modified")] {
        let all = place.json(&["workspace", "list"])["workspaces"].clone();
        let mut all = all.as_array().unwrap().iter();
        let listed = all.find(|workspace| workspace["name"] == name).unwrap();
        assert_eq!(listed["listed_changes"], count, "{listed}");
        let shown = place.json(&["workspace", "show", name]);
        assert_eq!(shown["listed_changes"], count, "{shown}");
        let status = place.json(&["status", "-w", name]);
        assert_eq!(status["changes"].as_array().unwrap().len(), count, "{status}");
        let text = place.ok(["workspace", "show", name]);
        let row = text.lines().find(|line| line.starts_with("changes")).unwrap();
        assert!(row.contains(words) && !row.contains("added"), "{row}");
        let text = place.ok(["status", "-w", name]);
        assert!(text.lines().any(|line| line.starts_with(words)), "{text}");
    }
}

/// Whatever is wrong with a request, the folder is not read for it.
#[test]
fn a_name_that_cannot_be_had_is_refused_before_the_folder_is_read() {
    let place = demo();
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    let head = || place.json(&["show", "head"])["snapshot"]["id"].clone();
    let before = head();
    place.write("late", "late\n");
    place.json_error(&["workspace", "create", "fix"], 4);
    place.json_error(&["new", "fix"], 4);
    place.json_error(&["new", "head"], 2);
    place.json_error(&["new", "good", "--ephemeral=never"], 2);
    assert_eq!(head(), before);
    place.ok(["new", "good"]);
    assert_ne!(head(), before, "a request that is granted reads the folder");
}

/// A workspace whose changes are all held back is not an empty one.
#[test]
fn what_is_held_back_is_counted() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/.envrc", "-w", "fix"], b"export A=1\n");
    place.ok(["workspace", "create", "two"]);
    place.ok_with(["fs", "write", "/.envrc", "-w", "two"], b"export A=1\n");
    place.ok_with(["fs", "write", "/plain", "-w", "two"], b"plain\n");
    place.ok(["workspace", "create", "three"]);
    let listed = place.ok(["workspace", "list"]);
    let row = |name: &str| listed.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("fix").contains("  1 held back  "), "{listed}");
    assert!(row("two").contains("  1 change, 1 held back  "), "{listed}");
    assert!(row("three").contains("  no changes  "), "{listed}");
    let all = place.json(&["workspace", "list"])["workspaces"].clone();
    let held: Vec<u64> =
        all.as_array().unwrap().iter().map(|one| one["held_changes"].as_u64().unwrap()).collect();
    assert_eq!(held, [1, 1, 0]);
    assert_eq!(place.json(&["workspace", "show", "fix"])["held_changes"], 1);
    let shown = place.ok(["workspace", "show", "fix"]);
    assert!(shown.contains("1 held back"), "{shown}");
}
