//! Settings, rules and ignore files of a project that are not what they should be, whoever made them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::transcript::{demo, demo_vault};

/// Whatever a command makes of the project's settings, what it did can be taken back.
#[needs(Overlay, UserNamespace)]
#[test]
fn settings_that_a_command_spoilt_are_taken_back() {
    for (make, told) in [
        ("mkfifo offshoot.toml", "is not a regular file"),
        ("echo '[nonsense]' > offshoot.toml", "nonsense"),
        ("ln -s /dev/zero offshoot.toml", "is not a regular file"),
    ] {
        let place = demo_vault();
        place.ok(["exec", "-w", "fix", "--shell", make]);
        place.ok(["commit", "-w", "fix", "--take", "offshoot.toml"]);
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

/// What a command writes into the project's settings gives it nothing: it is told, and work goes on.
#[needs(Overlay, UserNamespace)]
#[test]
fn settings_that_would_widen_are_told_and_ignored() {
    let place = demo_vault();
    let settings = "[gc]\nkeep_operations = 0\n[recover]\nabandoned = \"discard\"\n\
                    [exec]\ntimeout = \"10h\"\nmax_memory = 0\nnet = \"host\"\n";
    place.ok_with(["fs", "write", "/offshoot.toml", "-w", "fix"], settings.as_bytes());
    place.ok(["commit", "-w", "fix", "--allow", "trusted"]);
    let answer = place.run(["exec", "-w", "fix", "--", "true"]);
    let told = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{answer:?}");
    for key in ["gc.keep_operations", "recover.abandoned", "exec.timeout", "exec.net"] {
        assert!(told.contains(&format!("{key} is ignored")), "{key}: {told}");
    }
    let shown = place.json(&["config", "show"]);
    let value = |key: &str| {
        let all = shown["settings"].as_array().unwrap();
        all.iter().find(|setting| setting["key"] == key).unwrap().clone()
    };
    assert_eq!(value("gc.keep_operations")["value"], 100);
    assert_eq!(value("gc.keep_operations")["project"], "never");
    assert_eq!(value("recover.abandoned")["value"], "offer");
    assert_eq!(value("exec.timeout")["value"], "5m");
    assert_eq!(value("exec.timeout")["project"], "narrow");
    assert_eq!(value("exec.net")["value"], "none");
    assert_eq!(value("diff.context")["project"], "free");
}

/// Nothing waits for a pipe in the place of rules.
#[needs(Overlay, UserNamespace)]
#[test]
fn rules_are_read_from_files_alone() {
    let place = demo_vault();
    place.ok(["exec", "-w", "fix", "--shell", "mkfifo offshoot-policy.toml"]);
    place.ok(["commit", "-w", "fix", "--take", "offshoot-policy.toml"]);
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

/// Ways to spoil an ignore file, and what is said of each.
type Spoilt = (fn(&Path), &'static str);

const SPOILT: [Spoilt; 6] = [
    (|file| symlink("rules", file).unwrap(), "a symbolic link"),
    (
        |file| mknodat(CWD, file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
        "not a regular file",
    ),
    (|file| fs::create_dir(file).unwrap(), "not a regular file"),
    (|file| fs::write(file, "*.key\n".repeat(200_000)).unwrap(), "larger than 1048576 bytes"),
    (|file| fs::write(file, b"*.key\n\xe9*\n").unwrap(), "line 2 is not UTF-8 text"),
    (|file| fs::write(file, "*.key\n[z-a]\n").unwrap(), "line 2 is not a pattern"),
];

/// What an ignore file names may be a secret: whoever cannot use the file takes nothing in, and waits for nobody.
#[test]
fn nothing_is_taken_in_without_the_ignore_files() {
    for below in ["", "deep/er/"] {
        for (spoil, told) in SPOILT {
            let place = secrets(below);
            let file = place.project().join(below).join(".offshootignore");
            spoil(&file);
            let refused = |arguments: &[&str], code| {
                let error = place.json_error(arguments, code);
                let message = error["message"].as_str().unwrap();
                assert!(message.starts_with(file.to_str().unwrap()), "{error}");
                assert!(message.contains(told), "{error}");
                assert!(error["hint"].as_str().unwrap().contains("nothing was taken in"));
            };
            let project = place.project();
            let project = project.to_str().unwrap();
            refused(&["init"], 2);
            refused(&["vault", "create", "other", "--from", project], 2);
            assert_eq!(place.json(&["vault", "list"])["vaults"].as_array().unwrap().len(), 0);
            remove(&file);
            fs::write(&file, "*.key\n").unwrap();
            place.ok(["init"]);
            place.ok(["new", "fix"]);
            remove(&file);
            spoil(&file);
            place.write("new.txt", "new\n");
            for arguments in [&["init"][..], &["pull", "--head"], &["pull", "-w", "fix"], &["new"]]
            {
                refused(arguments, 2);
            }
            refused(&["commit", "-w", "fix"], 2);
            refused(&["fs", "import", project, "/copy", "-w", "fix"], 2);
            // What does not read the folder goes on.
            place.ok(["status", "-w", "fix"]);
            assert_eq!(place.run(["fs", "cat", "/new.txt", "--at", "head"]).status.code(), Some(3));
        }
    }
}

/// One that is closed to the user is none of those that cannot be read and are left out.
#[test]
fn an_ignore_file_that_nobody_may_read_is_not_left_out() {
    let (user, place) = (User::new(), secrets(""));
    let file = place.project().join(".offshootignore");
    fs::write(&file, "*.key\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    give_away(place.path());
    let output = user.run(&place, &["init", "--json"]);
    let document = document_of(&output);
    assert_eq!(output.status.code(), Some(2), "{document}");
    let message = document["error"]["message"].as_str().unwrap();
    assert!(message.contains(".offshootignore") && message.contains("denied"), "{document}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    user.ok(&place, &["init"]);
    let missing = user.run(&place, &["fs", "cat", "/secret.key", "--at", "head"]);
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");
}

/// A command may make anything of an ignore file: that stays in its workspace, where it does no harm, and the rest is committed.
#[needs(Overlay, UserNamespace)]
#[test]
fn an_ignore_file_that_a_command_spoilt_stays_in_its_workspace() {
    for make in [
        "ln -s rules .offshootignore",
        "mkfifo .offshootignore",
        "mkdir .offshootignore; echo x >.offshootignore/x",
        "yes '*.key' | head -c 2000000 >.offshootignore",
        "printf '\\351*' >.offshootignore",
        "echo '[z-a]' >.offshootignore",
    ] {
        for (first, at) in [("rm .offshootignore", ""), ("mkdir -p deep; cd deep", "deep/")] {
            let place = secrets("");
            place.write(".offshootignore", "*.key\n");
            place.ok(["init"]);
            let script = format!("echo n >new.txt; echo k >made.key; {first}; {make}");
            place.ok(["exec", "-w", "fix", "--shell", &script]);
            let status = place.ok(["status", "-w", "fix"]);
            assert!(status.contains("Offshoot would refuse it in the folder"), "{status}");
            let document = place.json(&["commit", "-w", "fix"]);
            let held = document["held"].as_array().unwrap();
            let spoilt = format!("/{at}.offshootignore");
            let is_held = |it: &serde_json::Value| {
                it["path"].as_str().unwrap().starts_with(&spoilt) && it["reason"] == "ignore-file"
            };
            assert!(held.iter().any(is_held), "{make}: {document}");
            let rules = fs::read_to_string(place.project().join(".offshootignore")).unwrap();
            assert_eq!(rules, "*.key\n", "{make}");
            assert!(place.project().join("new.txt").exists(), "{make}");
            // What the folder's rules keep out stays out, whatever the workspace has in their place.
            assert!(!place.project().join("made.key").exists(), "{make}");
            place.ok(["exec", "-w", "fix", "--shell", "echo more >>new.txt"]);
            place.ok(["pull", "-w", "fix"]);
            place.ok(["commit", "-w", "fix"]);
            place.ok(["undo", "-w", "fix"]);
            place.ok(["discard", "fix"]);
        }
    }
}

/// A folder with a secret that ignore files should keep out.
fn secrets(below: &str) -> Place {
    let place = demo();
    place.write(format!("{below}secret.key"), "secret\n");
    place.write(format!("{below}rules"), "*.key\n");
    place
}

fn remove(file: &Path) {
    match fs::symlink_metadata(file).unwrap().is_dir() {
        true => fs::remove_dir_all(file).unwrap(),
        false => fs::remove_file(file).unwrap(),
    }
}
