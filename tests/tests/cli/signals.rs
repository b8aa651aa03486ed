//! Ctrl-C, SIGTERM and the like: the exit code, and what is said.

use std::process::{Child, Output, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary};
use rustix::process::{Pid, Signal, kill_process};

use crate::background::{Background, eventually};
use crate::transcript::{demo, demo_vault};

/// The signals that ask a process to end, its exit code, and the word for that.
const SIGNALS: [(Signal, i32, &str); 4] = [
    (Signal::INT, 130, "interrupted"),
    (Signal::TERM, 143, "terminated"),
    (Signal::HUP, 129, "hung_up"),
    (Signal::QUIT, 131, "quit"),
];

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

fn spawn(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A code in words for people.
fn words(code: &str) -> String {
    code.replace('_', " ")
}

/// Whether a process has come so far that it takes signals as something to read.
fn watches(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    blocked.is_some_and(|mask| mask & 2 != 0)
}

#[needs(UserNamespace)]
#[test]
fn an_interrupted_command_is_told_about() {
    let place = demo_vault();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for (text, kept) in [
            ("echo ready; sleep 600", "interrupted; nothing was changed"),
            ("echo x >> x; echo ready; sleep 600", "what the command changed until then is kept"),
        ] {
            let arguments = ["exec", "-w", "fix", "--shell", text];
            let running = Background::spawn(&place, &mut place.command(arguments));
            send(running.pids[0], signal);
            let output = running.wait();
            assert_eq!(output.status.code(), Some(code), "{output:?}");
            assert!(said(&output).contains(kept), "{output:?}");
        }
    }
}

/// What `nohup` starts outlives the terminal.
#[needs(UserNamespace)]
#[test]
fn a_hang_up_that_is_ignored_ends_nothing() {
    let place = demo_vault();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(binary());
    command.args(["exec", "-w", "fix", "-i", "--shell", "echo ready; read word; echo \"$word\""]);
    command.env_clear().envs(place.environment()).current_dir(place.project());
    let running = Background::spawn(&place, command.stdin(Stdio::piped()));
    send(running.pids[0], Signal::HUP);
    let output = running.answer(b"on\n");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\non\n");
}

/// So is one that waits for its workspace, and what it waits for.
#[needs(UserNamespace)]
#[test]
fn an_interrupted_wait_is_told_about() {
    let place = demo_vault();
    let long = ["exec", "-w", "fix", "--shell", "echo ready; sleep 600"];
    let long = Background::spawn(&place, &mut place.command(long));
    for ((signal, code, word), wait) in
        SIGNALS.into_iter().flat_map(|signal| [(signal, "--wait"), (signal, "--wait=10m")])
    {
        let child = spawn(&place, &["exec", "-w", "fix", wait, "--", "true"]);
        eventually("it watches for signals", || watches(child.id()));
        send(child.id(), signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let told = said(&output);
        assert!(told.contains("interrupted while waiting for workspace fix, busy with"), "{told}");
        assert!(told.contains("sleep 600; nothing was changed\n"), "{told}");
        assert_eq!(told.matches("nothing was changed").count(), 1, "{told}");
        let child = spawn(&place, &["exec", "-w", "fix", wait, "--json", "--", "true"]);
        eventually("it watches for signals", || watches(child.id()));
        send(child.id(), signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let document = offshoot_tests::product::document_of(&output);
        assert_eq!(document["result"]["error"]["code"], word, "{document}");
        assert_eq!(document["result"]["interrupted"], true, "{document}");
    }
    send(long.pids[0], Signal::TERM);
    assert_eq!(long.wait().status.code(), Some(143));
}

/// A commit that waits for somebody else who changes the folder can be interrupted, and has changed nothing.
#[test]
fn interrupted_commits_say_what_they_left() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/new.txt", "-w", "fix"], b"new\n");
    let held = hold(&place, "apply");
    for (signal, code, word) in SIGNALS {
        let child = spawn(&place, &["commit", "-c", "store.busy_timeout=10m"]);
        eventually("the commit watches for signals", || watches(child.id()));
        send(child.id(), signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(
            said(&output).contains(&format!("{}; nothing was changed", words(word))),
            "{output:?}"
        );
        let child = spawn(&place, &["commit", "--json", "-c", "store.busy_timeout=10m"]);
        eventually("the commit watches for signals", || watches(child.id()));
        send(child.id(), signal);
        let output = child.wait_with_output().unwrap();
        let document = offshoot_tests::product::document_of(&output);
        assert_eq!(document["error"]["code"], word, "{document}");
    }
    drop(held);
    assert!(!place.project().join("new.txt").exists());
    place.ok(["commit"]);
    assert!(place.project().join("new.txt").exists());
}

/// So can taking a commit back, and bringing it back.
#[test]
fn interrupted_reverts_say_what_they_left() {
    let place = demo_vault();
    place.ok_with(["fs", "write", "/new.txt", "-w", "fix"], b"new\n");
    place.ok(["commit"]);
    for verb in ["undo", "redo"] {
        let held = hold(&place, "apply");
        for (signal, code, word) in SIGNALS {
            let child = spawn(&place, &[verb, "fix", "-c", "store.busy_timeout=10m"]);
            eventually("it watches for signals", || watches(child.id()));
            send(child.id(), signal);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{output:?}");
            assert!(
                said(&output).contains(&format!("{}; nothing was changed", words(word))),
                "{output:?}"
            );
        }
        drop(held);
        assert_eq!(place.project().join("new.txt").exists(), verb == "undo");
        place.ok([verb, "fix"]);
    }
}

/// Holds a lock of the vault as another process would.
fn hold(place: &Place, name: &str) -> std::fs::File {
    let vault = std::fs::canonicalize(place.home().join("names/project")).unwrap();
    let path = vault.join(name);
    let file =
        std::fs::File::options().create(true).truncate(false).write(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

/// A collection that waits for others, too.
#[test]
fn an_interrupted_collection_can_be_done_again() {
    let place = demo_vault();
    let held = hold(&place, "gate");
    for (signal, code, word) in SIGNALS {
        let child = spawn(&place, &["gc", "-c", "store.busy_timeout=10m"]);
        eventually("the collection watches for signals", || watches(child.id()));
        send(child.id(), signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let expected = format!("{}; `offshoot gc` continues where it stopped", words(word));
        assert!(said(&output).contains(&expected), "{output:?}");
    }
    drop(held);
    place.ok(["gc"]);
    place.ok(["vault", "check"]);
}

/// What was begun leaves no vault.
#[test]
fn an_interrupted_init_leaves_nothing() {
    let place = demo();
    for number in 0..2_000 {
        place.write(format!("many/{}/{number}", number % 100), number.to_string());
    }
    for ((signal, code, word), arguments) in SIGNALS
        .into_iter()
        .flat_map(|signal| [(signal, &["init"][..]), (signal, &["exec", "true"])])
    {
        let child = spawn(&place, arguments);
        eventually("the import watches for signals", || watches(child.id()));
        send(child.id(), signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(
            said(&output).contains(&format!("{}; nothing was changed", words(word))),
            "{output:?}"
        );
        assert_eq!(place.json(&["vault", "list"])["vaults"].as_array().unwrap().len(), 0);
    }
    // Programs get the document that they asked for.
    for (form, is_event) in [("--json", false), ("--stream", true)] {
        let child = spawn(&place, &["exec", form, "true"]);
        eventually("the import watches for signals", || watches(child.id()));
        send(child.id(), Signal::INT);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let envelope = if is_event { &document["envelope"] } else { &document };
        assert_eq!(envelope["kind"], "exec", "{document}");
        assert_eq!(envelope["success"], false, "{document}");
        assert_eq!(envelope["result"]["interrupted"], true, "{document}");
        assert_eq!(envelope["result"]["error"]["code"], "interrupted", "{document}");
    }
    place.ok(["init"]);
}

/// A signal that comes while a command answers is too late: there is one answer, and the exit code belongs to it.
#[needs(Overlay, UserNamespace)]
#[test]
fn nothing_is_said_after_the_answer() {
    let place = demo_vault();
    // The answer names more than fits into a pipe that nobody reads.
    let script = "name=$(printf %0200d 1); for i in $(seq 300); do echo $i > $name-$i; done";
    place.ok(["exec", "-w", "fix", "--shell", script]);
    let answering = spawn(&place, &["commit", "-w", "fix", "--json"]);
    let pipe = answering.stdout.as_ref().unwrap();
    eventually("an answer that waits for its reader", || {
        rustix::io::ioctl_fionread(pipe).unwrap() > 60_000
    });
    send(answering.id(), Signal::TERM);
    let output = answering.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["success"], true);
}
