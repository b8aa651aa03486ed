//! Parts of tests that run as another user, in another namespace or many times at once: this very program, started again. It needs
//! a test `children::child` that looks at [`ROLE`] and [`PLACE`].

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::fs::{Gid, Uid};

use crate::scratch::is_root;
use crate::user::ID;

/// Which part of a test is to be done.
pub const ROLE: &str = "OFFSHOOT_TEST_ROLE";
/// Where.
pub const PLACE: &str = "OFFSHOOT_TEST_PLACE";

/// The part that this process was started for, and where; nothing where it runs all tests.
pub fn role() -> Option<(String, PathBuf)> {
    Some((env::var(ROLE).ok()?, env::var_os(PLACE)?.into()))
}

/// This program, wherever an ordinary user may not look for it.
pub fn program(place: &Path) -> PathBuf {
    let program = place.join("program");
    if !program.exists() {
        // By another process: what a process of ours starts meanwhile would hold the file open, and it could not be run.
        let mut copy = Command::new("cp");
        let copied = copy.arg(env::current_exe().expect("a test knows its own path")).arg(&program);
        assert!(copied.status().expect("cp can be run").success());
        let everybody = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&program, everybody).expect("a file of one's own");
    }
    program
}

/// The words that start a copy of this program, for [`ROLE`] and [`PLACE`] in its environment.
pub fn words(place: &Path) -> Vec<OsString> {
    let arguments = ["--exact", "--nocapture", "children::child"].map(OsString::from);
    [program(place).into()].into_iter().chain(arguments).collect()
}

/// A command that starts this program in a role, behind other programs.
pub fn command(role: &str, place: &Path, behind: &[&str]) -> Command {
    let behind = behind.iter().map(OsString::from);
    let words: Vec<OsString> = behind.chain(words(place)).collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(ROLE, role).env(PLACE, place).current_dir(place);
    command
}

/// Runs this program in a role as a user who is not root; `place` is theirs.
pub fn run_as_ordinary_user(role: &str, place: &Path) {
    let (user, group) = (format!("--reuid={ID}"), format!("--regid={ID}"));
    let behind: &[&str] = if is_root() {
        let (uid, gid) = (Uid::from_raw(ID), Gid::from_raw(ID));
        rustix::fs::chown(place, Some(uid), Some(gid)).expect("root may give it away");
        &["setpriv", &user, &group, "--clear-groups"]
    } else {
        &[]
    };
    assert_passed(&command(role, place, behind).output().expect("it can be run"));
}

/// Fails where a part of a test failed, with what it printed.
#[track_caller]
pub fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{}\n{text}\n{errors}", output.status);
}
