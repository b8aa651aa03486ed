//! Settings and rules that a command put into the project and that were committed with the rest.

use offshoot_needs::needs;

use crate::transcript::demo_vault;

/// Whatever a command makes of the project's settings, what it did can be taken back.
#[needs(Overlay, UserNamespace)]
#[test]
fn settings_that_a_command_spoilt_are_taken_back() {
    for (make, told) in [
        ("mkfifo offshoot.toml", "is not a regular file"),
        ("echo '[nonsense]' > offshoot.toml", "nonsense"),
        ("printf '[gc]\\nkeep_operations = 0\\n' > offshoot.toml", "cannot set gc.keep_operations"),
        (
            "printf '[recover]\\nabandoned = \"discard\"\\n' > offshoot.toml",
            "cannot set recover.abandoned",
        ),
    ] {
        let place = demo_vault();
        place.ok(["exec", "-w", "fix", "--shell", make]);
        place.ok(["commit", "-w", "fix"]);
        let error = place.json_error(&["exec", "-w", "fix", "--", "true"], 2);
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
        let status = place.run(["status", "-w", "fix"]);
        let note = String::from_utf8_lossy(&status.stderr);
        assert!(status.status.success() && note.contains(told), "{status:?}");
        place.ok(["undo", "-w", "fix"]);
        assert!(!place.project().join("offshoot.toml").exists());
        place.ok(["exec", "-w", "fix", "--", "true"]);
    }
}

/// Nothing waits for a pipe in the place of rules.
#[needs(Overlay, UserNamespace)]
#[test]
fn rules_are_read_from_files_alone() {
    let place = demo_vault();
    place.ok(["exec", "-w", "fix", "--shell", "mkfifo offshoot-policy.toml"]);
    place.ok(["commit", "-w", "fix"]);
    let answer = place.run(["exec", "-w", "fix", "--", "true"]);
    let told = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.code() == Some(125) && told.contains("not a regular file"), "{answer:?}");
    place.ok(["undo", "-w", "fix"]);
    place.ok(["exec", "-w", "fix", "--", "true"]);
}

/// A device may have no end.
#[test]
fn devices_are_not_imported() {
    let place = demo_vault();
    let error = place.json_error(&["fs", "import", "/dev/zero", "/zero", "-w", "fix"], 6);
    assert!(error["message"].as_str().unwrap().contains("devices are not kept"), "{error}");
}
