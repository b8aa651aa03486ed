//! Programs that are no workers, and workers of another version.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use offshoot_engine::Error;
use offshoot_engine::exec::{Command, Input};
use offshoot_needs::needs;
use offshoot_protocol::ExitCode;
use offshoot_tests::product::{Place, binary};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{
    changed, open, options, place, project, wait_for_output, wait_until, zombies,
};

/// What `exec` says where this program is the worker.
fn refused(place: &Place, program: &Path) -> Error {
    let project = open(place, options(place).worker(program));
    let name = program.file_name().unwrap().to_str().unwrap();
    let workspace = project.fork(name).unwrap();
    let started = Instant::now();
    // More than a socket holds, so that one who reads nothing is noticed, too.
    let command = Command::new(["touch", "new"]).input(Input::Bytes(vec![0; 1 << 20]));
    let error = workspace.exec(command).unwrap_err();
    assert!(started.elapsed().as_secs() < 10, "{name}: {:?}", started.elapsed());
    assert_eq!(changed(&workspace), [""; 0]);
    project.wait_idle();
    error
}

/// A program that does as a text says.
fn script(place: &Place, name: &str, text: &str) -> std::path::PathBuf {
    let path = place.path().join(name);
    // Written by another process: a copy of this one, for a thread that starts a program, could have it open for writing.
    let status = std::process::Command::new("sh")
        .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\""])
        .args([path.as_os_str(), text.as_ref()])
        .status();
    assert!(status.unwrap().success());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_program_that_is_no_worker_is_named() {
    let place = place();
    for (program, code, reason) in [
        ("/no/such/program".into(), ExitCode::NotFound, "no worker program"),
        (place.project(), ExitCode::Failure, "cannot start the worker"),
        ("/bin/true".into(), ExitCode::Usage, "does not work as a worker"),
        ("/bin/echo".into(), ExitCode::Usage, "does not work as a worker"),
        (script(&place, "endless", "exec cat /dev/zero"), ExitCode::Usage, "does not work as"),
        (script(&place, "lines", "yes"), ExitCode::Usage, "does not work as"),
        (
            script(&place, "later", "echo '{\"accepted\":{\"version\":99}}'"),
            ExitCode::Usage,
            "speaks version 99",
        ),
        (
            script(
                &place,
                "other",
                "echo '{\"refused\":{\"version\":99,\"reason\":\"\"}}'; exec sleep 1000",
            ),
            ExitCode::Usage,
            "speaks version 99",
        ),
        (
            script(
                &place,
                "unwilling",
                "echo '{\"refused\":{\"version\":6,\"reason\":\"too odd\"}}'",
            ),
            ExitCode::Usage,
            "too odd",
        ),
    ] {
        let error = refused(&place, &program);
        assert_eq!(error.code, code, "{error}");
        let named = error.message.contains(program.to_str().unwrap());
        assert!(named && error.message.contains(reason), "{error}");
    }
    wait_until("waiting for what has ended", || zombies().is_empty());
}

/// A worker that says nonsense after its first word is killed, and the command has failed.
#[test]
fn nonsense_ends_a_worker() {
    let place = place();
    for (name, said) in [("garbage", "garbage"), ("twice", "{\"accepted\":{\"version\":6}}")] {
        let text =
            format!("echo '{{\"accepted\":{{\"version\":6}}}}'; echo '{said}'; exec sleep 1000");
        let project = open(&place, options(&place).worker(script(&place, name, &text)));
        let exec = project.exec(["true"]).unwrap();
        let ended = exec.wait();
        assert!(!ended.is_success() && !ended.result.recoverable, "{ended:?}");
        let error = ended.result.error.as_ref().unwrap();
        assert!(error.message.contains("the worker process ended"), "{error:?}");
        project.wait_idle();
    }
    wait_until("waiting for what has ended", || zombies().is_empty());
}

/// A worker that somebody else than a host talks to.
struct Talk {
    worker: std::process::Child,
    own: BufReader<UnixStream>,
}

impl Talk {
    /// Starts one, and says the first line.
    fn start(place: &Place, line: &str) -> Self {
        let (own, other) = UnixStream::pair().unwrap();
        let worker = std::process::Command::new(binary())
            .arg("worker")
            .env_clear()
            .envs(place.environment())
            .stdin(Stdio::null())
            .stdout(OwnedFd::from(other))
            .spawn()
            .unwrap();
        let mut talk = Self { worker, own: BufReader::new(own) };
        talk.say(line);
        talk
    }

    fn say(&mut self, line: &str) {
        // One that refuses does not read all of it.
        let _refused = self.own.get_mut().write_all(line.as_bytes()).is_err();
    }

    /// Lets it begin.
    fn go(&mut self) {
        self.hear_until("{\"accepted\"");
        self.say("{\"go\":{\"wait\":null}}\n");
    }

    /// Its next line; empty where it has ended.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.own.read_line(&mut line).unwrap();
        line
    }

    /// Its next line that starts so.
    fn hear_until(&mut self, start: &str) -> String {
        loop {
            let line = self.hear();
            assert_ne!(line, "", "it ended without {start}");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Asks it to end, as a service manager does.
    fn signal(&self) {
        let pid = Pid::from_raw(self.worker.id().cast_signed()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    fn end(mut self) {
        drop(self.own);
        assert!(self.worker.wait().unwrap().success());
    }
}

/// What the worker answers to a first line.
fn answer(line: &str) -> String {
    let mut talk = Talk::start(&place(), line);
    let answer = talk.hear();
    talk.end();
    answer
}

/// A request, as a host says it.
fn request(place: &Place) -> String {
    request_for(place, Command::new(["true"]))
}

fn request_for(place: &Place, command: Command) -> String {
    let said = place.path().join("said");
    let text = format!("IFS= read -r line <&1; printf '%s\\n' \"$line\" > '{}'", said.display());
    let project = open(place, options(place).worker(script(place, "listener", &text)));
    let error = project.exec(command).unwrap_err();
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.ends_with('\n'), "{error}: {said}");
    said
}

/// The same with another value somewhere.
fn with(request: &str, place: &str, value: impl Into<Value>) -> String {
    let mut request: Value = serde_json::from_str(request).unwrap();
    *request.pointer_mut(place).unwrap() = value.into();
    format!("{request}\n")
}

#[test]
fn a_host_of_another_version_is_refused() {
    let request = request(&place());
    assert_eq!(answer(&request), "{\"accepted\":{\"version\":6}}\n");
    let later = request.replacen("\"version\":6", "\"version\":7", 1);
    let answered = answer(&later);
    assert!(answered.starts_with("{\"refused\":{\"version\":6,"), "{answered}");
    assert!(answered.contains("version 7"), "{answered}");
    let unknown = request.replacen("\"version\":6", "\"version\":6,\"never_write\":true", 1);
    for line in [unknown.as_str(), "{\"version\":6}\n", "hello\n", "\n"] {
        let answered = answer(line);
        assert!(answered.starts_with("{\"refused\":{\"version\":6,"), "{line} {answered}");
    }
}

#[test]
fn a_field_that_is_not_known_is_refused_wherever_it_is() {
    let request = request(&place());
    for place in ["/engine/actor", "/exec/actor", "/vault"] {
        let mut said: Value = serde_json::from_str(&request).unwrap();
        said.pointer_mut(place).unwrap()["never_write"] = true.into();
        let answered = answer(&format!("{said}\n"));
        assert!(answered.starts_with("{\"refused\":"), "{place}: {answered}");
        assert!(answered.contains("never_write"), "{place}: {answered}");
    }
}

/// A worker keeps no more of what is said to it than the longest of all requests takes.
#[test]
fn a_line_without_end_is_refused() {
    const LONGEST: usize = 32 << 20;
    let endless = "x".repeat(LONGEST + 1);
    let answered = answer(&endless);
    assert!(answered.starts_with("{\"refused\":"), "{answered}");
    assert!(answered.contains("longer than 33554432 bytes"), "{answered}");
    let place = place();
    let error = project(&place).exec(["true", &endless]).unwrap_err();
    assert_eq!(error.code, ExitCode::Usage, "{error}");
    assert!(error.message.contains("longer than"), "{error}");
}

#[test]
fn what_is_said_has_the_form_that_is_expected() {
    let request = request(&place());
    let said: Value = serde_json::from_str(&request).unwrap();
    let vault = ["id", "name", "directory"].map(|name| said["vault"][name].clone());
    let answered = answer(&with(&request, "/vault", vault.to_vec()));
    assert!(answered.contains("a list in place of an object"), "{answered}");
    let mut without = said.clone();
    without["exec"].as_object_mut().unwrap().remove("wait").unwrap();
    let answered = answer(&format!("{without}\n"));
    assert!(answered.contains("missing field `wait`"), "{answered}");
    let twice =
        request.replacen("\"read_only\":false", "\"read_only\":true,\"read_only\":false", 1);
    assert_ne!(twice, request);
    let answered = answer(&twice);
    assert!(answered.contains("field `read_only` is there twice"), "{answered}");
}

/// Orders, too: one that says more or less than is understood ends the command before it runs.
#[needs(UserNamespace)]
#[test]
fn an_order_that_is_not_understood_lets_nothing_run() {
    let place = place();
    for order in ["{\"go\":{}}", "{\"go\":{\"wait\":null,\"never\":true}}", "{\"go\":[null]}"] {
        let mut talk = Talk::start(&place, &request_for(&place, Command::new(["touch", "new"])));
        talk.hear_until("{\"accepted\"");
        talk.say(&format!("{order}\n"));
        let finished: Value = serde_json::from_str(&talk.hear_until("{\"finished\"")).unwrap();
        let result = &finished["finished"]["envelope"]["result"];
        assert_eq!(result["exit_code"], Value::Null, "{order}: {result:#}");
        talk.end();
    }
}

/// A workspace that is gone when the turn of a command comes is not made anew for it.
#[needs(UserNamespace)]
#[test]
fn a_command_of_a_workspace_that_is_gone_does_not_run() {
    let place = place();
    let request = request_for(&place, Command::new(["touch", "new"]));
    let workspace = project(&place).fork("w").unwrap();
    let existing = serde_json::json!({"existing": {"id": workspace.id().to_string(), "name": "w"}});
    let mut talk = Talk::start(&place, &with(&request, "/exec/place", existing));
    talk.hear_until("{\"accepted\"");
    workspace.delete().unwrap();
    talk.say("{\"go\":{\"wait\":null}}\n");
    let finished: Value = serde_json::from_str(&talk.hear_until("{\"finished\"")).unwrap();
    let result = &finished["finished"]["envelope"]["result"];
    assert_eq!(result["error"]["code"], "conflict", "{result:#}");
    assert_eq!(place.json(&["workspace", "list"])["workspaces"].as_array().unwrap().len(), 0);
    talk.end();
}

/// Who asks a worker to end while it waits for what the command reads gets an answer.
#[test]
fn a_signal_comes_before_what_the_command_reads() {
    let place = place();
    let command = Command::new(["cat"]).input(Input::Bytes(vec![b'x'; 100]));
    let mut talk = Talk::start(&place, &request_for(&place, command));
    talk.hear_until("{\"accepted\"");
    talk.say("only some of it");
    talk.signal();
    let failed: Value = serde_json::from_str(&talk.hear()).unwrap();
    assert_eq!(failed["failed"]["error"]["code"], "interrupted", "{failed}");
    talk.end();
}

/// A host that does not listen has its command recorded all the same.
#[needs(UserNamespace)]
#[test]
fn a_host_that_does_not_listen_keeps_nobody_from_ending() {
    let place = place();
    let mut talk = Talk::start(&place, &request_for(&place, Command::shell("touch new; yes")));
    talk.go();
    talk.hear_until("{\"started\"");
    std::thread::sleep(std::time::Duration::from_millis(300));
    talk.signal();
    wait_until("recording the command", || {
        let execs = place.json(&["execs"])["execs"].clone();
        execs.as_array().unwrap().iter().any(|exec| exec["state"] == "completed")
    });
    talk.end();
}

#[needs(UserNamespace)]
#[test]
fn an_order_without_end_ends_the_command() {
    let place = place();
    let request = request_for(&place, Command::new(["sleep", "1000"]));
    let mut talk = Talk::start(&place, &request);
    talk.go();
    talk.hear_until("{\"started\"");
    talk.say(&"x".repeat(1000));
    let finished: Value = serde_json::from_str(&talk.hear_until("{\"finished\"")).unwrap();
    assert_eq!(finished["finished"]["envelope"]["result"]["interrupted"], true, "{finished}");
    talk.end();
}

/// What the worker says about a request that it accepts and cannot work for.
fn failed(place: &Place, request: &str) -> Value {
    let mut talk = Talk::start(place, request);
    talk.hear_until("{\"accepted\"");
    let failed: Value = serde_json::from_str(&talk.hear()).unwrap();
    assert_eq!(talk.hear(), "", "{failed}");
    talk.end();
    failed["failed"]["error"].clone()
}

#[needs(UserNamespace)]
#[test]
fn another_vault_than_the_host_means_is_refused() {
    let place = place();
    let request = request(&place);
    let said: Value = serde_json::from_str(&request).unwrap();
    let other = said["exec"]["id"].as_str().unwrap();
    let error = failed(&place, &with(&request, "/vault/id", other));
    assert_eq!(error["code"], "conflict", "{error}");
    assert!(error["message"].as_str().unwrap().contains("is not the vault"), "{error}");
    assert_eq!(place.json(&["execs"])["execs"].as_array().unwrap().len(), 0);
}

/// Neither a command that is over nor one that runs shares its id with another.
#[needs(UserNamespace)]
#[test]
fn an_id_is_taken_once() {
    let place = place();
    let request = request_for(&place, Command::new(["touch", "new"]));
    let project = project(&place);
    let workspace = project.fork("w").unwrap();
    let over = workspace.exec(["true"]).unwrap();
    over.wait();
    let runs = workspace.exec(Command::shell("echo ready; sleep 1000")).unwrap();
    wait_for_output(&runs);
    for exec in [&over, &runs] {
        let error = failed(&place, &with(&request, "/exec/id", exec.id().to_string()));
        assert_eq!(error["code"], "conflict", "{error}");
        assert!(error["message"].as_str().unwrap().contains(&exec.id().to_string()), "{error}");
    }
    runs.cancel();
    assert!(runs.wait().result.interrupted);
    assert_eq!(place.json(&["execs"])["execs"].as_array().unwrap().len(), 2);
    project.wait_idle();
}

/// A worker that dies after it recorded everything, and before it could say so.
const MUTE: &str = r#"
import os, socket, subprocess, sys
host = socket.socket(fileno=os.dup(1))
own, other = socket.socketpair()
worker = subprocess.Popen([os.environ["MUTED"], "worker"], stdout=other)
other.close()
said = host.makefile("rb")
own.sendall(said.readline())
for line in own.makefile("rb"):
    if line.startswith(b'{"finished"'):
        break
    host.sendall(line)
    if line.startswith(b'{"accepted"'):
        own.sendall(said.readline())
own.close()
worker.wait()
"#;

#[needs(UserNamespace, "python3")]
#[test]
fn what_was_recorded_is_found_though_the_worker_could_not_say_so() {
    let place = place();
    let python = place.path().join("mute.py");
    std::fs::write(&python, MUTE).unwrap();
    let program = script(&place, "mute", &format!("exec python3 '{}'", python.display()));
    let mut options = options(&place).worker(program);
    options.environment.push(("MUTED".into(), binary().into()));
    let project = open(&place, options);
    let workspace = project.fork("w").unwrap();
    let exec = workspace.exec(Command::shell("echo one > one; echo err >&2; exit 3")).unwrap();
    let ended = exec.wait();
    assert_eq!(ended.result.exit_code, Some(3), "{ended:?}");
    assert!(ended.result.error.is_none() && !ended.result.recoverable, "{ended:?}");
    assert_eq!(ended.result.stderr.to_bytes().as_deref(), Some(&b"err\n"[..]));
    assert_eq!(changed(&workspace), ["/one"]);
    project.wait_idle();
}

/// What stops the worker before the command has an envelope of its own is in the one that the host makes.
#[test]
fn a_worker_that_cannot_open_the_vault_says_so() {
    let place = place();
    let project = project(&place);
    let workspace = project.fork("w").unwrap();
    let settings = place.project().join("offshoot.toml");
    std::fs::write(settings, "nonsense = true\n").unwrap();
    let command = Command::new(["touch", "new"]).input(Input::Bytes(vec![0; 4 << 20]));
    let ended = workspace.exec(command).unwrap().wait();
    let error = serde_json::to_value(ended.result.error.as_ref().unwrap()).unwrap();
    assert_eq!(error["code"], "usage", "{error}");
    assert!(error["message"].as_str().unwrap().contains("nonsense"), "{error}");
    assert!(!ended.is_success() && !ended.result.recoverable, "{ended:?}");
    assert_eq!(changed(&workspace), [""; 0]);
    project.wait_idle();
}

#[test]
fn it_is_no_command_for_people() {
    let place = place();
    let output = place.run(["worker"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("as a library"), "{said}");
    assert!(!place.ok(["--help"]).contains("worker "));
    assert_eq!(place.run(["worker", "--help"]).status.code(), Some(2));
}
