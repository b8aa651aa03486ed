//! What can be asked of `exec`, each with a test that fails where it is ignored.

use std::process::{Command, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary, document_of, with_json};
use serde_json::Value;

use crate::transcript::{demo, demo_vault};

fn exec(place: &Place, arguments: &[&str]) -> Value {
    document_of(&place.run(with_json(&[&["exec"], arguments].concat())))["result"].clone()
}

#[needs(UserNamespace)]
#[test]
fn checkpoints_are_made_when_asked_for() {
    let place = demo_vault();
    let with = |mode: &str, command: &str| {
        exec(&place, &["-w", "fix", "--checkpoint", mode, "--shell", command])
    };
    let kept = with("auto", "echo 1 > one");
    let name = kept["checkpoint"].as_str().unwrap();
    assert_eq!(kept["decision"]["decision"], "allow_with_checkpoint");
    assert_eq!(with("auto", "true")["checkpoint"], Value::Null);
    assert_eq!(with("never", "echo 2 > two")["checkpoint"], Value::Null);
    assert!(with("always", "true")["checkpoint"].is_string());
    place.ok(["checkpoint", "restore", name, "-w", "fix"]);
    assert_eq!(exec(&place, &["-w", "fix", "--", "ls", "one"])["exit_code"], 2);
}

#[needs(UserNamespace)]
#[test]
fn a_read_only_command_is_allowed_and_writes_nothing() {
    let place = demo_vault();
    let before = place.json(&["log", "-w", "fix"])["snapshots"].as_array().unwrap().len();
    let result =
        exec(&place, &["-w", "fix", "--read-only", "--shell", "cat README.md; rm README.md"]);
    assert!(result["stdout"].as_str().unwrap().starts_with("# Demo"), "{result}");
    assert!(result["stderr"].as_str().unwrap().contains("Read-only file system"), "{result}");
    assert_eq!(result["decision"]["decision"], "allow");
    assert_eq!(result["sandbox"]["writable"], Value::Array(Vec::new()));
    assert_eq!(result["readonly"], true);
    let after = place.json(&["log", "-w", "fix"])["snapshots"].as_array().unwrap().len();
    assert_eq!(before, after);
    assert_eq!(place.json(&["execs"])["execs"].as_array().unwrap().len(), 1);
}

#[needs(UserNamespace)]
#[test]
fn a_workspace_is_forked_from_what_is_named() {
    let place = demo_vault();
    exec(&place, &["-w", "fix", "--shell", "echo 1 > one"]);
    let forked = exec(&place, &["--from", "fix", "--shell", "cat one; echo 2 > two"]);
    assert_eq!((&forked["stdout"], &forked["forked"]), (&"1\n".into(), &true.into()));
    assert_ne!(forked["workspace"], "fix");
    assert_eq!(exec(&place, &["-w", "fix", "--", "ls", "two"])["exit_code"], 2);
    let short = ["-c", "workspace.ephemeral_ttl=1s", "--ephemeral", "--", "true"];
    let gone = exec(&place, &short);
    let name = gone["workspace"].as_str().unwrap().to_owned();
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    exec(&place, &["-w", "fix", "--", "true"]);
    let names = place.json(&["workspace", "list"]).to_string();
    assert!(!names.contains(&name), "{names}");
}

/// The binary raises its own limit, and the command gets the one that the caller had.
#[needs(UserNamespace)]
#[test]
fn the_limit_of_open_files_is_the_callers() {
    let place = demo_vault();
    let script = "ulimit -Sn 77; exec \"$1\" exec -q -w fix -- sh -c 'ulimit -Sn'";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(binary()).current_dir(place.project());
    command.env_clear().envs(place.environment()).stdin(Stdio::null());
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), "77\n");
}

#[needs(UserNamespace)]
#[test]
fn who_asked_is_recorded() {
    let place = demo_vault();
    let mut command = place.command(["exec", "-w", "fix", "--json", "--", "true"]);
    command.env("OFFSHOOT_AGENT", "robin").env("OFFSHOOT_SESSION", "s-1");
    let document = document_of(&command.output().unwrap());
    let actor = &document["request"]["actor"];
    assert_eq!((&actor["user"], &actor["agent"]), (&"tester".into(), &"robin".into()));
    assert_eq!(place.json(&["execs"])["execs"][0]["actor"]["session"], "s-1");
}

#[needs(UserNamespace, "python3")]
#[test]
fn the_network_is_off_unless_asked_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let place = demo_vault();
    let connect = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)' 2>/dev/null \
         && echo reached || echo alone"
    );
    let alone = exec(&place, &["-w", "fix", "--shell", &connect]);
    assert_eq!(alone["stdout"], "alone\n", "{alone}");
    let reached = exec(&place, &["-w", "fix", "--net", "host", "--shell", &connect]);
    assert_eq!(reached["stdout"], "reached\n", "{reached}");
    assert_eq!(reached["sandbox"]["network"], "host");
}

/// A user namespace that may not make others stands for a system that lets nobody make them.
#[needs(UserNamespace)]
#[test]
fn a_system_without_user_namespaces_is_told_by_its_setting() {
    let place = demo();
    let script =
        "echo 0 > /proc/sys/user/max_user_namespaces && \"$1\" exec --json -- true; \"$1\" doctor";
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", script, "sh"]).arg(binary()).current_dir(place.project());
    let output = command.env_clear().envs(place.environment()).stdin(Stdio::null()).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let (envelope, doctor) = text.split_once('\n').unwrap();
    let envelope: Value = serde_json::from_str(envelope).unwrap();
    let error = &envelope["result"]["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("user.max_user_namespaces = 0"), "{message}");
    assert!(error["hint"].is_string(), "{error}");
    assert_eq!(envelope["result"]["failed_in"], "mounting");
    assert!(doctor.contains("problem  sandbox: commands cannot be confined"), "{doctor}");
    assert!(doctor.contains("user.max_user_namespaces = 0"), "{doctor}");
}

#[test]
fn bad_requests_are_refused_with_an_envelope() {
    let place = demo_vault();
    let refused = |arguments: &[&str], code: &str| {
        let output = place.run(with_json(&[&["exec"], arguments].concat()));
        let document = document_of(&output);
        assert_eq!(output.status.code(), Some(125), "{document}");
        assert_eq!(document["result"]["error"]["code"], code, "{document}");
        assert_eq!(document["kind"], "exec");
    };
    refused(&["-w", "no/thing", "--", "true"], "usage");
    refused(&["--vault", "nothing", "--", "true"], "not_found");
    refused(&["--from", "nothing", "--", "true"], "not_found");
    refused(&["-w", "fix", "--", ""], "usage");
    refused(&["-w", "fix", "--cwd", "..", "--", "true"], "usage");
    for arguments in [
        &["exec", "--json"][..],
        &["exec", "--json", "--shell", "x", "--", "y"],
        &["exec", "--json", "--timeout", "soon", "--", "y"],
        &["exec", "--json", "--net", "some", "--", "y"],
        &["exec", "--json", "--stream", "--", "y"],
    ] {
        assert_eq!(place.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[needs(UserNamespace)]
#[test]
fn the_first_use_takes_in_the_project_and_never_a_home() {
    let place = demo();
    std::fs::create_dir(place.project().join(".git")).unwrap();
    let mut command = place.command(["exec", "--json", "--", "pwd"]);
    command.current_dir(place.project().join("src"));
    let document = document_of(&command.output().unwrap());
    let project = place.project().canonicalize().unwrap();
    assert_eq!(document["result"]["stdout"], format!("{}/src\n", project.display()));
    assert_eq!(document["result"]["mountpoint"], project.to_str().unwrap());
    let place = demo();
    let mut command = place.command(["exec", "--json", "--", "pwd"]);
    command.current_dir(place.path());
    let refused = document_of(&command.output().unwrap());
    assert_eq!(refused["result"]["error"]["code"], "usage", "{refused}");
    assert!(place.ok(["vault", "list"]).is_empty());
}

/// With the caller gone, everything inside is gone, and the next command finds the workspace as it was.
#[needs(UserNamespace)]
#[test]
fn a_killed_caller_leaves_nothing_behind() {
    let place = demo_vault();
    // A duration that nobody else sleeps for, to find the process by.
    let sleep = format!("sleep 60.{}", std::process::id());
    let text = format!("echo x > begun; {sleep} & echo on; {sleep}");
    let arguments = ["exec", "-w", "fix", "--stream", "--shell", &text];
    let mut child = place.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    lines.find(|line| line.as_ref().unwrap().contains("\"stdout\"")).unwrap().unwrap();
    // The shell says so before the program is executed.
    let begun = std::time::Instant::now();
    while !is_running(&sleep) {
        assert!(begun.elapsed().as_secs() < 20, "it does not run");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let started = std::time::Instant::now();
    while is_running(&sleep) {
        assert!(started.elapsed().as_secs() < 20, "it still runs");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let next = exec(&place, &["-w", "fix", "--wait=20s", "--", "ls"]);
    assert!(!next["stdout"].as_str().unwrap().contains("begun"), "{next}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(place.path().to_str().unwrap()), "{mounts}");
    place.ok(["vault", "check"]);
}

fn is_running(command: &str) -> bool {
    let wanted = command.replace(' ', "\0") + "\0";
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .any(|line| line == wanted.as_bytes())
}
