//! A command that waits belongs to the workspace that it was asked for in, whatever is called so by then.

use super::*;

/// Asks for a command that is not tried, since it has no walls, and that leaves the file `r`.
const UNTRIED: [&str; 6] = ["--sandbox", "none", "--", "sh", "-c", "echo ran > r"];

fn asked_untried(place: &Place, workspace: &str) -> String {
    let all = [&["exec", "--json", "-w", workspace], &UNTRIED[..]].concat();
    let envelope = answered(&place.run(&all), 123);
    assert_eq!(envelope["result"]["approval"]["tried"], false, "{envelope}");
    envelope["result"]["exec"].as_str().unwrap().to_owned()
}

#[test]
fn a_renamed_workspace_is_the_one_that_was_asked_for() {
    let place = project();
    place.ok(["workspace", "create", "r1"]);
    let id = asked_untried(&place, "r1");
    place.ok(["workspace", "rename", "r1", "r9"]);
    let ran = place.ok(["approvals", "approve", &id]);
    assert!(ran.contains(": 1 change in r9"), "{ran}");
    assert_eq!(cat(&place, "r9", "/r").as_deref(), Some("ran\n"));
    assert_eq!(workspaces(&place), ["r9"]);
}

/// Nor does it run in another workspace that has the name since, with other files or the same.
#[test]
fn a_name_that_moved_on_leads_nowhere_else() {
    let place = project();
    for other_files in [false, true] {
        let name = format!("q{}", u8::from(other_files));
        let kept = format!("kept-{name}");
        place.ok(["workspace", "create", &name]);
        let id = asked_untried(&place, &name);
        place.ok(["workspace", "rename", &name, &kept]);
        place.ok(["workspace", "create", &name]);
        if other_files {
            place.run_with(["fs", "write", "x", "-w", &name], b"other\n");
        }
        let ran = place.ok(["approvals", "approve", &id]);
        assert!(ran.contains(&format!(": 1 change in {kept}")), "{ran}");
        assert_eq!(cat(&place, &name, "/r"), None);
        assert_eq!(cat(&place, &kept, "/r").as_deref(), Some("ran\n"));
    }
}

/// Whoever waits for the word runs it in the same place.
#[test]
fn whoever_waits_follows_a_rename() {
    let place = project();
    place.ok(["workspace", "create", "q1"]);
    let wait = [&["exec", "--json", "--wait-approval", "-w", "q1"], &UNTRIED[..]].concat();
    let (child, id) = waiting(&place, &wait);
    place.ok(["workspace", "rename", "q1", "q2"]);
    place.ok(["workspace", "create", "q1"]);
    place.ok(["approvals", "approve", &id]);
    let ended = answered(&child.wait_with_output().unwrap(), 0);
    assert_eq!(ended["result"]["workspace"], "q2", "{ended}");
    assert_eq!(cat(&place, "q1", "/r"), None);
    assert_eq!(cat(&place, "q2", "/r").as_deref(), Some("ran\n"));
}

/// Where the workspace is in use nothing ran, and nobody is told that something did.
#[test]
fn what_did_not_start_is_not_said_to_have_run() {
    let place = project();
    place.ok(["workspace", "create", "fix"]);
    let id = asked_untried(&place, "fix");
    let mut busy = place.command(["exec", "-w", "fix", "--", "sleep", "60"]);
    let mut busy = busy.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| !place.json(&["ps"])["running"].as_array().unwrap().is_empty());
    let tried = place.run(["approvals", "approve", &id]);
    let told = String::from_utf8_lossy(&tried.stdout).into_owned();
    assert!(told.starts_with("not run: ") && told.contains("error:"), "{tried:?}");
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert_eq!(cat(&place, "fix", "/r"), None);
}
