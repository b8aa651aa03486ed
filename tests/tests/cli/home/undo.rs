//! Undo and redo of a commit: the folder goes back exactly, and never over what somebody did since.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use offshoot_tests::product::Place;
use offshoot_tests::scan::scan;

use super::{assert_captured, assert_same, edit, folder, fork, lines, numbered, read};

/// A project with some of everything, and a workspace that changed all of it.
fn changed() -> Place {
    let place = lines();
    place.write("dir/deep/moved", numbered(&[]));
    place.write("dir/deep/stays", "stays");
    place.write("gone/deep/file", "gone");
    place.write("turned", "a file");
    place.write("folded/in", "in");
    place.write("tool", "#!/bin/sh\n");
    place.write("-odd \n name", "odd");
    symlink("tool", place.project().join("link")).unwrap();
    fs::create_dir_all(place.project().join("empty/inner")).unwrap();
    fs::set_permissions(place.project().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(place.project().join("gone"), fs::Permissions::from_mode(0o711)).unwrap();
    for path in ["lines", "gone/deep/file", "dir/deep", "empty"] {
        let file = fs::File::open(place.project().join(path)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::new(981_173_106, 123_456_789);
        file.set_modified(time).unwrap();
    }
    place.ok(["init"]);
    fork(&place, "work");
    let script = "sed -i s/^7$/seven/ lines; mv dir/deep/moved dir/elsewhere; rm -r gone; \
        rm turned; mkdir turned; echo x >turned/x; rm -r folded; echo f >folded; chmod 750 tool; \
        rm link; ln -s other link; mkfifo pipe; rmdir empty/inner; chmod 700 empty; ln tool hard; \
        echo more >>'-odd \n name'; mkdir -p new/dir; echo n >new/dir/file";
    place.ok(["exec", "-w", "work", "--", "sh", "-c", script]);
    place
}

#[test]
fn undo_and_redo_are_exact() {
    let place = changed();
    let before = folder(&place);
    place.ok(["commit", "-w", "work", "-m", "all of it", "--take", "pipe"]);
    let after = folder(&place);
    assert_captured(&place);
    for _ in 0..2 {
        place.ok(["undo", "-w", "work"]);
        assert_same(&before, &folder(&place));
        assert_captured(&place);
        place.ok(["redo", "-w", "work"]);
        assert_same(&after, &folder(&place));
        assert_captured(&place);
    }
    place.ok(["undo", "--vault-wide"]);
    assert_same(&before, &folder(&place));
    // Everything is in the workspace again, and is committed again.
    place.ok(["commit", "-w", "work", "-c", "commit.times=recorded", "--take", "pipe"]);
    place.ok(["fs", "export", "/", "../wanted", "-w", "work"]);
    assert_same(&scan(&place.path().join("wanted")).unwrap(), &folder(&place));
    place.ok(["vault", "check"]);
}

#[test]
fn what_was_changed_since_is_not_touched() {
    let place = changed();
    place.ok(["commit", "-w", "work", "--take", "pipe"]);
    place.write("lines", "a person was here\n");
    place.write("new/dir/file", "here too\n");
    fs::remove_file(place.project().join("pipe")).unwrap();
    let before = folder(&place);
    let error = place.json_error(&["undo", "-w", "work"], 4);
    let message = error["message"].as_str().unwrap();
    for path in ["/lines", "/new/dir/file", "/pipe"] {
        assert!(message.contains(path), "{message}");
    }
    assert_same(&before, &folder(&place));
}

/// Where an undo or a redo is refused, the command that it names works.
#[test]
fn a_refusal_names_a_way_on() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    edit(&place, "work", "/new", "new\n");
    let before = folder(&place);
    let hinted = |verb: &str| {
        let error = place.json_error(&[verb, "-w", "work"], 4);
        let hint = error["hint"].as_str().unwrap().to_owned();
        let command = hint.split('`').nth(1).unwrap_or_else(|| panic!("{hint}")).to_owned();
        command.replace("DIR", "../old").split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    place.ok(["commit", "-w", "work"]);
    place.write("lines", numbered(&[(3, "three"), (17, "mine")]));
    place.ok(hinted("undo"));
    assert_same(&before, &scan(&place.path().join("old")).unwrap());

    place.write("lines", numbered(&[(3, "three")]));
    place.ok(["undo", "-w", "work"]);
    place.write("lines", numbered(&[(17, "mine")]));
    place.ok(hinted("redo"));
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three"), (17, "mine")]));
    assert_eq!(read(&place, "new"), "new\n");
}

/// What a person did elsewhere since the commit stays when it is undone, and the main line has it.
#[test]
fn what_else_happened_since_stays() {
    let place = changed();
    place.ok(["commit", "-w", "work"]);
    place.write("other", "changed by a person\n");
    place.write("new/dir/mine", "mine\n");
    place.ok(["undo", "-w", "work"]);
    assert_eq!(read(&place, "other"), "changed by a person\n");
    assert_eq!(read(&place, "new/dir/mine"), "mine\n");
    assert!(!place.project().join("new/dir/file").exists());
    assert_eq!(read(&place, "lines"), numbered(&[]));
    assert_eq!(read(&place, "gone/deep/file"), "gone");
    assert_captured(&place);
    place.ok(["redo", "-w", "work"]);
    assert_eq!(read(&place, "new/dir/file"), "n\n");
    assert_eq!(read(&place, "other"), "changed by a person\n");
    assert!(!place.project().join("gone").exists());
    assert_captured(&place);
    place.ok(["undo", "-w", "work"]);
    assert_eq!(read(&place, "lines"), numbered(&[]));
}

/// A commit that another one came after: the later one stays, and the earlier one can be made again.
#[test]
fn an_earlier_commit_can_be_undone_and_made_again() {
    let place = lines();
    fork(&place, "one");
    fork(&place, "two");
    edit(&place, "one", "/lines", numbered(&[(3, "three")]));
    edit(&place, "two", "/new", "new\n");
    place.ok(["commit", "-w", "one"]);
    place.ok(["commit", "-w", "two"]);
    place.ok(["undo", "-w", "one"]);
    assert_eq!(read(&place, "lines"), numbered(&[]));
    assert_eq!(read(&place, "new"), "new\n");
    assert_captured(&place);
    let again = place.json(&["commit", "-w", "one"]);
    assert_eq!(again["committed"], true, "{again}");
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
    assert_eq!(read(&place, "new"), "new\n");
    place.ok(["undo", "-w", "two"]);
    assert!(!place.project().join("new").exists());
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
}

/// A partial commit is taken back to a workspace that has all of its changes.
#[test]
fn a_partial_commit_can_be_undone() {
    let place = lines();
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    edit(&place, "work", "/new", "new\n");
    let before = folder(&place);
    place.ok(["commit", "-w", "work", "--only", "/new"]);
    place.ok(["undo", "-w", "work"]);
    assert_same(&before, &folder(&place));
    assert_eq!(place.json(&["status", "-w", "work"])["changes"].as_array().unwrap().len(), 2);
    place.ok(["commit", "-w", "work"]);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
    assert_eq!(read(&place, "new"), "new\n");
}

/// What happened in the workspace after the commit has to be undone first; `undo` does so in this order by itself.
#[test]
fn undo_goes_through_the_log() {
    let place = lines();
    let before = folder(&place);
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(3, "three")]));
    place.ok(["commit", "-w", "work"]);
    edit(&place, "work", "/new", "new\n");
    place.ok(["undo", "-w", "work"]);
    assert_eq!(read(&place, "lines"), numbered(&[(3, "three")]));
    place.ok(["undo", "-w", "work"]);
    assert_same(&before, &folder(&place));
    place.ok(["undo", "-w", "work"]);
    assert_eq!(place.json(&["status", "-w", "work"])["changes"], serde_json::json!([]));
}

/// A commit that was brought back is the newest operation, whatever else happened between.
#[test]
fn what_was_redone_is_undone_first() {
    let place = lines();
    place.ok(["init"]);
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(7, "seven")]));
    place.ok(["commit", "-w", "work"]);
    place.ok(["undo", "--vault-wide"]);
    place.write("mine", "mine\n");
    place.ok(["redo", "--vault-wide"]);
    assert!(read(&place, "lines").contains("seven"));
    place.ok(["undo", "--vault-wide"]);
    assert!(!read(&place, "lines").contains("seven"));
    assert_eq!(read(&place, "mine"), "mine\n");
    assert_captured(&place);
    // Then what was done before: taking in the folder, the edit, the workspace. The folder stays as it is.
    for summary in ["record what changed", "write /lines", "create workspace work"] {
        let undone = place.ok(["undo", "--vault-wide"]);
        assert!(undone.contains(summary), "{undone}");
    }
    assert_eq!(
        place.json_error(&["undo", "--vault-wide"], 4)["message"],
        "there is nothing to undo: everything since the vault was created is undone already"
    );
    assert_eq!(read(&place, "mine"), "mine\n");
}

/// What was taken in from the folder is in the folder: it holds up no undo of what came before it.
#[test]
fn a_capture_holds_up_no_undo() {
    let place = lines();
    place.ok(["init"]);
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(7, "seven")]));
    place.ok(["commit", "-w", "work"]);
    place.write("mine", "mine\n");
    place.ok(["pull", "--head"]);
    place.ok(["undo", "-w", "work"]);
    for summary in ["write /lines", "create workspace work"] {
        let undone = place.ok(["undo", "--vault-wide"]);
        assert!(undone.contains(summary), "{undone}");
    }
    assert_eq!(read(&place, "mine"), "mine\n");
}

/// What stands in the way is named as people call it.
#[test]
fn a_main_line_that_went_on_is_told() {
    let place = lines();
    place.ok(["init"]);
    fork(&place, "work");
    edit(&place, "work", "/lines", numbered(&[(7, "seven")]));
    place.ok(["commit", "-w", "work"]);
    fs::create_dir(place.path().join("other")).unwrap();
    place.ok(["binding", "add", "../other"]);
    place.ok(["undo", "-w", "work"]);
    let error = place.json_error(&["undo", "--vault-wide"], 4);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("the main line was changed since"), "{error}");
}
