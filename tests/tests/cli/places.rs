//! Which vault a folder belongs to.

use std::fs;
use std::process::Command;

use offshoot_tests::product::{Place, binary, document_of};

use crate::transcript::{demo, demo_vault};

#[test]
fn a_binding_is_found_from_any_folder_below() {
    let place = demo_vault();
    let deep = place.project().join("src/a/b/c");
    fs::create_dir_all(&deep).unwrap();
    let link = place.path().join("link");
    std::os::unix::fs::symlink(&deep, &link).unwrap();
    for folder in [place.project().join("src"), deep, link] {
        let mut command = place.command(["status", "--json"]);
        let output = command.current_dir(&folder).output().unwrap();
        assert_eq!(document_of(&output)["result"]["vault"], "project", "{}", folder.display());
    }
}

#[test]
fn the_innermost_vault_counts() {
    let place = demo();
    let inner = place.project().join("src");
    let inner_name = inner.to_str().unwrap();
    place.ok(["init"]);
    let error = place.json_error(&["init", inner_name], 4);
    assert!(error["hint"].as_str().unwrap().contains("vault create --from"), "{error}");
    place.ok(["vault", "create", "inner", "--from", inner_name]);
    let output = place.command(["status", "--json"]).current_dir(&inner).output().unwrap();
    assert_eq!(document_of(&output)["result"]["vault"], "inner");
    assert_eq!(place.json(&["status"])["vault"], "project");
    assert_eq!(place.json(&["status", "--vault", "inner"])["vault"], "inner");
    // Both go on by themselves.
    fs::write(inner.join("new.rs"), "").unwrap();
    assert_eq!(place.json(&["init"])["changed"], true);
    assert_eq!(place.json(&["init", inner_name])["changed"], true);
}

#[test]
fn outside_of_any_vault_there_is_a_hint() {
    let place = demo();
    let error = place.json_error(&["status"], 3);
    assert!(error["hint"].as_str().unwrap().contains("offshoot init"), "{error}");
    place.ok(["vault", "create", "other"]);
    let error = place.json_error(&["fs", "ls"], 3);
    assert_eq!(error["candidates"], serde_json::json!(["other"]));
    assert!(error["hint"].as_str().unwrap().contains("--vault"), "{error}");
    place.ok(["fs", "ls", "--vault", "other"]);
    // Looking makes nothing.
    let empty = Place::new();
    for arguments in [&["status"][..], &["fs", "ls"], &["diff"]] {
        empty.json_error(arguments, 3);
    }
    empty.ok(["vault", "list"]);
    assert!(!empty.home().exists());
}

#[test]
fn the_home_is_never_taken_in() {
    let place = demo();
    let home = place.project().join("data/vaults");
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        let output = command.arg("--json").env("OFFSHOOT_HOME", &home).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        document_of(&output)
    };
    // Whoever keeps vaults in a project says that this is meant.
    let mut refused = place.command(["init"]);
    let refused = refused.env("OFFSHOOT_HOME", &home).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let first = run(&["init", "--force"]);
    assert_eq!(run(&["init"])["result"]["changed"], false);
    run(&["workspace", "create", "fix"]);
    run(&["fs", "mkdir", "/made", "-w", "fix"]);
    let again = run(&["init"]);
    assert_eq!(again["result"]["changed"], false, "{again}");
    let tree = run(&["fs", "tree", "--at", "head"])["result"]["entries"].to_string();
    assert!(!tree.contains("catalog.db") && tree.contains("main.rs"), "{tree}");
    let skipped = first["result"]["import"]["skipped"].to_string();
    assert!(skipped.contains("home"), "{first}");
}

#[test]
fn a_folder_that_is_gone() {
    let place = demo_vault();
    let folder = place.project().join("gone");
    fs::create_dir(&folder).unwrap();
    let script = "cd \"$1\" && rmdir \"$1\" && shift && exec \"$@\"";
    let run = |arguments: &[&str]| {
        fs::create_dir_all(&folder).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(&folder).arg(binary()).args(arguments);
        shell.env_clear().envs(place.environment()).output().unwrap()
    };
    for arguments in [&["status", "--json"][..], &["init", "--json"], &["fs", "ls", "--json"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let message = document_of(&output)["error"]["message"].clone();
        assert!(message.as_str().unwrap().contains("current folder is gone"), "{message}");
    }
    // Where the vault is named, the folder does not matter.
    let output = run(&["status", "--vault", "project", "--json"]);
    assert_eq!(document_of(&output)["result"]["vault"], "project");
}

#[test]
fn a_folder_that_moved_is_another_folder() {
    let place = demo_vault();
    let moved = place.path().join("moved");
    fs::rename(place.project(), &moved).unwrap();
    fs::create_dir(place.project()).unwrap();
    let output = place.command(["status", "--json"]).current_dir(&moved).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let output = place.command(["init", "--json"]).current_dir(&moved).output().unwrap();
    assert_eq!(document_of(&output)["result"]["created"], true);
}

#[test]
fn folders_of_the_same_name_get_vaults_of_their_own() {
    let place = demo();
    place.ok(["init"]);
    let other = place.path().join("other/project");
    fs::create_dir_all(&other).unwrap();
    let made = place.json(&["init", other.to_str().unwrap()]);
    assert_eq!(made["vault"]["name"], "project-2");
}
