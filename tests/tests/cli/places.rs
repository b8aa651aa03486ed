//! Which vault a folder belongs to.

use std::fs;
use std::path::Path;
use std::process::Command;

use offshoot_needs::needs;
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
    assert!(error["hint"].as_str().unwrap().contains("vault create NAME --from"), "{error}");
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

/// What is no project is refused before anything of it is read.
#[test]
fn what_is_no_project_is_refused_at_once() {
    let place = demo();
    let refused = |folder: &str, why: &str, can_force: bool| {
        for arguments in [&["init", folder][..], &["vault", "create", "x", "--from", folder]] {
            let error = place.json_error(arguments, 2);
            assert!(error["message"].as_str().unwrap().ends_with(why), "{folder}: {error}");
            assert_eq!(error["hint"].is_string(), can_force, "{folder}: {error}");
        }
        if !can_force {
            place.json_error(&["init", folder, "--force"], 2);
        }
    };
    refused("/", "it is the whole machine", false);
    refused("/proc", "it belongs to the running system", false);
    refused("/dev", "it belongs to the running system", false);
    refused("/proc/self/task", "it lies in a proc file system, which has no files", false);
    refused("/sys/kernel", "it lies in a sysfs file system, which has no files", false);
    refused("/usr", "it is a directory of the system; choose a project in it", true);
    refused("/etc", "it is a directory of the system; choose a project in it", true);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    refused(&text(place.path()), "it is your home; choose a project in it", true);
    for (below, why) in [
        (".ssh", "it holds keys for ssh"),
        (".ssh/old", "it holds keys for ssh"),
        (".aws", "it holds credentials for a cloud"),
        (".gnupg", "it holds keys and passwords"),
    ] {
        let folder = place.path().join(below);
        fs::create_dir(&folder).unwrap();
        refused(&text(&folder), why, true);
        let output = place.command(["exec", "--json", "true"]).current_dir(&folder).output();
        let error = document_of(&output.unwrap())["result"]["error"].clone();
        assert_eq!(error["code"], "usage", "{error}");
        assert!(error["message"].as_str().unwrap().ends_with(why), "{error}");
    }
    // Nor is what holds somebody's home.
    let inner = place.project().join("me");
    fs::create_dir(&inner).unwrap();
    let output = place.command(["init", "--json"]).env("HOME", &inner).output().unwrap();
    let error = document_of(&output)["error"].clone();
    assert_eq!(error["code"], "usage", "{error}");
    let why = "it holds your home; choose a project in it";
    assert!(error["message"].as_str().unwrap().ends_with(why), "{error}");
    place.ok(["init"]);
    refused(&text(&place.home()), "vaults are kept there", false);
    refused(&text(&place.home().join("vaults")), "vaults are kept there", false);
    // A first use is no less careful.
    let mut command = place.command(["exec", "--json", "true"]);
    let output = command.current_dir("/sys/kernel").output().unwrap();
    assert_eq!(document_of(&output)["result"]["error"]["code"], "usage", "{output:?}");
    // Whoever means it gets the home, without the vaults in it.
    let made = place.json(&["init", &text(place.path()), "--name", "all", "--force"]);
    let skipped = made["import"]["skipped"].as_array().unwrap();
    assert!(skipped.iter().any(|skipped| skipped["code"] == "home"), "{made}");
}

/// File systems of the kernel that are mounted in a project are pointed out, and never read.
#[needs(UserNamespace)]
#[test]
fn the_kernel_in_a_project_is_not_read() {
    let place = demo();
    fs::create_dir(place.project().join("proc")).unwrap();
    let script = "mount -t proc proc \"$1/proc\" && \"$2\" init --json; \"$2\" init --force --json; \"$2\" init --json";
    let mut command = Command::new("unshare");
    command.args(["-Urmpf", "sh", "-c", script, "sh"]).arg(place.project()).arg(binary());
    command.env_clear().envs(place.environment()).current_dir(place.project());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let documents: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 3, "{output:?}");
    let message = documents[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("a proc file system is mounted in it, at "), "{message}");
    for taken in &documents[1..] {
        let import = &taken["result"]["import"];
        assert_eq!(import["skipped"][0]["code"], "pseudo", "{taken}");
        assert_eq!(import["files"], 4, "{taken}");
    }
}
