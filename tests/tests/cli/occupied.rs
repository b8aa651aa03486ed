//! A workspace that a command runs in: nobody moves it meanwhile, so what the command writes becomes its next state.

use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::product::document_of;

use crate::background::Background;
use crate::transcript::demo_vault;

#[needs(UserNamespace)]
#[test]
fn nobody_moves_a_workspace_under_a_command() {
    let place = demo_vault();
    place.write("new", "new\n");
    place.ok(["exec", "-w", "box", "--", "touch", "first"]);
    place.ok(["checkpoint", "create", "mark", "-w", "box"]);
    place.ok(["exec", "-w", "box", "--", "touch", "second"]);
    let text = "echo kept > kept; echo ready; exec sleep 300";
    let command = Background::start_with(&place, &["exec", "-w", "box", "--shell", text]);
    for arguments in [
        &["discard", "box"][..],
        &["workspace", "delete", "box"],
        &["undo", "-w", "box"],
        &["checkpoint", "restore", "mark", "-w", "box"],
        &["fs", "rm", "/first", "-w", "box"],
        &["review", "-w", "box", "--drop", "/first"],
        &["commit", "-w", "box"],
        &["pull", "-w", "box"],
    ] {
        let error = place.json_error(arguments, 8);
        assert!(error["message"].as_str().unwrap().contains("sleep 300"), "{arguments:?}: {error}");
    }
    let status = place.run(["status", "-w", "box"]);
    let told = String::from_utf8(status.stderr).unwrap();
    assert!(told.contains("a command runs in box"), "{told}");
    // Others are not kept waiting.
    place.ok(["exec", "-q", "-w", "other", "--", "touch", "third"]);
    place.ok(["undo", "-w", "other"]);
    place.ok(["checkpoint", "create", "meanwhile", "-w", "box"]);
    place.ok(["kill", &command.exec]);
    let result = document_of(&command.wait())["result"].clone();
    assert_eq!(result.get("error"), None, "{result}");
    assert_eq!(place.ok(["fs", "cat", "/kept", "-w", "box"]), "kept\n");
    place.ok(["undo", "-w", "box"]);
    place.ok(["discard", "box"]);
}

/// What the command writes would be gone with it.
#[needs(UserNamespace)]
#[test]
fn no_vault_is_deleted_under_a_command() {
    let place = demo_vault();
    let text = "echo kept > kept; echo ready; exec sleep 300";
    let mut commands = Vec::new();
    for arguments in [&["exec", "-w", "box"][..], &["exec", "-w", "box", "--read-only"]] {
        let text = if commands.is_empty() { text } else { "echo ready; exec sleep 300" };
        let arguments = [arguments, &["--shell", text]].concat();
        commands.push(Background::start_with(&place, &arguments));
    }
    for command in commands {
        let error = place.json_error(&["vault", "delete", "project", "--yes"], 8);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("workspace box of vault project"), "{error}");
        assert!(message.contains("sleep 300"), "{error}");
        let hint = error["hint"].as_str().unwrap();
        let named = format!("`offshoot kill {} --vault project`", &command.exec[..12]);
        assert!(hint.contains(&named), "{error}");
        place.ok(["kill", &command.exec[..12], "--vault", "project"]);
        let result = document_of(&command.wait())["result"].clone();
        assert_eq!(result.get("error"), None, "{result}");
    }
    assert_eq!(place.ok(["fs", "cat", "/kept", "-w", "box"]), "kept\n");
    place.ok(["vault", "delete", "project", "--yes"]);
}

/// Others who work in it are not pulled the ground from under their feet either.
#[test]
fn no_vault_is_deleted_under_whoever_holds_a_workspace() {
    let place = demo_vault();
    let workspace = place.json(&["workspace", "create", "box"])["workspace"]["id"].clone();
    let directory = place.json(&["vault", "info"])["vault"]["directory"].clone();
    let locks = std::path::Path::new(directory.as_str().unwrap()).join("locks");
    std::fs::create_dir_all(&locks).unwrap();
    let path = locks.join(workspace.as_str().unwrap());
    std::fs::write(&path, "process 7: offshoot commit").unwrap();
    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let error = place.json_error(&["vault", "delete", "project", "--yes"], 8);
    assert!(error["message"].as_str().unwrap().contains("process 7: offshoot commit"), "{error}");
    held.unlock().unwrap();
    place.ok(["vault", "delete", "project", "--yes"]);
}

/// What is said at the end leads to the workspace as it is called then.
#[needs(UserNamespace)]
#[test]
fn a_workspace_that_was_renamed_meanwhile_is_called_so() {
    let place = demo_vault();
    let text = "echo kept > kept; echo ready; exec sleep 300";
    let command = Background::start_with(&place, &["exec", "-w", "fix", "--shell", text]);
    place.ok(["workspace", "rename", "fix", "better"]);
    place.ok(["kill", &command.exec]);
    let result = document_of(&command.wait())["result"].clone();
    assert_eq!(result["workspace"], "better", "{result}");
    assert_eq!(place.ok(["fs", "cat", "/kept", "-w", "better"]), "kept\n");
}

/// Looking at a workspace waits only a moment to settle what was interrupted in the folder, and says that it is not settled.
#[test]
fn nobody_waits_long_for_whoever_is_at_the_folder() {
    let place = demo_vault();
    let vault = std::fs::canonicalize(place.home().join("names/project")).unwrap();
    // An apply whose process is gone: nobody has locked its directory.
    let apply = vault.join("applies").join(vault.file_name().unwrap());
    std::fs::create_dir_all(&apply).unwrap();
    std::fs::write(apply.join("journal"), "{}").unwrap();
    let folder = std::fs::File::create(vault.join("apply")).unwrap();
    folder.lock().unwrap();
    let started = Instant::now();
    let output = place.run(["status", "-c", "store.busy_timeout=2m"]);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("a commit was interrupted in the folder and is not settled"), "{told}");
}
