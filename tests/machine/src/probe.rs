//! Looking for each feature by using it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use nix::sys::ptrace;
use nix::unistd::Pid;
use rustix::fs::XattrFlags;

use crate::Feature;

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
    let script = "cd \"$1\" && truncate -s 4M image && mkfs.ext4 -q -F image && mkdir point \
                  && exec mount -o loop image point";
    in_folder("loop mounts", &["unshare", "-m", "sh", "-c", script, "sh"], &[])
}

fn ptrace() -> Result<(), String> {
    let attempt = || -> io::Result<()> {
        // It waits for its input.
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        let pid = Pid::from_raw(child.id().cast_signed());
        let seized = ptrace::seize(pid, ptrace::Options::PTRACE_O_EXITKILL);
        child.kill()?;
        child.wait()?;
        Ok(seized?)
    };
    attempt().map_err(|error| format!("no ptrace: {error}"))
}

fn overlay() -> Result<(), String> {
    let script = "cd \"$1\" && exec mount -t overlay overlay merged \
                  -o userxattr,lowerdir=lower,upperdir=upper,workdir=work";
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let command = ["unshare", flags, "sh", "-c", script, "sh"];
    in_folder("overlay", &command, &["lower", "upper", "work", "merged"])
}

/// Whether a command succeeds that gets the path of a temporary folder as its last argument.
fn in_folder(what: &str, command: &[&str], folders: &[&str]) -> Result<(), String> {
    let attempt = || -> io::Result<Result<(), String>> {
        let dir = tempfile::tempdir()?;
        for name in folders {
            fs::create_dir(dir.path().join(name))?;
        }
        let path = dir.path().to_string_lossy();
        let result = succeeds(what, &[command, &[&*path]].concat());
        // The kernel leaves a directory of mode 0 where an overlay works, which keeps an ordinary user out.
        let opened = succeeds(what, &["chmod", "-R", "u+rwx", &path]);
        Ok(result.and(opened))
    };
    attempt().unwrap_or_else(|error| Err(format!("no {what}: {error}")))
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
