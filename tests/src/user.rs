//! The product in the hands of an ordinary user, whoever runs the tests.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::product::{Place, binary};

/// The user and group that tests become where root runs them. Any other user is an ordinary one already.
pub const ID: u32 = 1000;

/// Somebody who is not root, with a binary that everybody can reach.
#[derive(Debug)]
pub struct User {
    /// Where the binary is for others than root, who may not reach it where it was built.
    tools: Option<TempDir>,
}

impl Default for User {
    fn default() -> Self {
        Self::new()
    }
}

impl User {
    /// The ordinary user.
    pub fn new() -> Self {
        if !is_root() {
            return Self { tools: None };
        }
        let tools = TempDir::with_prefix("offshoot-test-").expect("a temporary folder");
        let everybody = fs::Permissions::from_mode(0o755);
        fs::set_permissions(tools.path(), everybody).expect("a folder of one's own");
        let copy = tools.path().join("offshoot");
        // The binary is large: another name will do where both are on one file system.
        if fs::hard_link(binary(), &copy).is_err() {
            fs::copy(binary(), &copy).expect("a copy of the binary");
        }
        Self { tools: Some(tools) }
    }

    /// The binary where everybody can reach it.
    pub fn binary(&self) -> PathBuf {
        match &self.tools {
            Some(tools) => tools.path().join("offshoot"),
            None => binary().to_owned(),
        }
    }

    /// What stands before a program and its arguments to have it run by this user.
    pub fn becoming(&self) -> Vec<String> {
        match is_root() {
            true => {
                ["setpriv", &format!("--reuid={ID}"), &format!("--regid={ID}"), "--clear-groups"]
                    .map(str::to_owned)
                    .to_vec()
            }
            false => Vec::new(),
        }
    }

    /// Any program in a place.
    pub fn program(&self, place: &Place, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("env");
        command.args(self.becoming()).arg(program);
        command.env_clear().envs(place.environment()).current_dir(place.project());
        command.stdin(Stdio::null());
        command
    }

    /// A command of the binary in a place.
    pub fn command(&self, place: &Place, arguments: &[&str]) -> Command {
        let mut command = self.program(place, self.binary());
        command.args(arguments);
        command
    }

    /// Runs the binary in a place.
    pub fn run(&self, place: &Place, arguments: &[&str]) -> Output {
        self.command(place, arguments).output().expect("the binary runs")
    }

    /// Runs the binary in a place; it must succeed.
    pub fn ok(&self, place: &Place, arguments: &[&str]) -> String {
        let output = self.run(place, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("what it prints is UTF-8")
    }
}

/// Whether root runs the tests.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes everything below a path, and the path, the ordinary user's own.
pub fn give_away(path: &Path) {
    if !is_root() {
        return;
    }
    lchown(path, Some(ID), Some(ID)).expect("root can give files away");
    if fs::symlink_metadata(path).expect("it is there").is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            give_away(&entry.expect("an entry").path());
        }
    }
}
