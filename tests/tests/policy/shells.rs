//! Real shells with programs that note how they were called.

use std::fs;
use std::io::{self, PipeReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::{NamedTempFile, TempDir};

/// The shells that `/bin/sh` may be, with the option that makes bash behave as `sh`.
pub(crate) const SHELLS: [&[&str]; 3] = [&["dash"], &["bash"], &["bash", "--posix"]];

/// How long a text may take: random ones may loop.
const PATIENCE: Duration = Duration::from_secs(3);

/// Programs that succeed, and such that fail. They print words, the name of one of them among these.
const PROGRAMS: [&str; 10] = ["c0", "c1", "c2", "c3", "c4", "c5", "x0", "x1", "x2", "x3"];

const PROGRAM: &str = r#"#!/bin/sh
printf '%s\0' "${0##*/}" "$#" "$@" >> "$PROGRAM_LOG"
case ${0##*/} in
c3) echo c4 out ;;
c*) echo 1 ;;
x*) exit 1 ;;
esac
"#;

/// What a text did.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The programs that ran, each with its arguments.
    pub(crate) programs: Vec<Vec<Vec<u8>>>,
    /// The files that there are now.
    pub(crate) files: Vec<String>,
}

/// A folder for one run.
pub(crate) struct Scratch {
    dir: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("cwd")).unwrap();
        Self { dir }
    }

    /// Runs a text and says what it did.
    pub(crate) fn run(&self, shell: &[&str], text: &str) -> Seen {
        let log = self.dir.path().join("log");
        let cwd = self.dir.path().join("cwd");
        let mut command = Command::new(Path::new("/bin").join(shell[0]));
        command.args(&shell[1..]).arg("-c").arg(text).env_clear();
        command
            .env("PATH", programs())
            .env("PROGRAM_LOG", &log)
            .env("HOME", &cwd)
            .current_dir(&cwd);
        let (output, all_of_them) = io::pipe().unwrap();
        command.stdin(Stdio::null()).process_group(0);
        command.stdout(all_of_them.try_clone().unwrap()).stderr(all_of_them);
        let mut child = command.spawn().unwrap();
        drop(command);
        let group = Pid::from_raw(child.id().cast_signed());
        if !ends(output) {
            killpg(group, Signal::SIGKILL).unwrap();
        }
        child.wait().unwrap();
        Seen { programs: read_log(&log), files: names(&cwd) }
    }
}

/// Whether all processes that write here end in time, those in the background too: the others would write to folders that are
/// gone.
fn ends(mut output: PipeReader) -> bool {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let read = io::copy(&mut output, &mut io::sink());
        // Nobody may be waiting any more.
        sender.send(read.is_ok()).ok();
    });
    receiver.recv_timeout(PATIENCE).unwrap_or(false)
}

/// The folder with the programs, made once and kept beside what cargo builds.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let make = || -> io::Result<PathBuf> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
        fs::create_dir_all(&folder)?;
        for name in PROGRAMS {
            // Another run of the tests may just execute it.
            let mut new = NamedTempFile::new_in(&folder)?;
            new.write_all(PROGRAM.as_bytes())?;
            new.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
            new.persist(folder.join(name))?;
        }
        Ok(folder)
    };
    FOLDER.get_or_init(|| make().unwrap())
}

fn read_log(log: &Path) -> Vec<Vec<Vec<u8>>> {
    let bytes = fs::read(log).unwrap_or_default();
    let mut fields = bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let mut programs = Vec::new();
    while let Some(name) = fields.next().filter(|name| !name.is_empty()) {
        let count: usize = String::from_utf8(fields.next().unwrap()).unwrap().parse().unwrap();
        let mut program = vec![name];
        program.extend(fields.by_ref().take(count));
        programs.push(program);
    }
    programs
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}
