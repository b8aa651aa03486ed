//! Who runs programs, and with which tools.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use offshoot_tests::product::binary;
use tempfile::TempDir;

/// Somebody who owns the files of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: &'static str,
    pub(crate) uid: u32,
}

pub(crate) const ROOT: User = User { name: "root", uid: 0 };
pub(crate) const ORDINARY: User = User { name: "ordinary", uid: 1000 };
pub(crate) const NOBODY: User = User { name: "nobody", uid: 65534 };

impl User {
    /// A command with the rights of this user.
    pub(crate) fn command(self, program: &Path) -> Command {
        self.setpriv(&[], program)
    }

    /// A command with the rights that a sandbox leaves to this user: no capability, and no way to gain one.
    pub(crate) fn confined(self, program: &Path) -> Command {
        let flags = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
        self.setpriv(&flags, program)
    }

    fn setpriv(self, flags: &[&str], program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={}", self.uid)).arg(format!("--regid={}", self.uid));
        command.arg("--clear-groups").args(flags).arg(program);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
        command
    }
}

/// Programs where every user can reach them, also in a sandbox, which has a `/tmp` of its own.
pub(crate) struct Tools {
    pub(crate) offshoot: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) mapper: PathBuf,
    _folder: TempDir,
}

impl Tools {
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix_in("offshoot-test-", reachable_folder()).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let take = |from: &Path, name: &str| {
            let to = folder.path().join(name);
            // They are large: another name will do where both are on one file system.
            if fs::hard_link(from, &to).is_err() {
                fs::copy(from, &to).unwrap();
            }
            to
        };
        let offshoot = take(binary(), "offshoot");
        let program = take(Path::new(env!("CARGO_BIN_EXE_oracle-program")), "oracle-program");
        let mapper = folder.path().join("mapper");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/oracle/interpret/mapper.c");
        let status = Command::new("cc").arg("-o").arg(&mapper).arg(source).status().unwrap();
        assert!(status.success(), "the mapper does not build");
        Self { offshoot, program, mapper, _folder: folder }
    }
}

/// The folder that cargo keeps for tests, if all users can enter it, else one that they surely can.
fn reachable_folder() -> &'static Path {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let open = |path: &Path| fs::metadata(path).is_ok_and(|found| found.mode() & 0o001 != 0);
    // What lies in a folder that a sandbox replaces is not seen there.
    let replaced = ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|path| own.starts_with(path));
    if own.ancestors().all(open) && !replaced { own } else { Path::new("/opt") }
}
