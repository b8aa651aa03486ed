//! Sentences that people act upon: what is told is true, and what is advised works.

use std::fs;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};

use crate::background::Background;
use crate::transcript::{demo, demo_vault};

const README: &str = "# Demo\n\nA small project.\n";

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A vault whose workspace and folder changed the same line.
fn disputed(workspace: &str) -> Place {
    let place = demo();
    place.ok(["init"]);
    place.ok(["new", workspace]);
    let agents = README.replace("small", "quick");
    place.ok_with(["fs", "write", "/README.md", "-w", workspace], agents.as_bytes());
    place.write("README.md", README.replace("small", "large"));
    place
}

/// Markers name the folder; who knows it as `head`, from markers of before, is understood.
#[test]
fn markers_name_the_folder() {
    let place = disputed("fix");
    for (side, word) in [("folder", "large"), ("head", "large"), ("fix", "quick")] {
        assert_eq!(place.run(["pull", "-w", "fix"]).status.code(), Some(4));
        let marked = place.ok(["fs", "cat", "/README.md", "-w", "fix"]);
        assert!(marked.contains("\n<<<<<<< fix\n"), "{marked}");
        assert!(marked.ends_with("\n>>>>>>> folder\n"), "{marked}");
        let shown = place.ok(["conflicts", "/README.md", "--side", side, "-w", "fix"]);
        assert_eq!(shown, README.replace("small", word));
        place.ok(["resolve", "/README.md", "--side", side, "-w", "fix"]);
        let decided = place.ok(["fs", "cat", "/README.md", "-w", "fix"]);
        assert_eq!(decided, README.replace("small", word), "{side}");
        place.ok(["undo", "-w", "fix"]);
        place.ok(["undo", "-w", "fix"]);
    }
}

/// A workspace that is called so keeps its name, and the folder has the one that no workspace can have.
#[test]
fn a_workspace_called_folder_is_told_apart() {
    let place = disputed("folder");
    assert_eq!(place.run(["pull", "-w", "folder"]).status.code(), Some(4));
    let marked = place.ok(["fs", "cat", "/README.md", "-w", "folder"]);
    assert!(
        marked.contains("\n<<<<<<< folder\n") && marked.ends_with("\n>>>>>>> head\n"),
        "{marked}"
    );
    place.ok(["resolve", "/README.md", "--side", "head", "-w", "folder"]);
    let decided = place.ok(["fs", "cat", "/README.md", "-w", "folder"]);
    assert_eq!(decided, README.replace("small", "large"));
}

/// A pull is advised where it brings something, and nowhere else.
#[test]
fn pulls_are_advised_where_they_bring_something() {
    let place = demo_vault();
    let advised =
        || place.ok(["status", "-w", "fix"]).contains("`offshoot pull -w fix` brings them");
    let behind = || place.json(&["status", "-w", "fix"])["behind"].clone();
    place.ok_with(["fs", "write", "/same", "-w", "fix"], b"same\n");
    place.write("same", "same\n");
    place.ok(["pull", "--head"]);
    assert!(!advised());
    assert_eq!(behind(), 0);
    assert!(place.ok(["pull", "-w", "fix"]).contains("is up to date"));
    place.write("other", "other\n");
    place.ok(["pull", "--head"]);
    assert!(advised());
    assert_eq!(behind(), 1);
    assert!(place.ok(["pull", "-w", "fix"]).contains("A /other"));
    assert!(!advised());
}

/// A dry run does not say what was done, and names the files and the way on.
#[test]
fn a_dry_run_tells_of_conflicts() {
    let place = disputed("fix");
    let output = place.run(["commit", "--dry-run", "-w", "fix"]);
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "nothing would be committed: 1 conflict between fix and the folder\n  C /README.md  (content)\nnext: offshoot pull -w fix";
    assert!(said.starts_with(expected), "{said}");
    let said = String::from_utf8_lossy(&place.run(["commit", "-w", "fix"]).stdout).into_owned();
    assert!(said.starts_with("nothing committed: 1 conflict"), "{said}");
}

/// Files of further folders have the paths that people know, and they can be typed.
#[test]
fn files_of_further_folders_have_their_own_paths() {
    let place = demo();
    let etc = place.path().join("etc");
    fs::create_dir(&etc).unwrap();
    fs::write(etc.join("app.conf"), "port = 1\n").unwrap();
    place.ok(["init"]);
    place.ok(["binding", "add", "../etc"]);
    place.ok(["new", "fix"]);
    place.ok_with(["fs", "write", "../etc/app.conf", "-w", "fix"], b"port = 2\n");
    place.ok_with(["fs", "write", "/new", "-w", "fix"], b"new\n");
    let status = place.ok(["status", "-w", "fix"]);
    assert!(status.contains("  M ../etc/app.conf\n  A /new\n"), "{status}");
    let inside = place.command(["status", "-w", "fix"]).current_dir(&etc).output().unwrap();
    let inside = String::from_utf8(inside.stdout).unwrap();
    assert!(inside.contains("  M app.conf\n  A /new\n"), "{inside}");
    let short = place.ok(["status", "--short", "-w", "fix"]);
    assert!(short.contains("M /.offshoot/bound/etc/app.conf\n"), "{short}");
    let diff = place.ok(["diff", "fix", "--", "../etc/app.conf"]);
    assert!(diff.contains("+port = 2") && !diff.contains("new"), "{diff}");
    let done = place.ok(["commit", "-w", "fix", "--only", "../etc/app.conf"]);
    assert!(done.contains("  M ../etc/app.conf\n"), "{done}");
    assert!(done.contains("(not asked for): /new\n"), "{done}");
    assert_eq!(fs::read_to_string(etc.join("app.conf")).unwrap(), "port = 2\n");
}

/// What stays is listed a path a line where everything is listed.
#[test]
fn what_stays_is_listed_line_by_line() {
    let place = demo();
    place.write(".gitignore", "*.o\n");
    place.ok(["init"]);
    place.ok(["new", "fix"]);
    for path in ["/a.o", "/b.o", "/c.o", "/d.o", "/e.o"] {
        place.ok_with(["fs", "write", path, "-w", "fix"], b"x");
    }
    let stays = "stays: 5 files (ignored by .gitignore; --ignored commits them):";
    let status = place.ok(["status", "-w", "fix"]);
    assert!(status.contains(&format!("{stays} /a.o /b.o /c.o /d.o ...\n")), "{status}");
    let status = place.ok(["status", "-w", "fix", "--expand"]);
    let lines = "  /a.o\n  /b.o\n  /c.o\n  /d.o\n  /e.o\n";
    assert!(status.contains(&format!("{stays}\n{lines}")), "{status}");
}

/// What a file is called is what it is named by, whatever characters that has.
#[test]
fn names_with_special_characters_are_named() {
    let place = demo_vault();
    for path in ["/src/[x]", "/src/x", "/y"] {
        place.ok_with(["fs", "write", path, "-w", "fix"], b"x");
    }
    let brought = |only: &str| {
        let mut command = place.command(["commit", "-w", "fix", "-n", "--json", "--only", only]);
        let output = command.current_dir(place.project().join("src")).output().unwrap();
        let changes = document_of(&output)["result"]["changes"].as_array().unwrap().clone();
        changes.iter().map(|change| change["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(brought(r"\[x\]"), ["/src/[x]"]);
    assert_eq!(brought(r"../src/\[x\]"), ["/src/[x]"]);
    assert_eq!(brought("../src/[x]"), ["/src/[x]", "/src/x"]);
}

/// Nobody's sentence is taken for a workspace without a word.
#[test]
fn a_message_is_recognised() {
    let place = demo_vault();
    let error = place.json_error(&["commit", "fix the user's name"], 3);
    let hint = r"to describe the commit: `offshoot commit -m 'fix the user'\''s name'`";
    assert_eq!(error["hint"], hint, "{error}");
    let error = place.json_error(&["commit", "fxi"], 3);
    assert_eq!(error["hint"], "did you mean fix?", "{error}");
    let error = place.json_error(&["commit", "-am", "text"], 2);
    assert!(error["hint"].as_str().unwrap().contains("`offshoot commit -m TEXT`"), "{error}");
}

#[needs(UserNamespace)]
#[test]
fn changing_the_folder_is_a_shells_work() {
    let place = demo_vault();
    let output = place.run(["exec", "-w", "fix", "--", "cd", "src"]);
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    assert!(errors(&output).contains("`offshoot exec -w fix --cwd DIR -- CMD`"), "{output:?}");
    let output = place.run(["exec", "-w", "fix", "--cwd", "src", "--", "pwd"]);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("/src\n"), "{output:?}");
}

/// Commands have a `/tmp` of their own: who looks there for a neighbour of the project is told.
#[needs(UserNamespace)]
#[test]
fn neighbours_in_tmp_are_told_of() {
    let parent = tempfile::Builder::new().prefix("offshoot-words-").tempdir_in("/tmp").unwrap();
    let parent = parent.path().canonicalize().unwrap();
    let (project, side) = (parent.join("project"), parent.join("side"));
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(&side).unwrap();
    fs::write(side.join("file"), "beside\n").unwrap();
    let place = Place::new();
    let run = |file: &str| {
        let mut command = place.command(["exec", "-w", "fix", "--", "cat", file]);
        command.current_dir(&project).output().unwrap()
    };
    let file = side.join("file").display().to_string();
    let advice = format!("`offshoot binding add {}` shows them that folder", side.display());
    for (typed, path) in
        [(&file[..], &file[..]), ("../side/file", &file), ("../side", side.to_str().unwrap())]
    {
        let output = run(typed);
        let expected = format!("{path} is there, but commands have a /tmp of their own: {advice}");
        assert!(errors(&output).contains(&expected), "{output:?}");
    }
    let output = run(&side.join("none").display().to_string());
    assert!(!errors(&output).contains("of their own"), "{output:?}");
    let add = ["binding", "add", side.to_str().unwrap()];
    assert!(place.command(add).current_dir(&project).output().unwrap().status.success());
    let output = run(&file);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "beside\n", "{output:?}");
}

/// What a command left in a workspace that is deleted becomes a workspace, and that is what is said.
#[needs(UserNamespace)]
#[test]
fn what_a_deleted_workspace_left_is_a_new_one() {
    let place = demo_vault();
    let exec = Background::start(&place, "echo new > new; echo ready; sleep 600").crash();
    place.ok(["workspace", "delete", "fix"]);
    let shown = place.ok(["recover", "show", &exec]);
    assert!(shown.contains("fix (deleted)"), "{shown}");
    let said = place.ok(["recover", "keep", &exec, "--name", "again"]);
    let expected = "is the new workspace again: 1 added\nsee it: offshoot diff -w again\n";
    assert!(
        said.starts_with("workspace fix is deleted, so what ") && said.ends_with(expected),
        "{said}"
    );
    assert_eq!(place.ok(["fs", "cat", "/new", "-w", "again"]), "new\n");
}
