//! Output that nobody reads: the command waits, and can be ended all the same.

use std::io::{BufRead, BufReader, PipeReader, Read};
use std::process::{Child, Output, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary, document_of};
use rustix::process::{Pid, Signal, kill_process};

use crate::background::eventually;
use crate::transcript::demo_vault;

/// Starts an exec whose standard output goes to somebody who does not read it.
fn start(place: &Place, arguments: &[&str]) -> (Child, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command([&["exec", "-w", "fix"], arguments].concat());
    (command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap(), reader)
}

/// Its end, which must come without anybody reading.
fn end(mut child: Child) -> Output {
    eventually("it ends", || child.try_wait().unwrap().is_some());
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[needs(UserNamespace)]
#[test]
fn the_time_of_a_command_is_over_all_the_same() {
    let place = demo_vault();
    let (child, reader) = start(&place, &["--timeout", "300ms", "--", "yes"]);
    let output = end(child);
    assert_eq!(output.status.code(), Some(124), "{output:?}");
    let told = said(&output);
    assert!(told.contains("timed out") && told.contains("nobody read all"), "{told}");
    drop(reader);
    // Nor is an answer waited for where nobody would read it.
    let (child, reader) = start(&place, &["--timeout", "300ms", "--stream", "--", "yes"]);
    assert_eq!(end(child).status.code(), Some(124));
    drop(reader);
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(["exec", "--timeout", "300ms", "--", "yes"]);
    let child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    drop(command);
    assert_eq!(end(child).status.code(), Some(124));
    drop(reader);
}

#[needs(UserNamespace)]
#[test]
fn it_can_be_killed_and_interrupted() {
    let place = demo_vault();
    for signal in [None, Some((Signal::INT, 130)), Some((Signal::TERM, 143))] {
        let (child, reader) = start(&place, &["--shell", "touch one; yes"]);
        let mut exec = String::new();
        eventually("the command waits for its reader", || {
            let running = place.json(&["ps"])["running"][0].clone();
            exec = running["exec"].as_str().unwrap_or_default().to_owned();
            running["pid"] == child.id()
                && place.json(&["logs", &exec])["stdout"].as_str().unwrap().len() > 1 << 16
        });
        match signal {
            Some((signal, code)) => {
                let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
                kill_process(pid, signal).unwrap();
                assert_eq!(end(child).status.code(), Some(code));
            }
            None => {
                place.ok(["kill", &exec]);
                assert!(!end(child).status.success());
            }
        }
        let shown = document_of(&place.run(["show", &exec, "--json"]));
        assert_eq!(shown["result"]["interrupted"], true);
        drop(reader);
    }
    assert_eq!(place.json(&["ps"])["running"].as_array().unwrap().len(), 0);
}

#[needs(UserNamespace)]
#[test]
fn a_reader_who_takes_his_time_gets_all_of_it() {
    let place = demo_vault();
    let (mut child, mut reader) = start(&place, &["--", "seq", "200000"]);
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None, "it waits");
    let running = place.json(&["ps"])["running"].clone();
    assert_eq!(running.as_array().unwrap().len(), 1, "and so does the command");
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert!(read == expected, "{} bytes of {}", read.len(), expected.len());
    assert!(end(child).status.success());
}

/// What a command did is recorded before the last of its output is read.
#[needs(UserNamespace)]
#[test]
fn nobody_else_waits_for_the_reader() {
    let place = demo_vault();
    let text = "touch one; head -c 100000 /dev/zero";
    let (mut child, reader) = start(&place, &["--shell", text]);
    eventually("the command is recorded", || {
        let execs = place.json(&["execs", "-w", "fix"])["execs"].clone();
        execs.as_array().unwrap().iter().any(|exec| exec["command"].to_string().contains("100000"))
    });
    place.ok(["exec", "-w", "fix", "--", "touch", "two"]);
    assert_eq!(child.try_wait().unwrap(), None, "its reader may still come");
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let output = end(child);
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    drop(reader);
}

/// Who reads standard output alone is not kept waiting by what goes to standard error.
#[needs(UserNamespace)]
#[test]
fn one_stream_does_not_wait_for_the_other() {
    let place = demo_vault();
    let text = "yes >&2 & while :; do echo tick; sleep 0.05; done";
    let mut command = place.command(["exec", "-w", "fix", "--shell", text]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..20 {
        assert_eq!(lines.next().unwrap().unwrap(), "tick");
    }
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    eventually("it ends", || child.try_wait().unwrap().is_some());
}

/// A pipe that nobody waits at, as some programs make it for all who share it, gets whole answers.
#[needs(UserNamespace)]
#[test]
fn a_pipe_without_patience_gets_everything() {
    let place = demo_vault();
    let content = "a line\n".repeat(100_000);
    place.ok_with(["fs", "write", "/large", "-q", "-w", "fix"], content.as_bytes());
    for arguments in [
        &["fs", "cat", "/large", "-w", "fix"][..],
        &["exec", "-w", "fix", "-q", "--", "cat", "large"],
        &["fs", "cat", "/large", "-w", "fix", "--json"],
    ] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let mut command = place.command(arguments);
        let mut child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        std::thread::sleep(std::time::Duration::from_millis(300));
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}");
        assert!(read.len() >= content.len(), "{arguments:?}: {} bytes", read.len());
    }
}

/// A file that may not get any larger is an error of whoever prints, and the command is recorded.
#[needs(UserNamespace)]
#[test]
fn a_file_that_is_too_large_loses_nothing() {
    let place = demo_vault();
    let out = place.path().join("out");
    let text = r#"ulimit -f 20000; exec "$0" exec -w fix --shell 'touch one; head -c 30000000 /dev/zero' > "$1""#;
    let output = std::process::Command::new("sh")
        .args(["-c", text])
        .args([binary().as_os_str(), out.as_os_str()])
        .env_clear()
        .envs(place.environment())
        .current_dir(place.project())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    assert!(place.ok(["diff", "-w", "fix"]).contains("one"));
}
