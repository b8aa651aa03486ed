//! What this user can test on this machine.
//!
//! A test says what it needs with `#[needs(..)]` of the crate `offshoot-needs`, which looks for all [`FEATURES`] when it is
//! built: the test runner can only ignore a test, and tell why, if it is compiled so.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, thread};

use rustix::fs::XattrFlags;

use crate::{awkward, image, trace};

/// Something that a test needs and a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// To be the root user.
    Root,
    /// To mount an ext4 image through a loop device.
    LoopMount,
    /// To trace system calls, as [`crate::trace::run`] does.
    Ptrace,
    /// To mount an overlay with the `userxattr` option in a mount namespace of one's own.
    Overlay,
    /// To mount an overlay in which a layer has the bytes of its files in another one that only holds bytes.
    DataLayers,
    /// To set `user.` attributes in the directory for temporary files.
    UserXattr,
    /// To make a user namespace.
    UserNamespace,
    /// To make system calls by io_uring.
    IoUring,
    /// To make system calls as programs of 32 bits do.
    Calls32,
    /// A program in [`search_path`].
    Program(&'static str),
}

/// Everything that a test may ask for. What every Linux has, such as a shell, `cp` or `setpriv`, is not in it.
pub const FEATURES: &[Feature] = &[
    Feature::Root,
    Feature::LoopMount,
    Feature::Ptrace,
    Feature::Overlay,
    Feature::DataLayers,
    Feature::UserXattr,
    Feature::UserNamespace,
    Feature::IoUring,
    Feature::Calls32,
    Feature::Program("bash"),
    Feature::Program("cc"),
    Feature::Program("chattr"),
    Feature::Program("dash"),
    Feature::Program("gcc"),
    Feature::Program("git"),
    Feature::Program("less"),
    Feature::Program("make"),
    Feature::Program("node"),
    Feature::Program("npm"),
    Feature::Program("patch"),
    Feature::Program("perl"),
    Feature::Program("python3"),
    Feature::Program("rg"),
    Feature::Program("rsync"),
    Feature::Program("sqlite3"),
    Feature::Program("tmux"),
    Feature::Program("vim"),
];

/// Nothing if this machine has `feature`, else why it has not.
pub fn probe(feature: Feature) -> Result<(), String> {
    static LOOP_MOUNT: OnceLock<Result<(), String>> = OnceLock::new();
    static PTRACE: OnceLock<Result<(), String>> = OnceLock::new();
    static OVERLAY: OnceLock<Result<(), String>> = OnceLock::new();
    static DATA_LAYERS: OnceLock<Result<(), String>> = OnceLock::new();
    let root = rustix::process::geteuid().is_root();
    match feature {
        Feature::Root if root => Ok(()),
        Feature::Root => Err("needs root".to_owned()),
        Feature::LoopMount => LOOP_MOUNT.get_or_init(loop_mount).clone(),
        Feature::Ptrace => PTRACE.get_or_init(ptrace).clone(),
        Feature::Overlay => OVERLAY.get_or_init(overlay).clone(),
        Feature::DataLayers => DATA_LAYERS.get_or_init(data_layers).clone(),
        Feature::UserXattr => user_xattr(),
        Feature::UserNamespace => succeeds("user namespace", &["unshare", "-Ur", "true"]),
        Feature::IoUring => setting("no io_uring", "/proc/sys/kernel/io_uring_disabled", "0"),
        Feature::Calls32 => setting("no calls of 32 bits", "/proc/sys/abi/vsyscall32", "1"),
        Feature::Program(name) => program(name),
    }
}

fn loop_mount() -> Result<(), String> {
    probe(Feature::Root)?;
    let attempt = || image::LoopImage::create(4 << 20)?.mount().map(drop);
    // In a thread of its own, because a mount changes the namespace of the thread that makes it.
    match thread::scope(|scope| scope.spawn(attempt).join()) {
        Ok(result) => result.map_err(|error| format!("no loop mounts: {error}")),
        Err(_) => Err("no loop mounts: the probe panicked".to_owned()),
    }
}

fn ptrace() -> Result<(), String> {
    let command = ["true".into()];
    match trace::run(&command, &[], None, trace::Fault::None) {
        Ok(trace) if trace.status.success() => Ok(()),
        Ok(trace) => Err(format!("no ptrace: `true` ended with {}", trace.status)),
        Err(error) => Err(format!("no ptrace: {error}")),
    }
}

fn overlay() -> Result<(), String> {
    let attempt = || -> io::Result<Result<(), String>> {
        let dir = tempfile::tempdir()?;
        for name in ["lower", "upper", "work", "merged"] {
            fs::create_dir(dir.path().join(name))?;
        }
        let script = "cd \"$1\" && exec mount -t overlay overlay merged \
                      -o userxattr,lowerdir=lower,upperdir=upper,workdir=work";
        let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
        let path = dir.path().to_string_lossy();
        let result = succeeds("overlay", &["unshare", flags, "sh", "-c", script, "sh", &path]);
        // The kernel leaves a directory of mode 0 in `work`, which keeps an ordinary user out.
        awkward::clear(dir.path())?;
        Ok(result)
    };
    attempt().unwrap_or_else(|error| Err(format!("no overlay: {error}")))
}

fn data_layers() -> Result<(), String> {
    let attempt = || -> io::Result<Result<(), String>> {
        let dir = tempfile::tempdir()?;
        for name in ["lower", "data", "merged"] {
            fs::create_dir(dir.path().join(name))?;
        }
        fs::write(dir.path().join("data/bytes"), "bytes")?;
        let stub = fs::File::create(dir.path().join("lower/stub"))?;
        stub.set_len(5)?;
        rustix::fs::fsetxattr(&stub, "user.overlay.metacopy", b"", XattrFlags::empty())?;
        rustix::fs::fsetxattr(&stub, "user.overlay.redirect", b"/bytes", XattrFlags::empty())?;
        let script = "cd \"$1\" && mount -t overlay overlay merged \
                      -o ro,userxattr,lowerdir=lower::data && grep -q '^bytes' merged/stub";
        let path = dir.path().to_string_lossy();
        Ok(succeeds("layers of bytes", &["unshare", "-Urm", "sh", "-c", script, "sh", &path]))
    };
    attempt().unwrap_or_else(|error| Err(format!("no layers of bytes: {error}")))
}

/// Whether the kernel has a setting, and of this value.
fn setting(lack: &str, path: &str, value: &str) -> Result<(), String> {
    match fs::read_to_string(path) {
        Ok(found) if found.trim() == value => Ok(()),
        Ok(found) => Err(format!("{lack}: {path} is {}", found.trim())),
        Err(error) => Err(format!("{lack}: {path}: {error}")),
    }
}

fn user_xattr() -> Result<(), String> {
    let attempt = || -> io::Result<()> {
        let file = tempfile::tempfile()?;
        Ok(rustix::fs::fsetxattr(&file, "user.probe", b"", XattrFlags::empty())?)
    };
    attempt().map_err(|error| format!("no user xattrs in {}: {error}", env::temp_dir().display()))
}

/// The search path without what lies in the home of whoever runs the tests: wrappers there want
/// that home, and other users cannot reach it.
pub fn search_path() -> OsString {
    let home = env::var_os("HOME").filter(|home| home.len() > 1);
    let path = env::var_os("PATH").unwrap_or_default();
    let outside = |dir: &PathBuf| home.as_ref().is_none_or(|home| !dir.starts_with(home));
    let dirs: Vec<PathBuf> = env::split_paths(&path).filter(outside).collect();
    env::join_paths(dirs).expect("they come from a search path")
}

fn program(name: &str) -> Result<(), String> {
    let found = env::split_paths(&search_path()).any(|dir| dir.join(name).is_file());
    if found { Ok(()) } else { Err(format!("needs the program {name}")) }
}

fn succeeds(what: &str, command: &[&str]) -> Result<(), String> {
    let output = Command::new(command[0]).args(&command[1..]).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("no {what}: {}", said.lines().next().unwrap_or("it failed")))
        }
        Err(error) => Err(format!("no {what}: {error}")),
    }
}
