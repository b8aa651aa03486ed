//! Parts of tests that run as another user, in another namespace or many times at once: this very program, started again.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::is_root;
use crate::{apply, closed, compaction, crowd, depth, placed, read_only, round_trip, stacks};

pub(crate) const ROLE: &str = "OFFSHOOT_TEST_ROLE";
pub(crate) const PLACE: &str = "OFFSHOOT_TEST_PLACE";

/// Does nothing unless another test started this program for it.
#[test]
fn child() {
    let (Ok(role), Some(place)) = (env::var(ROLE), env::var_os(PLACE)) else { return };
    let place = PathBuf::from(place);
    match role.as_str() {
        "ordinary user" => round_trip::as_ordinary_user(&place),
        "read only" => read_only::as_ordinary_user(&place),
        "usual limits" => depth::in_usual_limits(&place),
        "stacks" => stacks::as_ordinary_user(&place),
        "look at mounts" => stacks::look_at_mounts(&place),
        "merged stacks" => compaction::as_ordinary_user(&place),
        "closed files" => closed::as_ordinary_user(&place),
        "write closed files" => closed::write(&place),
        "remove closed directories" => closed::removed_as_ordinary_user(&place),
        "apply" => apply::as_ordinary_user(&place),
        "apply once" => apply::apply_once(&place),
        "apply and take back" => apply::apply_and_take_back(&place),
        "apply on two" => apply::on_another_file_system(&place),
        "placed links" => placed::as_ordinary_user(&place),
        "write" => crowd::write(&place),
        other => panic!("there is no role {other}"),
    }
}

/// This program, wherever an ordinary user may not look for it.
pub(crate) fn program(place: &Path) -> PathBuf {
    let program = place.join("program");
    if !program.exists() {
        // By another process: what a process of ours starts meanwhile would hold the file open, and it could not be run.
        let mut copy = Command::new("cp");
        let copied = copy.arg(env::current_exe().unwrap()).arg(&program).status();
        assert!(copied.unwrap().success());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    program
}

/// A command that starts this program in a role, behind other programs.
pub(crate) fn command(role: &str, place: &Path, behind: &[&str]) -> Command {
    let mut words: Vec<OsString> = behind.iter().map(OsString::from).collect();
    words.push(program(place).into());
    words.extend(["--exact", "--nocapture", "children::child"].map(OsString::from));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(ROLE, role).env(PLACE, place).current_dir(place);
    command
}

/// Runs this program in a role as a user who is not root; `place` is theirs.
pub(crate) fn run_as_ordinary_user(role: &str, place: &Path) {
    let behind: &[&str] = if is_root() {
        rustix::fs::chown(place, Some(uid(1000)), Some(gid(1000))).unwrap();
        &["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]
    } else {
        &[]
    };
    assert_passed(&command(role, place, behind).output().unwrap());
}

#[track_caller]
pub(crate) fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{}\n{text}\n{errors}", output.status);
}

fn uid(number: u32) -> rustix::fs::Uid {
    rustix::fs::Uid::from_raw(number)
}

fn gid(number: u32) -> rustix::fs::Gid {
    rustix::fs::Gid::from_raw(number)
}
