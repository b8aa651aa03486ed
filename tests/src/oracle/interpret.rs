//! Runs a program in the current directory and says how each step ended.
//!
//! What it says must be the same wherever the program runs: error numbers and hashes, no inode numbers and no times.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::step::{Step, escape};
use super::tree::os;

mod calls;
mod crowds;
mod shells;

/// How a step ended that did not just succeed.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was done, and this was seen.
    Said(String),
    /// The system refused it.
    Refused(Errno),
    /// It would rename a directory that is older than the program and cannot be; see [`Run::may_move`].
    OldDirectory,
    /// It depends on inode numbers after something was linked; see [`Run::may_run_tools`].
    Linked,
    /// There is no such step.
    Nonsense,
}

/// What every step can use.
pub(crate) struct Run {
    /// Directories that were there before, where there is no broker.
    old: Option<BTreeSet<PathBuf>>,
    /// Whether something was linked.
    linked: bool,
    /// The program that writes through a mapping, which only C can do without further ado.
    mapper: Option<PathBuf>,
}

/// Runs the steps; what it says goes to `out`.
pub fn run(steps: &[Step], mapper: Option<PathBuf>, out: &mut dyn Write) -> io::Result<()> {
    say_who(out)?;
    let mut run = Run { old: None, linked: false, mapper };
    for (number, step) in steps.iter().enumerate() {
        if step.verb() == b"old" {
            run.old = Some(step.0[1..].iter().map(|path| PathBuf::from(os(path))).collect());
            continue;
        }
        let verb = escape(step.verb());
        match run.step(step) {
            Ok(()) => writeln!(out, "{number} {verb}: done")?,
            Err(Outcome::Said(text)) => writeln!(out, "{number} {verb}: {text}")?,
            Err(Outcome::Refused(errno)) => {
                writeln!(out, "{number} {verb}: error {}", errno.raw_os_error())?;
            }
            Err(Outcome::OldDirectory) => writeln!(out, "{number} {verb}: an old directory")?,
            Err(Outcome::Linked) => writeln!(out, "{number} {verb}: after a link")?,
            Err(Outcome::Nonsense) => {
                return Err(io::Error::other(format!("nonsense in step {number}: {step}")));
            }
        }
    }
    out.flush()
}

/// Whose rights the program has, its mask and its input, for all of them decide what it may do.
fn say_who(out: &mut dyn Write) -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input)?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kept = ["Umask", "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    for line in status.lines() {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        if kept.contains(&key) || key == "NoNewPrivs" {
            writeln!(out, "{key}: {}", value.trim())?;
        }
    }
    writeln!(out, "input: {} bytes", input.len())
}

impl Run {
    fn step(&mut self, step: &Step) -> Result<(), Outcome> {
        let words: Vec<&[u8]> = step.0.iter().map(Vec::as_slice).collect();
        let (verb, words) = words.split_first().ok_or(Outcome::Nonsense)?;
        match *verb {
            b"children" | b"threads" => crowds::step(verb, words),
            b"sh" | b"links" | b"mv" | b"mmap" => shells::step(self, verb, words),
            _ => calls::step(self, verb, words),
        }
    }

    /// Without a broker, an overlay cannot rename a directory of a lower layer (it answers EXDEV, as between two file
    /// systems). A program that is told which directories are old, because there is no broker, renames none of them.
    pub(crate) fn may_move(&self, path: &[u8]) -> Result<(), Outcome> {
        let path = Path::new(os(path));
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        match &self.old {
            Some(old) if is_directory && canonical(path).is_none_or(|path| old.contains(&path)) => {
                Err(Outcome::OldDirectory)
            }
            _ => Ok(()),
        }
    }

    /// Without a broker too: in a user namespace, a file of a lower layer keeps its inode number when it is linked, but the new name
    /// has another, until the command has ended. Tools that copy or compare by inode numbers do otherwise then, so none is
    /// run once something was linked. What becomes of the link itself is the same everywhere.
    pub(crate) fn may_run_tools(&self) -> Result<(), Outcome> {
        if self.old.is_some() && self.linked { Err(Outcome::Linked) } else { Ok(()) }
    }

    /// For the same reason a rename of one such name to the other, which should do nothing, is refused as stale.
    pub(crate) fn may_replace(&self, path: &[u8]) -> Result<(), Outcome> {
        let is_there = Path::new(os(path)).symlink_metadata().is_ok();
        if self.old.is_some() && self.linked && is_there { Err(Outcome::Linked) } else { Ok(()) }
    }

    /// Notes that something was linked.
    pub(crate) fn linked(&mut self) {
        self.linked = true;
    }

    /// Notes that a directory is the program's own.
    pub(crate) fn made(&mut self, path: &[u8]) {
        if let (Some(old), Some(path)) = (&mut self.old, canonical(Path::new(os(path)))) {
            old.remove(&path);
        }
    }
}

/// The path from the current directory with no symlink on the way; nothing where it cannot be told.
fn canonical(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
    let top = Path::new(".").canonicalize().ok()?;
    Some(parent.strip_prefix(top).ok()?.join(path.file_name()?))
}

/// A number in a word.
pub(crate) fn number<T: std::str::FromStr>(word: &[u8]) -> Result<T, Outcome> {
    let text = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
    text.ok_or(Outcome::Nonsense)
}

/// A mode in a word.
pub(crate) fn octal(word: &[u8]) -> Result<rustix::fs::Mode, Outcome> {
    let text = std::str::from_utf8(word).ok();
    let mode = text.and_then(|text| u32::from_str_radix(text, 8).ok()).ok_or(Outcome::Nonsense)?;
    Ok(rustix::fs::Mode::from_raw_mode(mode))
}

impl From<Errno> for Outcome {
    fn from(errno: Errno) -> Self {
        Self::Refused(errno)
    }
}

impl From<io::Error> for Outcome {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => Self::Refused(errno),
            None => Self::Said(error.to_string()),
        }
    }
}
