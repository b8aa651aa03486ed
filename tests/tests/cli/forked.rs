//! Workspaces that were made for one command: they go only where nobody has anything in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};

use crate::background::Background;
use crate::damage::directory;
use crate::transcript::{demo, demo_vault};

fn is_there(place: &Place, workspace: &str) -> bool {
    place.run(["workspace", "show", workspace]).status.success()
}

/// Starts a command that changes nothing in a new workspace `box`.
fn idle(place: &Place) -> Background {
    Background::start_with(place, &["exec", "-w", "box", "--shell", "echo ready; exec sleep 300"])
}

fn ended(place: &Place, command: Background) -> serde_json::Value {
    place.ok(["kill", &command.exec]);
    document_of(&command.wait())["result"].clone()
}

#[needs(UserNamespace)]
#[test]
fn a_checkpoint_that_somebody_made_meanwhile_keeps_the_workspace() {
    let place = demo_vault();
    let command = idle(&place);
    place.ok(["checkpoint", "create", "mark", "-w", "box"]);
    let result = ended(&place, command);
    assert_eq!(result.get("workspace_removed"), None, "{result}");
    place.ok(["checkpoint", "show", "mark", "-w", "box"]);
    // Without one it goes.
    place.ok(["workspace", "delete", "box"]);
    let result = ended(&place, idle(&place));
    assert_eq!(result["workspace_removed"], true, "{result}");
    assert!(!is_there(&place, "box"));
}

/// What could not be sealed is set aside, and the workspace that it belongs to stays with it.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_command_that_could_not_be_sealed_keeps_its_workspace() {
    let (user, place) = (User::new(), demo());
    give_away(place.path());
    user.ok(&place, &["init"]);
    let text = "echo kept > kept; echo ready; exec sleep 300";
    let mut start = user.command(&place, &["exec", "-w", "box", "--json", "--shell", text]);
    let command = Background::spawn(&place, &mut start);
    let layers = directory(&place).join("layers");
    let set_mode = |mode| fs::set_permissions(&layers, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o500);
    user.ok(&place, &["kill", &command.exec]);
    let exec = command.exec.clone();
    let result = document_of(&command.wait())["result"].clone();
    set_mode(0o700);
    assert_eq!(result["state"], "failed", "{result}");
    assert_eq!(result["recoverable"], true, "{result}");
    assert_eq!(result.get("workspace_removed"), None, "{result}");
    user.ok(&place, &["workspace", "show", "box"]);
    user.ok(&place, &["recover", "keep", &exec, "--name", "late"]);
    user.ok(&place, &["checkpoint", "restore", "late", "-w", "box"]);
    assert_eq!(user.ok(&place, &["fs", "cat", "/kept", "-w", "box"]), "kept\n");
}

/// A command that only reads shares its workspace: what somebody writes there meanwhile keeps it, however the command ends.
#[needs(UserNamespace)]
#[test]
fn what_somebody_wrote_meanwhile_keeps_the_workspace() {
    for fails in [false, true] {
        for written in [false, true] {
            let place = demo_vault();
            let text = "echo ready; exec sleep 300";
            let words = ["exec", "-w", "box", "--read-only", "--shell", text];
            let command = Background::start_with(&place, &words);
            if written {
                place.ok_with(["fs", "write", "/note", "-w", "box"], b"note\n");
            }
            let result = match fails {
                true => {
                    command.kill_init();
                    document_of(&command.wait())["result"].clone()
                }
                false => ended(&place, command),
            };
            let state = if fails { "failed" } else { "completed" };
            assert_eq!(result["state"], state, "{result}");
            assert_eq!(is_there(&place, "box"), written, "{fails}: {result}");
            if written {
                assert_eq!(place.ok(["fs", "cat", "/note", "-w", "box"]), "note\n");
            }
        }
    }
}
