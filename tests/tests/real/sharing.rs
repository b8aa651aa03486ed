//! Several commands at a time, first use, and commands that may not write.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use serde_json::{Value, json};

use crate::scene::{Scene, WORKSPACE, Who, envelope_of};

fn scene() -> Scene {
    let scene = Scene::new(Who::Me);
    scene.place.write("file.txt", "file\n");
    scene.place.write("below/other.txt", "other\n");
    scene
}

/// Starts a command that holds its workspace until its input ends, and waits until it runs.
fn hold(scene: &Scene, workspace: &str) -> Child {
    // It waits, since the look whether it runs yet holds the workspace for a moment too.
    let options = ["-w", workspace, "-i", "--wait"];
    let mut command =
        scene.exec_command(&options, &["sh", "-c", "echo held > held; cat > /dev/null"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let limit = Instant::now() + Duration::from_secs(30);
    let busy = |scene: &Scene| {
        let envelope =
            envelope_of(&scene.exec_command(&["-w", workspace], &["true"]).output().unwrap());
        envelope["result"]["error"]["code"] == "busy"
    };
    while !busy(scene) {
        assert!(Instant::now() < limit, "the command does not start");
    }
    child
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_busy_workspace() {
    let scene = scene();
    scene.bind();
    scene.offshoot_ok(&["workspace", "create", "another"]);
    let mut holder = hold(&scene, WORKSPACE);
    let refused = scene.exec_command(&["-w", WORKSPACE], &["true"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(125), "{refused:?}");
    let envelope = envelope_of(&refused);
    assert_eq!(envelope["result"]["error"]["code"], "busy", "{envelope:#}");
    assert!(!envelope["result"]["error"]["hint"].is_null(), "{envelope:#}");
    // For a while only.
    let options = ["-w", WORKSPACE, "--wait=200ms"];
    let refused = scene.exec_command(&options, &["true"]).output().unwrap();
    assert_eq!(envelope_of(&refused)["result"]["error"]["code"], "busy", "{refused:?}");
    // Another workspace is free.
    let other = envelope_of(&scene.exec_command(&["-w", "another"], &["ls"]).output().unwrap());
    assert_eq!(other["result"]["stdout"], "below\nfile.txt\n", "{other:#}");
    // As long as it takes: what comes next sees what was written before.
    let mut command = scene.exec_command(&["-w", WORKSPACE, "--wait"], &["cat", "held"]);
    let waiting = command.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(holder.stdin.take());
    let first = envelope_of(&holder.wait_with_output().unwrap());
    assert_eq!(first["success"], true, "{first:#}");
    let second = envelope_of(&waiting.wait_with_output().unwrap());
    assert_eq!(second["result"]["stdout"], "held\n", "{second:#}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn writes_fail_where_they_may_not_be() {
    let scene = scene();
    scene.bind();
    let script = "echo x > file.txt; touch new; rm file.txt; mkdir d; mv file.txt f; chmod 600 file.txt; cat file.txt";
    let envelope = scene.exec(&["--read-only"], &["sh", "-c", script]);
    let result = &envelope["result"];
    assert_eq!((&result["readonly"], &result["stdout"]), (&json!(true), &json!("file\n")));
    let errors = result["stderr"].as_str().unwrap();
    assert_eq!(errors.matches("Read-only file system").count(), 6, "{errors}");
    assert_eq!(result["changed_files"], json!([]), "{envelope:#}");
    assert_eq!(result["snapshot_before"], result["snapshot_after"], "{envelope:#}");
    // What is private stays writable, since tools need it.
    let envelope = scene.exec(&["--read-only"], &["sh", "-c", "echo t > /tmp/t; cat /tmp/t"]);
    assert_eq!(envelope["result"]["stdout"], "t\n", "{envelope:#}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_first_use_of_a_folder() {
    let scene = scene();
    let output =
        scene.exec_command(&[], &["sh", "-c", "cat file.txt; echo new > new"]).output().unwrap();
    let envelope = envelope_of(&output);
    assert_eq!(envelope["result"]["stdout"], "file\n", "{envelope:#}");
    assert_eq!(envelope["result"]["forked"], true, "{envelope:#}");
    let notes = envelope["notes"].to_string();
    assert!(notes.contains("vault"), "{envelope:#}");
    assert!(!scene.path("new").exists());
    // The next one starts from the folder as it is then, and says so.
    scene.place.write("file.txt", "edited\n");
    let output = scene.exec_command(&[], &["cat", "file.txt"]).output().unwrap();
    let again = envelope_of(&output);
    assert_eq!(again["result"]["stdout"], "edited\n", "{again:#}");
    assert_ne!(again["result"]["workspace"], envelope["result"]["workspace"], "{again:#}");
    assert!(again["notes"].to_string().contains("up to date"), "{again:#}");
    // And the first one is still as it was.
    let name = envelope["result"]["workspace"].as_str().unwrap();
    let output = scene.exec_command(&["-w", name], &["cat", "file.txt", "new"]).output().unwrap();
    assert_eq!(envelope_of(&output)["result"]["stdout"], "file\nnew\n");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn where_a_command_starts() {
    let scene = scene();
    scene.bind();
    let below = scene.path("below");
    let mut command = scene.exec_command(&["-w", WORKSPACE], &["sh", "-c", "pwd; cat other.txt"]);
    let said = envelope_of(&command.current_dir(&below).output().unwrap());
    assert_eq!(said["result"]["stdout"], format!("{}\nother\n", below.display()), "{said:#}");
    let said = scene.exec(&["--cwd", "below"], &["sh", "-c", "pwd; echo made > ../made"]);
    assert_eq!(said["result"]["stdout"], format!("{}\n", below.display()), "{said:#}");
    assert_eq!(said["result"]["changed_files"][0]["path"], "/made", "{said:#}");
    let refused =
        scene.exec_command(&["-w", WORKSPACE, "--cwd", "nowhere"], &["true"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(125), "{refused:?}");
    assert!(!envelope_of(&refused)["result"]["error"].is_null());
}

/// Commands in four workspaces at a time, several in a row each, see only their own.
#[needs(Overlay, UserNamespace)]
#[test]
fn four_workspaces_at_a_time() {
    let scene = scene();
    scene.bind();
    let names = ["north", "east", "south", "west"];
    for name in names {
        scene.offshoot_ok(&["workspace", "create", name]);
    }
    let step = |name: &str, round: usize| -> Command {
        let script = format!(
            "test $(cat log | wc -l) = {round}; echo {name} >> log; seq 500 > {name}.{round}; ls"
        );
        scene.exec_command(&["-w", name], &["sh", "-euc", &script])
    };
    for name in names {
        let made =
            envelope_of(&scene.exec_command(&["-w", name], &["touch", "log"]).output().unwrap());
        assert_eq!(made["success"], true, "{made:#}");
    }
    for round in 0..3 {
        let start =
            |name: &str| step(name, round).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let children: Vec<Child> = names.iter().map(|name| start(name).unwrap()).collect();
        for (name, child) in names.iter().zip(children) {
            let envelope: Value = envelope_of(&child.wait_with_output().unwrap());
            assert_eq!(envelope["success"], true, "{name}: {envelope:#}");
            let own: String = (0..=round).map(|round| format!("{name}.{round}\n")).collect();
            let seen = envelope["result"]["stdout"].as_str().unwrap();
            let mut expected: Vec<&str> = own.lines().chain(["below", "file.txt", "log"]).collect();
            expected.sort_unstable();
            assert_eq!(seen.lines().collect::<Vec<_>>(), expected, "{envelope:#}");
        }
    }
    scene.offshoot_ok(&["vault", "check"]);
}
