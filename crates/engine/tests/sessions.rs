//! What an agent learns about its calls when it comes back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use offshoot_engine::exec::Command;
use offshoot_engine::session::{CallState, Session};
use offshoot_engine::{Offshoot, Options, Project};
use offshoot_needs::needs;
use offshoot_protocol::{ExecState, ExitCode};

/// Says to this very program, started anew, where it is to run a command that is killed.
const PLACE: &str = "OFFSHOOT_TEST_CALLS_IN";

fn project(scratch: &Path) -> Project {
    let folder = scratch.join("project");
    std::fs::create_dir_all(&folder).unwrap();
    let environment = ["PATH"].map(|name| (name.into(), std::env::var_os(name).unwrap()));
    let options = Options::new(environment.to_vec()).registry(scratch.join("vaults"));
    Offshoot::open(options).unwrap().project(&folder).unwrap()
}

fn session(project: &Project) -> Session {
    project.fork("fix").unwrap().new_session(Some("talk"), ("", "")).unwrap()
}

#[needs(UserNamespace)]
#[test]
fn a_command_runs_once_under_a_key() {
    let scratch = tempfile::tempdir().unwrap();
    let session = session(&project(scratch.path()));
    let (key, project) = (session.call_key("c1"), session.project());
    assert_eq!(project.call(&key).unwrap(), None);
    let run = || {
        let append = Command::shell("echo once >> made; exit 3").call(key.clone());
        session.workspace().exec(append).unwrap().wait()
    };
    let first = run();
    assert_eq!(first.result.exit_code, Some(3));
    let call = project.call(&key).unwrap().unwrap();
    assert_eq!((call.state, call.id.to_string()), (CallState::Ended, first.result.exec.clone()));
    let envelope = project.call_envelope(&key).unwrap().unwrap();
    assert_eq!(envelope.result.exit_code, Some(3));
    let second = run();
    assert_eq!(second.result.state, ExecState::Failed);
    let error = second.result.error.as_ref().unwrap();
    assert_eq!(error.code(), ExitCode::Conflict);
    assert!(error.message.contains(&first.result.exec), "{error:?}");
    assert_eq!(session.workspace().read("/made").unwrap(), b"once\n");
}

#[test]
fn files_are_changed_once_under_a_key() {
    let scratch = tempfile::tempdir().unwrap();
    let session = session(&project(scratch.path()));
    let (workspace, key) = (session.workspace(), session.call_key("c2"));
    workspace.under_call(key.clone()).write("/a", b"one\n").unwrap();
    let call = session.project().call(&key).unwrap().unwrap();
    assert_eq!(call.state, CallState::Changed);
    let again = workspace.under_call(key.clone()).write("/a", b"two\n").unwrap_err();
    assert_eq!(again.code, ExitCode::Conflict);
    assert_eq!(workspace.read("/a").unwrap(), b"one\n");
    // What was as wanted already is done too, and not once more.
    let same = session.call_key("c3");
    workspace.under_call(same.clone()).write("/a", b"one\n").unwrap();
    assert!(workspace.under_call(same).write("/a", b"three\n").is_err());
    // That it was taken back does not mean that it never happened.
    workspace.undo().unwrap();
    assert!(session.project().call(&key).unwrap().is_some());
}

/// Runs in a process of its own, which is killed.
#[needs(UserNamespace)]
#[test]
fn a_call_of_a_process_that_is_killed() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let session = project(&place).session("talk").unwrap();
    let sleep = Command::new(["sleep", "600"]).call(session.call_key("c1"));
    session.workspace().exec(sleep).unwrap().wait();
}

#[needs(UserNamespace)]
#[test]
fn what_was_started_is_told_from_what_never_was_after_a_kill() {
    let scratch = tempfile::tempdir().unwrap();
    let project = project(scratch.path());
    let session = session(&project);
    let key = session.call_key("c1");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_call_of_a_process_that_is_killed"])
        .env(PLACE, scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while project.call(&key).unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "it never started");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(project.call(&key).unwrap().unwrap().state, CallState::Running);
    child.kill().unwrap();
    child.wait().unwrap();
    let call = project.call(&key).unwrap().unwrap();
    assert_eq!((call.state, call.exec), (CallState::Interrupted, None));
    assert_eq!(project.call(&session.call_key("c2")).unwrap(), None);
}
