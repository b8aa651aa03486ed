//! `resolve` where several files came to one path: what is no part of the decision stays.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::merges::{answer, cat, open, write};
use crate::transcript::demo_vault;

/// The text that both forks start with; each may change a line.
fn text(first: &str, last: &str) -> String {
    let lines: String = (2..=8).map(|n| format!("line {n}\n")).collect();
    format!("{first}\n{lines}{last}\n")
}

/// Two forks of a project with `/from` and `/other`.
fn forks() -> Place {
    let place = demo_vault();
    place.write("from", text("1", "9"));
    place.write("other", text("one", "nine").replace("line", "number"));
    place.ok(["init"]);
    for name in ["a", "b"] {
        place.ok(["workspace", "create", name]);
    }
    place
}

fn mv(place: &Place, workspace: &str, from: &str, to: &str) {
    place.ok(["fs", "mv", from, to, "-w", workspace]);
}

/// Merges both into `both`, which gives conflicts at these paths.
fn merge(place: &Place, conflicts: &[&str]) {
    assert_eq!(answer(place, &["merge", "a", "b", "--into", "both"]).1, Some(4));
    assert_eq!(open(place, "both"), conflicts);
}

/// Decides, looks at what is there, and takes it back. Nothing else than these may be there of all that was in question.
fn check(place: &Place, resolve: &[&str], expected: &[(&str, &str)]) {
    place.ok([&["resolve", "-w", "both"], resolve].concat());
    assert_eq!(open(place, "both"), [""; 0], "{resolve:?}");
    for path in ["/from", "/other", "/x", "/y", "/x~a", "/x~b", "/y~a", "/y~b"] {
        let found = place.run(["fs", "cat", path, "-w", "both"]);
        let found =
            found.status.success().then(|| String::from_utf8_lossy(&found.stdout).into_owned());
        let wanted = expected.iter().find(|(at, _)| *at == path).map(|(_, text)| *text);
        assert_eq!(found.as_deref(), wanted, "{path} after {resolve:?}");
    }
    place.ok(["undo", "-w", "both"]);
}

#[test]
fn a_file_that_was_moved_onto_an_added_one_and_edited() {
    let place = forks();
    let other = cat(&place, "a", "/other");
    mv(&place, "a", "/from", "/x");
    write(&place, "b", "/from", &text("1", "b"));
    write(&place, "b", "/x", "added\n");
    merge(&place, &["/x"]);
    let (edited, other) = (text("1", "b"), ("/other", other.as_str()));
    let theirs = [("/x", "added\n"), ("/from", edited.as_str()), other];
    check(&place, &["/x", "--theirs"], &theirs);
    check(&place, &["/x", "--side", "b"], &theirs);
    check(&place, &["/x", "--ours"], &[("/x", &edited), other]);
    let as_is = [("/x", edited.as_str()), ("/x~b", "added\n"), other];
    check(&place, &["/x", "--as-is"], &as_is);
    let error = place.json_error(&["resolve", "/x", "--base", "-w", "both"], 4);
    assert!(error["hint"].as_str().unwrap().contains("--as-is /x"), "{error}");
    // The path that the file has to go back to may have been taken since.
    write(&place, "both", "/from", "new\n");
    place.json_error(&["resolve", "/x", "--theirs", "-w", "both"], 4);
    assert_eq!(cat(&place, "both", "/from"), "new\n");
}

#[test]
fn a_file_that_was_moved_and_edited_by_both() {
    let place = forks();
    let other = cat(&place, "a", "/other");
    mv(&place, "a", "/from", "/x");
    write(&place, "a", "/x", &text("a", "9"));
    write(&place, "b", "/from", &text("1", "b"));
    write(&place, "b", "/x", "added\n");
    merge(&place, &["/x"]);
    let (both, other) = (text("a", "b"), ("/other", other.as_str()));
    check(&place, &["--all", "--theirs"], &[("/x", "added\n"), ("/from", &both), other]);
    check(&place, &["--all", "--ours"], &[("/x", &both), other]);
}

#[test]
fn lines_in_conflict_are_decided_with_the_place() {
    let place = forks();
    let other = cat(&place, "a", "/other");
    mv(&place, "a", "/from", "/x");
    write(&place, "a", "/x", &text("a", "9"));
    write(&place, "b", "/from", &text("b", "9"));
    write(&place, "b", "/x", "added\n");
    merge(&place, &["/x"]);
    let other = ("/other", other.as_str());
    let theirs = [("/x", "added\n"), ("/from", &text("b", "9")), other];
    check(&place, &["--all", "--theirs"], &theirs);
    check(&place, &["--all", "--ours"], &[("/x", &text("a", "9")), other]);
}

#[test]
fn two_files_that_were_moved_to_one_path_and_edited() {
    let place = forks();
    let other = cat(&place, "a", "/other");
    let changed = other.replace("nine", "a");
    mv(&place, "a", "/from", "/x");
    write(&place, "a", "/other", &changed);
    mv(&place, "b", "/other", "/x");
    write(&place, "b", "/from", &text("1", "b"));
    merge(&place, &["/x"]);
    let edited = text("1", "b");
    check(&place, &["/x", "--ours"], &[("/x", &edited), ("/other", &changed)]);
    check(&place, &["/x", "--theirs"], &[("/x", &changed), ("/from", &edited)]);
}

#[test]
fn a_file_that_was_moved_twice_onto_an_added_one() {
    for adds_at_x in [true, false] {
        let place = forks();
        let (from, other) = (cat(&place, "a", "/from"), cat(&place, "a", "/other"));
        mv(&place, "a", "/from", "/x");
        mv(&place, "b", "/from", "/y");
        let (who, at) = if adds_at_x { ("b", "/x") } else { ("a", "/y") };
        write(&place, who, at, "added\n");
        merge(&place, &["/x", "/y"]);
        let (x, y) = (("/x", from.as_str()), ("/y", from.as_str()));
        let (added, other) = ((at, "added\n"), ("/other", other.as_str()));
        let (ours, theirs) = match adds_at_x {
            true => (vec![x, other], vec![added, y, other]),
            false => (vec![x, added, other], vec![y, other]),
        };
        check(&place, &["--all", "--ours"], &ours);
        check(&place, &["--all", "--theirs"], &theirs);
        check(&place, &["/y", "/x", "--theirs"], &theirs);
    }
}

/// What a person made out of a file stays, whoever is chosen, where a workspace moved the directory around it.
#[test]
fn a_file_that_became_a_directory_while_its_parent_moved() {
    for (decision, keeps_file) in [("--theirs", false), ("--ours", true)] {
        let place = demo_vault();
        place.write("dir/z", text("z", "9"));
        place.write("dir/x", text("x", "9").replace("line", "number"));
        place.ok(["init"]);
        place.ok(["workspace", "create", "w"]);
        mv(&place, "w", "/dir", "/dir2");
        fs::remove_file(place.project().join("dir/z")).unwrap();
        place.write("dir/z/in", "precious\n");
        assert_eq!(answer(&place, &["pull", "-w", "w"]).1, Some(4));
        place.ok(["resolve", "--all", decision, "-w", "w"]);
        place.ok(["commit", "-w", "w"]);
        let read = |at: &str| fs::read_to_string(place.project().join(at)).ok();
        assert_eq!(read("dir/z/in").as_deref(), Some("precious\n"), "{decision}");
        assert_eq!(read("dir2/z").is_some(), keeps_file, "{decision}");
        assert!(read("dir2/x").is_some() && read("dir/x").is_none(), "{decision}");
    }
}

/// A directory is a side's with everything in it, changed or not.
#[test]
fn a_directory_that_became_a_file() {
    let place = demo_vault();
    place.write("d/z", "text\n");
    place.write("d/x", "x\n");
    place.ok(["init"]);
    place.ok(["workspace", "create", "w"]);
    place.ok(["fs", "rm", "-r", "/d", "-w", "w"]);
    write(&place, "w", "/d", "a file\n");
    place.write("d/z", b"bi\0nary");
    assert_eq!(answer(&place, &["pull", "-w", "w"]).1, Some(4));
    place.ok(["resolve", "--all", "--theirs", "-w", "w"]);
    assert_eq!(cat(&place, "w", "/d/z"), "bi\0nary");
    assert_eq!(cat(&place, "w", "/d/x"), "x\n");
    place.ok(["undo", "-w", "w"]);
    place.ok(["resolve", "/d", "--ours", "-w", "w"]);
    assert_eq!(cat(&place, "w", "/d"), "a file\n");
}

/// A side that had a directory where the other made a link gets it back, with the files that are in question.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_link_goes_where_the_chosen_side_has_a_directory() {
    let place = || {
        let place = Place::new();
        let (x, z): (String, String) =
            ("x\n".repeat(40), (1..30).map(|n| format!("{n}\n")).collect());
        place.write("d/x", x);
        place.write("d/z", z);
        std::os::unix::fs::symlink("old", place.project().join("l")).unwrap();
        place.ok(["init"]);
        place.ok(["workspace", "create", "w"]);
        place
    };
    let inside = |place: &Place, script: &str| {
        place.ok(["exec", "-q", "-w", "w", "--", "sh", "-c", script]);
    };
    let outside = |place: &Place, script: &str| {
        let mut command = std::process::Command::new("sh");
        assert!(
            command.args(["-c", script]).current_dir(place.project()).status().unwrap().success()
        );
    };
    let resolved = |place: &Place, side: &str| {
        assert_eq!(place.run(["pull", "-w", "w"]).status.code(), Some(4));
        place.ok(["resolve", "--all", side, "-w", "w"]);
        assert_eq!(open(place, "w"), Vec::<String>::new());
        place.ok([
            "exec",
            "-q",
            "-w",
            "w",
            "--",
            "sh",
            "-c",
            "stat -c %F d l; cat d/z l 2>&1 | head -n 1",
        ])
    };

    let theirs = place();
    inside(&theirs, "rm l; mv d l; ln -s l d");
    outside(&theirs, "ln -sfn other l");
    assert_eq!(resolved(&theirs, "--theirs"), "directory\nsymbolic link\n1\n");

    let ours = place();
    inside(&ours, "rm l; echo mine > l");
    outside(&ours, "mv l t; mv d l; mv t d");
    assert_eq!(resolved(&ours, "--ours"), "directory\nregular file\n1\n");
}
