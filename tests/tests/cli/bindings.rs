//! `binding`: the folders of a vault.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use offshoot_tests::product::Place;

use crate::transcript::{Transcript, demo, settle};

/// A demo project in a vault, and a folder elsewhere.
fn with_etc() -> (Place, PathBuf) {
    let place = demo();
    place.ok(["init"]);
    let etc = place.path().join("etc");
    fs::create_dir_all(etc.join("conf.d")).unwrap();
    fs::write(etc.join("app.conf"), "port = 1\n").unwrap();
    settle(&etc);
    (place, etc)
}

fn links(place: &Place) -> usize {
    let entries = fs::read_dir(place.home().join("bindings")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_symlink()).count()
}

/// Runs the binary in a folder; it must succeed.
fn ok_in(place: &Place, folder: &Path, arguments: &[&str]) -> String {
    let output = place.command(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn folders_for_people() {
    let (place, etc) = with_etc();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["binding", "list"]);
    transcript.run(&["binding", "add", "../etc"]);
    transcript.run(&["binding", "list"]);
    transcript.run(&["fs", "ls", "/.offshoot/bound/etc"]);
    transcript.run(&["vault", "info"]);
    fs::write(etc.join("app.conf"), "port = 2\n").unwrap();
    transcript.run(&["init"]);
    transcript.run(&["fs", "cat", "/.offshoot/bound/etc/app.conf"]);
    fs::rename(&etc, place.path().join("elsewhere")).unwrap();
    transcript.run(&["binding", "list"]);
    transcript.run(&["init"]);
    transcript.run(&["binding", "move", "etc", "../elsewhere"]);
    transcript.run(&["init"]);
    transcript.run(&["binding", "remove", "etc"]);
    transcript.run(&["binding", "list"]);
    transcript.run(&["fs", "ls", "/"]);
    transcript.run(&["undo", "--vault-wide"]);
    transcript.run(&["binding", "list"]);
    transcript.run(&["op", "log", "-n", "5"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn folders_for_programs() {
    let (place, _) = with_etc();
    fs::create_dir(place.path().join("other")).unwrap();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["binding", "add", "../etc", "--name", "web"]);
    transcript.json(&["binding", "list"]);
    transcript.json(&["binding", "move", "web", "../other"]);
    transcript.json(&["binding", "remove", "web"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn what_cannot_be_bound() {
    let (place, etc) = with_etc();
    place.ok(["binding", "add", "../etc"]);
    for name in ["second", "third/inner", "user"] {
        fs::create_dir_all(place.path().join(name)).unwrap();
    }
    ok_in(&place, &place.path().join("second"), &["init"]);
    fs::write(place.path().join("file"), "").unwrap();
    let mut transcript = Transcript::new(&place);
    for directory in [
        "../etc",
        "../etc/conf.d",
        "..",
        "src",
        "/",
        "../home",
        "../home/vaults",
        "../second",
        "../file",
        "../nowhere",
        "/etc/hosts",
    ] {
        transcript.run(&["binding", "add", directory]);
    }
    transcript.run(&["binding", "add", "../third", "--name", "etc"]);
    transcript.run(&["binding", "add", "../third", "--name", "a/b"]);
    transcript.run(&["binding", "remove", "/"]);
    transcript.run(&["binding", "remove", "ect"]);
    transcript.run(&["binding", "move", "etc", "../second"]);
    transcript.run(&["binding", "move", "etc", "src"]);
    place.ok(["binding", "remove", "etc"]);
    place.write(".offshoot", "mine");
    transcript.run(&["binding", "add", "../etc"]);
    assert_snapshot!(transcript.finish());
    assert_eq!(links(&place), 2, "nothing is left of what was refused");
    assert_eq!(fs::read_to_string(etc.join("app.conf")).unwrap(), "port = 1\n");
}

/// A vault is found from each of its folders, and from no other, whatever undo and redo do.
#[test]
fn a_vault_is_found_from_all_its_folders() {
    let (place, etc) = with_etc();
    let finds = |folder: &Path| {
        let output = place.command(["status"]).current_dir(folder).output().unwrap();
        output.status.success()
    };
    assert!(!finds(&etc));
    place.ok(["binding", "add", "../etc"]);
    assert!(finds(&etc) && finds(&etc.join("conf.d")) && finds(&place.project()));
    assert_eq!(links(&place), 2);
    place.ok(["undo", "--vault-wide"]);
    assert!(!finds(&etc) && finds(&place.project()));
    assert_eq!(links(&place), 1);
    place.ok(["redo", "--vault-wide"]);
    assert!(finds(&etc));
    // An index that does not fit is made to.
    for entry in fs::read_dir(place.home().join("bindings")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            fs::remove_file(path).unwrap();
        }
    }
    assert!(finds(&etc) && finds(&place.project()));
    assert_eq!(links(&place), 2);
    place.ok(["binding", "remove", "etc"]);
    assert!(!finds(&etc));
    place.ok(["undo", "--vault-wide"]);
    assert!(finds(&etc));
    ok_in(&place, &etc, &["init"]);
    place.ok(["vault", "delete", "project", "--yes"]);
    assert!(!finds(&etc) && !finds(&place.project()));
    assert_eq!(fs::read_dir(place.home().join("bindings")).unwrap().count(), 0);
}

#[test]
fn a_project_that_was_moved_is_found_again() {
    let (place, _) = with_etc();
    place.ok(["workspace", "create", "fix"]);
    let moved = place.path().join("moved");
    fs::rename(place.project(), &moved).unwrap();
    ok_in(&place, &moved, &["binding", "move", "/", ".", "--vault", "project"]);
    assert!(ok_in(&place, &moved, &["status"]).contains("workspace fix"));
    assert!(ok_in(&place, &moved, &["init"]).contains("up to date"));
    assert_eq!(links(&place), 1);
    fs::rename(&moved, place.project()).unwrap();
    place.ok(["undo", "--vault-wide", "--vault", "project"]);
    place.ok(["status"]);
}

/// What was exported is bound to nothing where it is taken in again: whoever made the file could name any folder.
#[test]
fn no_folder_travels_with_its_vault() {
    let (place, etc) = with_etc();
    place.ok(["binding", "add", "../etc"]);
    place.ok(["vault", "export", "../carried"]);
    place.ok(["vault", "delete", "project", "--yes"]);
    let imported = place.json(&["vault", "import", "../carried"]);
    let told: Vec<&str> =
        imported["was_bound"].as_array().unwrap().iter().filter_map(|path| path.as_str()).collect();
    assert_eq!(told, [place.project().to_str().unwrap(), etc.to_str().unwrap()]);
    assert_eq!(links(&place), 0);
    // Its user binds them again. What came along below the name of a further folder is not for one that is bound now.
    place.ok(["binding", "move", "/", ".", "--vault", "project"]);
    assert_eq!(links(&place), 1);
    assert_eq!(place.json(&["binding", "add", "../etc"])["binding"]["name"], "etc-2");
    assert_eq!(links(&place), 2);
    ok_in(&place, &etc, &["undo", "--vault-wide"]);
    assert_eq!(links(&place), 1);
}
