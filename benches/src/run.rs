//! Running programs, timed or not.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Result;

/// Runs a program to its end and says how long that took; a program that fails is an error.
pub(crate) fn timed(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let output = command.output();
    let took = start.elapsed();
    let output = output.map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}: {}", output.status, said.trim()).into())
}

/// Runs programs one after the other; the time is that of all.
pub(crate) fn all_timed(commands: &mut [Command]) -> Result<Duration> {
    commands.iter_mut().map(timed).sum()
}

/// A copy of a tree with everything that belongs to it.
pub(crate) fn copy(from: &Path, to: &Path) -> Command {
    let mut command = Command::new("cp");
    command.arg("-a").arg(from).arg(to);
    command
}

/// Waits until everything on the file system of `dir` is on disk.
pub(crate) fn sync(dir: &Path) -> Command {
    let mut command = Command::new("sync");
    command.arg("-f").arg(dir);
    command
}

/// Git over files in one place with its own data in another, untouched by anybody's settings.
pub(crate) fn git(data: &Path, files: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("GIT_DIR", data).env("GIT_WORK_TREE", files).current_dir(files);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "bench").env(format!("GIT_{role}_EMAIL"), "bench");
    }
    command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]).args(arguments);
    command
}

/// The disk space that something takes with everything beneath it.
pub(crate) fn disk_use(path: &Path) -> Result<u64> {
    let of = |metadata: &Metadata| metadata.blocks() * 512;
    let mut total = of(&path.symlink_metadata()?);
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            total += of(&metadata);
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_an_error_that_says_why() {
        let error = timed(&mut copy(Path::new("/nowhere/a"), Path::new("/nowhere/b")));
        assert!(error.is_err_and(|error| error.to_string().contains("/nowhere/a")));
    }

    #[test]
    fn disk_use_counts_everything_beneath() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let before = disk_use(folder.path()).expect("it can be read");
        std::fs::create_dir(folder.path().join("a")).expect("a folder");
        std::fs::write(folder.path().join("a/b"), vec![1; 100_000]).expect("a file");
        timed(&mut sync(folder.path())).expect("it can be synced");
        assert!(disk_use(folder.path()).expect("it can be read") >= before + 100_000);
    }
}
