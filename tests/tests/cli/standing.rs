//! Paths that people type start in the folder that they are in, as with git.

use std::process::Output;

use offshoot_tests::product::Place;

use crate::transcript::demo_vault;

/// A project with a file `main.c` at the top, in `src` and in `lib`, each with other bytes.
fn project() -> Place {
    let place = demo_vault();
    for (path, text) in [("main.c", "top\n"), ("src/main.c", "src\n"), ("lib/main.c", "lib\n")] {
        place.write(path, text);
    }
    place.ok(["init"]);
    place.ok(["workspace", "create", "work"]);
    place
}

/// Runs a command in a folder of the project.
fn run(place: &Place, folder: &str, arguments: &[&str]) -> Output {
    place.command(arguments).current_dir(place.project().join(folder)).output().unwrap()
}

fn ok(place: &Place, folder: &str, arguments: &[&str]) -> String {
    let output = run(place, folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Changes all three files.
fn change(place: &Place) {
    for path in ["/main.c", "/src/main.c", "/lib/main.c"] {
        place.ok_with(["fs", "write", path, "-w", "work"], b"changed\n");
    }
}

#[test]
fn files_are_found_from_where_one_stands() {
    let place = project();
    let cat = |folder, path| ok(&place, folder, &["fs", "cat", path, "-w", "work"]);
    assert_eq!(cat("", "main.c"), "top\n");
    assert_eq!(cat("src", "main.c"), "src\n");
    assert_eq!(cat("src", "./main.c"), "src\n");
    assert_eq!(cat("src", "../lib/main.c"), "lib\n");
    assert_eq!(cat("src", "/main.c"), "top\n");
    let listed = ok(&place, "src", &["fs", "ls", "-w", "work"]);
    assert_eq!(listed, "lib.rs\nmain.c\nmain.rs\n");
    let out = run(&place, "src", &["fs", "cat", "../../main.c", "-w", "work"]);
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    ok(&place, "src", &["fs", "mv", "main.c", "moved.c", "-w", "work"]);
    ok(&place, "src", &["fs", "rm", "lib.rs", "-w", "work"]);
    let names = place.ok(["diff", "work", "--name-status"]);
    assert_eq!(names, "D /src/lib.rs\nR /src/moved.c  (from /src/main.c, 100%)\n");
    let versions = ok(&place, "src", &["history", "moved.c", "-w", "work", "--json"]);
    assert!(versions.contains("\"path\":\"/src/moved.c\""), "{versions}");
}

/// Somebody elsewhere, who names the vault, starts at its top.
#[test]
fn elsewhere_paths_start_at_the_top() {
    let place = project();
    let arguments = ["fs", "cat", "main.c", "-w", "work", "--vault", "project"];
    let output = place.command(arguments).current_dir(place.path()).output().unwrap();
    assert_eq!(output.stdout, b"top\n", "{output:?}");
}

#[test]
fn differences_are_of_what_one_names() {
    let place = project();
    change(&place);
    let names = |folder: &str, more: &[&str]| {
        ok(&place, folder, &[&["diff", "-w", "work", "--name-only"], more].concat())
    };
    assert_eq!(names("src", &["--", "main.c"]), "/src/main.c\n");
    // A word that is no state means a path.
    assert_eq!(names("src", &["main.c"]), "/src/main.c\n");
    assert_eq!(names("", &["src", "lib"]), "/lib/main.c\n/src/main.c\n");
    assert_eq!(names("src", &["/lib"]), "/lib/main.c\n");
    assert_eq!(names("src", &["head", "../main.c"]), "/main.c\n");
    let unknown = run(&place, "src", &["diff", "-w", "work", "nothing.c"]);
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");
}

#[test]
fn what_comes_home_is_named_from_there() {
    let place = project();
    change(&place);
    let home = |folder: &str, more: &[&str]| {
        let arguments = [&["commit", "-w", "work", "--dry-run", "--json"], more].concat();
        let document: serde_json::Value =
            serde_json::from_str(&ok(&place, folder, &arguments)).unwrap();
        let changes = document["result"]["changes"].as_array().unwrap().clone();
        let paths = changes.iter().map(|change| change["path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>()
    };
    assert_eq!(home("src", &["--only", "main.c"]), ["/src/main.c"]);
    assert_eq!(home("src", &["--only", "*.c"]), ["/src/main.c"]);
    assert_eq!(home("src", &["--only", "../lib"]), ["/lib/main.c"]);
    assert_eq!(home("src", &["--only", "/main.c"]), ["/main.c"]);
    assert_eq!(home("src", &["--exclude", "*.c"]), ["/lib/main.c", "/main.c"]);
    assert_eq!(home("", &["--only", "*.c"]).len(), 3);
}

#[test]
fn a_review_is_of_what_one_names() {
    let place = project();
    change(&place);
    let list = ok(&place, "src", &["review", "-w", "work", "--list", "main.c"]);
    assert!(list.contains("M /src/main.c\n") && !list.contains("M /main.c"), "{list}");
    ok(&place, "src", &["review", "-w", "work", "--drop", "main.c"]);
    assert_eq!(place.ok(["diff", "work", "--name-only"]), "/lib/main.c\n/main.c\n");
    ok(&place, "lib", &["review", "-w", "work", "--accept", "main.c", "--commit"]);
    assert_eq!(std::fs::read(place.project().join("lib/main.c")).unwrap(), b"changed\n");
    assert_eq!(std::fs::read(place.project().join("main.c")).unwrap(), b"top\n");
    for wrong in ["", "nothing.c", "lib/nothing.c"] {
        let refused = run(&place, "", &["review", "-w", "work", "--drop", wrong]);
        assert!(!refused.status.success(), "{wrong}: {refused:?}");
    }
}

#[test]
fn conflicts_are_resolved_from_there() {
    let place = project();
    place.ok_with(["fs", "write", "/src/main.c", "-w", "work"], b"mine\n");
    place.write("src/main.c", "yours\n");
    assert_eq!(place.run(["pull", "-w", "work"]).status.code(), Some(4));
    let shown = ok(&place, "src", &["conflicts", "main.c", "--side", "work", "-w", "work"]);
    assert_eq!(shown, "mine\n");
    ok(&place, "src", &["resolve", "main.c", "--ours", "-w", "work"]);
    assert_eq!(place.ok(["fs", "cat", "/src/main.c", "-w", "work"]), "mine\n");
}
