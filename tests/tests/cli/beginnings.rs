//! The first hour: workspaces that are made when they are named, and go when nothing came of them.

use std::fs;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::background::{Background, eventually};
use crate::transcript::{Transcript, demo, demo_vault};

fn envelope(place: &Place, arguments: &[&str]) -> Value {
    document_of(&place.run([&["exec", "--json"], arguments].concat()))["result"].clone()
}

fn workspaces(place: &Place) -> Vec<String> {
    let listed = place.json(&["workspace", "list"])["workspaces"].clone();
    let names = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn errors(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[needs(UserNamespace)]
#[test]
fn a_first_hour() {
    let place = demo();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["exec", "ls", "-a"]);
    transcript.run(&["status"]);
    transcript.run(&["commit"]);
    transcript.run(&["exec", "-w", "fix", "touch", "new.txt"]);
    transcript.run(&["status"]);
    transcript.run(&["review", "--list"]);
    transcript.run(&["commit"]);
    transcript.run(&["undo"]);
    transcript.run(&["redo"]);
    transcript.run(&["checkpoint", "create", "here"]);
    transcript.run(&["pull"]);
    transcript.run(&["exec", "-w", "fxi", "--", "touch", "other.txt"]);
    transcript.run(&["undo"]);
    transcript.run(&["ls"]);
    transcript.run(&["undo", "fxi"]);
    transcript.run(&["discard", "fxi"]);
    transcript.run(&["status", "fix"]);
    transcript.run(&["exec", "-w", "read", "cat", "run.sh"]);
    transcript.run(&["diff", "-w", "read"]);
    transcript.run(&["run", "-T", "-w", "read", "true"]);
    transcript.run(&["discard"]);
    assert_snapshot!(transcript.finish());
}

/// The new workspace starts from what is in the folder now, and one that is there stays as it is.
#[needs(UserNamespace)]
#[test]
fn a_workspace_that_is_named_is_forked_from_the_folder_as_it_is() {
    let place = demo_vault();
    place.write("late.txt", "late\n");
    let old = envelope(&place, &["-w", "fix", "cat", "late.txt"]);
    assert_eq!((&old["forked"], &old["exit_code"]), (&Value::from(false), &Value::from(1)));
    let new = envelope(&place, &["-w", "new", "--shell", "cat late.txt; echo x > x"]);
    assert_eq!((&new["forked"], &new["stdout"]), (&Value::from(true), &Value::from("late\n")));
    assert_eq!(new["workspace"], "new");
    assert_eq!(new.get("workspace_removed"), None);
    assert_eq!(workspaces(&place), ["fix", "new"]);
    // What cannot be a name is none.
    for name in ["head", "-x", "a/b"] {
        let output = place.run(["exec", &format!("--workspace={name}"), "--", "true"]);
        assert_eq!(output.status.code(), Some(125), "{name}: {output:?}");
    }
    assert_eq!(workspaces(&place), ["fix", "new"]);
}

#[needs(UserNamespace)]
#[test]
fn what_changed_nothing_leaves_no_workspace() {
    let place = demo_vault();
    for arguments in [
        &["true"][..],
        &["-w", "other", "cat", "README.md"],
        &["--ephemeral", "ls"],
        &["--read-only", "ls"],
        &["sh", "-c", "exit 3"],
        &["no-such-program"],
    ] {
        let result = envelope(&place, arguments);
        assert_eq!(result["forked"], true, "{arguments:?}: {result}");
        assert_eq!(result["workspace_removed"], true, "{arguments:?}: {result}");
        assert_eq!(workspaces(&place), ["fix"], "{arguments:?}");
        // The record stays, and who comes back to the workspace is told where it went.
        let exec = result["exec"].as_str().unwrap();
        let shown = document_of(&place.run(["show", exec, "--json"]));
        assert!(shown.to_string().contains("\"workspace_removed\":true"), "{shown}");
        let name = result["workspace"].as_str().unwrap();
        let error = place.json_error(&["diff", "-w", name], 3);
        assert!(error["hint"].as_str().unwrap().contains("--keep"), "{error}");
    }
    // It comes back like all that is undone, and can be made again.
    place.ok(["undo", "-w", "other"]);
    assert_eq!(workspaces(&place), ["fix", "other"]);
    let kept = envelope(&place, &["--keep", "-w", "kept", "true"]);
    assert_eq!(kept.get("workspace_removed"), None, "{kept}");
    let changed = envelope(&place, &["touch", "a"]);
    assert_eq!(changed.get("workspace_removed"), None, "{changed}");
    // A workspace that was there is nobody's to remove.
    envelope(&place, &["-w", "fix", "true"]);
    assert_eq!(workspaces(&place).len(), 4);
}

/// Who waits for a workspace that goes meanwhile makes it again.
#[needs(UserNamespace)]
#[test]
fn who_waits_gets_a_workspace() {
    let place = demo_vault();
    let first = [
        "exec",
        "-w",
        "shared",
        "--shell",
        "echo ready; while [ ! -e /tmp/x ]; do sleep 0.01; done",
    ];
    let running = Background::start_with(&place, &first);
    let mut second =
        place.command(["exec", "--json", "-w", "shared", "--wait=60s", "touch", "made"]);
    second.stdout(std::process::Stdio::piped());
    let second = second.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    place.ok(["kill", &running.exec]);
    let ended = running.envelope();
    assert_eq!(ended["result"]["workspace_removed"], true, "{ended}");
    let made = document_of(&second.wait_with_output().unwrap());
    assert_eq!(made["result"]["forked"], true, "{made}");
    assert_eq!(workspaces(&place), ["fix", "shared"]);
}

/// Names that differ by a slip of the finger are pointed out, numbered ones are not.
#[needs(UserNamespace)]
#[test]
fn slips_are_pointed_out() {
    let place = demo_vault();
    let slip = envelope(&place, &["-w", "fxi", "touch", "a"]);
    assert_eq!(slip["warnings"][0], "new workspace fxi (did you mean fix?)", "{slip}");
    let numbered = envelope(&place, &["-w", "fix-2", "touch", "a"]);
    assert_eq!(numbered["warnings"], Value::Array(Vec::new()), "{numbered}");
}

/// A workspace is called by its name only where that is needed.
#[needs(UserNamespace)]
#[test]
fn what_to_do_next_names_a_workspace_where_it_has_to() {
    let place = demo();
    let only = errors(&place.run(["exec", "-w", "fix", "touch", "a"]));
    assert!(only.contains("review: offshoot review   commit: offshoot commit   undo"), "{only}");
    let second = errors(&place.run(["exec", "-w", "two", "touch", "a"]));
    assert!(second.contains("commit: offshoot commit -w two"), "{second}");
    let mut standing = place.command(["exec", "touch", "b"]);
    let standing = errors(&standing.env("OFFSHOOT_WORKSPACE", "two").output().unwrap());
    assert!(standing.contains("workspace two: 1 added\nreview: offshoot review   "), "{standing}");
    let elsewhere = errors(&place.run(["--vault", "project", "exec", "-w", "fix", "touch", "c"]));
    assert!(elsewhere.contains("undo: offshoot undo --vault project -w fix"), "{elsewhere}");
}

/// Where one stands makes no difference to what a new workspace starts from.
#[needs(UserNamespace)]
#[test]
fn a_named_vault_is_brought_up_to_date_from_anywhere() {
    let place = demo_vault();
    place.write("late", "late\n");
    let arguments = ["--vault", "project", "exec", "-w", "far", "--", "cat", "late"];
    let output = place.command(arguments).current_dir(place.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "late\n", "{output:?}");
    assert!(errors(&output).contains("was brought up to date"), "{output:?}");
}

#[needs(UserNamespace)]
#[test]
fn lists_tell_what_goes_on() {
    let place = demo_vault();
    place.ok(["exec", "-w", "fix", "--", "touch", "a", "b"]);
    let running = Background::start(&place, "echo ready; sleep 600");
    let listed = place.json(&["workspace", "list"])["workspaces"][0].clone();
    assert_eq!(listed["changed_paths"], 2, "{listed}");
    assert_eq!(listed["last_command"], "touch a b", "{listed}");
    assert_eq!(listed["running"], true, "{listed}");
    let text = place.ok(["ls"]);
    let line: Vec<&str> = text.lines().nth(1).unwrap().split("  ").map(str::trim).collect();
    let line: Vec<&str> = line.into_iter().filter(|word| !word.is_empty()).collect();
    assert_eq!(line, ["fix", "2 changes", "just now", "head", "running", "touch a b"], "{text}");
    place.ok(["kill", &running.exec]);
    running.wait();
    eventually("it is over", || place.json(&["ls"])["workspaces"][0]["running"] == false);
}

/// A folder that is younger than the workspace is brought in by `pull`, and the error says so.
#[needs(UserNamespace)]
#[test]
fn a_folder_that_is_new_needs_a_pull() {
    let place = demo_vault();
    place.write("fresh/file", "x\n");
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.current_dir(place.project().join("fresh")).output().unwrap()
    };
    let output = run(&["exec", "-w", "fix", "cat", "file"]);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(errors(&output).contains("`offshoot pull -w fix` brings it in"), "{output:?}");
    run(&["pull", "fix"]);
    assert_eq!(run(&["exec", "-w", "fix", "cat", "file"]).stdout, b"x\n");
}

/// Inside of a workspace vaults cannot be seen; that is what is said.
#[needs(UserNamespace)]
#[test]
fn inside_of_a_workspace_it_says_so() {
    let place = demo_vault();
    let binary = place.project().join("offshoot");
    fs::copy(offshoot_tests::product::binary(), &binary).unwrap();
    place.ok(["init"]);
    let inside = |text: &str| {
        let result = envelope(&place, &["-w", "box", "--keep", "--shell", text]);
        let text = |name: &str| result[name].as_str().unwrap().to_owned();
        (result["exit_code"].clone(), text("stdout"), text("stderr"))
    };
    let (code, _, said) = inside("./offshoot status");
    assert_eq!(code, 9, "{said}");
    assert!(said.contains("this is the inside of workspace box of vault project"), "{said}");
    assert!(said.contains("offshoot status -w box"), "{said}");
    let (code, document, _) = inside("./offshoot ls --json");
    assert_eq!(code, 9);
    assert!(document.contains("\"code\":\"inside\""), "{document}");
    // What needs no vault works, and so does another home.
    assert_eq!(inside("./offshoot config get exec.timeout").0, 0);
    assert_eq!(inside("./offshoot --home /tmp/h vault list").0, 0);
    assert_eq!(inside("echo $OFFSHOOT_INSIDE $OFFSHOOT_INSIDE_VAULT").1, "box project\n");
}

#[needs(UserNamespace)]
#[test]
fn timeouts_name_the_limit_and_the_way_on() {
    let place = demo_vault();
    let said = errors(&place.run(["exec", "--timeout", "100ms", "sleep", "600"]));
    assert!(said.contains("timed out after 100ms (--timeout); command killed\n"), "{said}");
    let said = errors(&place.run(["-c", "exec.timeout=200ms", "exec", "sleep", "600"]));
    let expected =
        "timed out after 200ms (exec.timeout); command killed; for longer: --timeout 1s 200ms";
    assert!(said.contains(expected), "{said}");
}

/// What was left is told where it matters.
#[needs(UserNamespace)]
#[test]
fn interrupted_commands_are_told_about_where_it_matters() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    Background::start(&place, "echo x > x; echo ready; sleep 600").crash();
    let tells =
        |arguments: &[&str]| errors(&place.run(arguments)).contains("offshoot recover list");
    for about in [&["status"][..], &["status", "fix"], &["exec", "-w", "fix", "true"]] {
        assert!(tells(about), "{about:?}");
    }
    let named = errors(&place.run(["status", "--vault", "project", "-w", "fix"]));
    assert!(named.contains("`offshoot recover list --vault project`"), "{named}");
    for not_about in [
        &["status", "other"][..],
        &["exec", "-w", "other", "true"],
        &["exec", "true"],
        &["ls"],
        &["diff", "-w", "other"],
        &["log"],
        &["vault", "list"],
    ] {
        assert!(!tells(not_about), "{not_about:?}");
    }
}

/// A rule is suggested where it would let the command work, and with the file that it belongs in.
#[test]
fn rules_are_suggested_where_they_help() {
    let place = demo_vault();
    let (fails, goes) = ("a command gains no rights", "only files in the project are kept;");
    for (futile, why) in [
        (&["touch", "/etc/passwd"][..], goes),
        (&["rm", "-rf", "/usr/lib"], goes),
        (&["sudo", "ls"], fails),
        (&["--shell", "touch /etc/passwd; sudo ls"], fails),
    ] {
        let output = place.run([&["exec", "-w", "fix"], futile].concat());
        assert_eq!(output.status.code(), Some(122), "{futile:?}: {output:?}");
        let said = errors(&output);
        assert!(said.contains(why), "{futile:?}: {said}");
        assert!(said.contains("this command is not allowed here"), "{futile:?}: {said}");
        assert!(said.contains("run it yourself, outside of Offshoot"), "{futile:?}: {said}");
        assert!(!said.contains("[[rule]]"), "{futile:?}: {said}");
    }
    let useful = ["exec", "-w", "fix", "--net", "host", "kubectl", "delete", "pod", "web"];
    let output = place.run(useful);
    assert_eq!(output.status.code(), Some(123), "{output:?}");
    let file = place.path().join(".config/offshoot/policy.toml");
    let expected = format!("to allow it, add to {}\n", file.display());
    let said = errors(&output);
    let (_, printed) = said.split_once(&expected).unwrap_or_else(|| panic!("{said}"));
    assert!(printed.starts_with("    version = 1\n\n    [[rule]]\n"), "{said}");
    // What is printed is a file of rules, and once there is one, a further rule.
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, printed.replace("\n    ", "\n").trim_start()).unwrap();
    place.ok(["policy", "test"]);
    let asked = ["policy", "check", "--net", "host", "--", "kubectl", "delete", "pod", "web"];
    assert_eq!(place.run(asked).status.code(), Some(0));
    let other = errors(&place.run(["exec", "-w", "fix", "--net", "host", "kubectl", "drain", "a"]));
    assert!(other.contains(&format!("{expected}    [[rule]]\n")), "{other}");
    fs::remove_file(&file).unwrap();
    let mut other = place.command(useful);
    let other = errors(&other.env("OFFSHOOT_POLICY", "/dev/null").output().unwrap());
    assert!(!other.contains("[[rule]]"), "{other}");
}
