//! What comes into a workspace is newer than what was built there before, and times alone are never committed.

use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::transcript::demo_vault;

/// Edits a file in the folder, builds in workspaces meanwhile, and leaves what was built older than nothing there.
fn built() -> Place {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    place.write("README.md", "mine\n");
    place.ok_with(["fs", "write", "/src/lib.rs", "-w", "other"], b"theirs\n");
    place.ok(["exec", "-w", "fix", "--shell", "sleep 0.02; echo built > built"]);
    place
}

fn is_newer(place: &Place, name: &str) -> bool {
    let script = format!("test {name} -nt built");
    place.run(["exec", "-w", "fix", "--shell", &script]).status.success()
}

#[needs(Overlay, UserNamespace)]
#[test]
fn builds_notice_what_a_pull_brings() {
    let place = built();
    assert!(!is_newer(&place, "README.md"));
    place.ok(["pull", "-w", "fix"]);
    assert!(is_newer(&place, "README.md"));
    let status = place.json(&["status", "-w", "fix"]);
    assert_eq!(status["changes"].as_array().unwrap().len(), 1, "{status}");
    place.ok(["fs", "rm", "/built", "-w", "fix"]);
    let status = place.ok(["status", "-w", "fix"]);
    assert!(status.contains("nothing changed"), "{status}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn builds_notice_what_a_merge_brings() {
    let place = built();
    place.ok(["merge", "other", "--into", "fix"]);
    assert!(is_newer(&place, "src/lib.rs"));
    assert!(!is_newer(&place, "README.md"));
}

#[needs(Overlay, UserNamespace)]
#[test]
fn builds_notice_what_is_taken_back() {
    for review in [false, true] {
        let place = built();
        let script = "echo more > README.md; sleep 0.02; echo again > built";
        place.ok(["exec", "-w", "fix", "--shell", script]);
        assert!(!is_newer(&place, "README.md"));
        match review {
            true => place.ok(["review", "-w", "fix", "--drop", "README.md"]),
            false => place.ok(["fs", "revert", "/README.md", "-w", "fix"]),
        };
        assert!(is_newer(&place, "README.md"));
        let status = place.json(&["status", "-w", "fix"]);
        assert_eq!(status["changes"].as_array().unwrap().len(), 1, "{status}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn times_alone_stay() {
    let place = demo_vault();
    let file = place.project().join("README.md");
    let before = file.metadata().unwrap().modified().unwrap();
    place.ok(["exec", "-w", "fix", "--shell", "touch README.md; sleep 0.02"]);
    assert!(place.ok(["status", "-w", "fix"]).contains("nothing changed"));
    let said = place.ok(["commit", "-w", "fix"]);
    assert!(said.contains("nothing to commit"), "{said}");
    place.ok_with(["fs", "write", "/new", "-w", "fix"], b"new");
    place.ok(["commit", "-w", "fix"]);
    assert_eq!(file.metadata().unwrap().modified().unwrap(), before);
}
