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
use offshoot_protocol::ExitCode;
use offshoot_tests::product::{Place, binary};

use crate::support::{changed, open, options, place, wait_until, zombies};

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
                "echo '{\"refused\":{\"version\":99,\"reason\":\"\"}}'; sleep 1000",
            ),
            ExitCode::Usage,
            "speaks version 99",
        ),
        (
            script(
                &place,
                "unwilling",
                "echo '{\"refused\":{\"version\":1,\"reason\":\"too odd\"}}'",
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
    for (name, said) in [("garbage", "garbage"), ("twice", "{\"accepted\":{\"version\":1}}")] {
        let text =
            format!("echo '{{\"accepted\":{{\"version\":1}}}}'; echo '{said}'; exec sleep 1000");
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

/// What the worker answers to a first line.
fn answer(line: &str) -> String {
    let (own, other) = UnixStream::pair().unwrap();
    let mut worker = std::process::Command::new(binary())
        .arg("worker")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(OwnedFd::from(other))
        .spawn()
        .unwrap();
    (&own).write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(own).read_line(&mut answer).unwrap();
    assert!(worker.wait().unwrap().success());
    answer
}

#[test]
fn a_host_of_another_version_is_refused() {
    let refusal = "{\"refused\":{\"version\":1,";
    for line in ["{\"version\":2,\"exec\":{\"never\":1}}\n", "{\"version\":1}\n", "hello\n"] {
        let answer = answer(line);
        assert!(answer.starts_with(refusal), "{line} {answer}");
    }
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
