//! What becomes of a rename: the kernel's, or the broker's.

use std::os::fd::AsFd;

use rustix::fs::{FileType, RenameFlags, fstat};
use rustix::io::Errno;

use super::rename::Rename;
use super::request::{Request, Verb};
use super::resolve::{self, Entry};
use super::scene::Shared;
use super::unify;
use crate::sys::seccomp::{self, Answer};

/// What to do about a call.
pub(super) enum Verdict {
    Answer(Answer),
    /// Whoever called does not wait any more.
    Gone,
    /// The broker has something to do.
    Work(Work),
}

/// What the kernel cannot do, and the broker can.
pub(super) enum Work {
    /// A directory is renamed.
    Rename(Rename),
    /// A file is about to get a second name.
    Link(Entry),
}

const NATIVELY: Verdict = Verdict::Answer(Answer::Continue);

pub(super) fn judge(shared: &Shared, id: u64, request: &Request) -> Verdict {
    match request.verb {
        Verb::Rename => judge_rename(shared, id, request),
        Verb::Link => judge_link(shared, id, request),
    }
}

fn judge_link(shared: &Shared, id: u64, request: &Request) -> Verdict {
    let Some(first) = with_two_numbers(shared, request) else { return NATIVELY };
    match seccomp::waits(shared.listener.as_fd(), id) {
        true => Verdict::Work(Work::Link(first)),
        false => Verdict::Gone,
    }
}

/// The file that would be seen with another inode number by its new name.
fn with_two_numbers(shared: &Shared, request: &Request) -> Option<Entry> {
    const FOLLOW: u32 = libc::AT_SYMLINK_FOLLOW as u32;
    if request.flags & !FOLLOW != 0 || request.from.path.ends_with(b"/") {
        return None;
    }
    let first = resolve::entry(request.thread, &request.from)?;
    let found = first.stat().ok()?;
    let is_other = match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => true,
        FileType::Symlink => request.flags & FOLLOW != 0,
        _ => false,
    };
    if is_other || unify::is_one(shared, &first, &found) {
        return None;
    }
    let second = resolve::entry(request.thread, &request.to)?;
    // Where the name is taken the kernel will say so.
    let goes_on = second.stat().is_err() && is_on_workspace(shared, &first, &second);
    goes_on.then_some(first)
}

fn judge_rename(shared: &Shared, id: u64, request: &Request) -> Verdict {
    let Some(rename) = of_a_directory(request) else { return NATIVELY };
    if !is_on_layers(shared, &rename.from, &rename.to) {
        return NATIVELY;
    }
    // From here on things are changed; the thread that asked must be the one that was looked at.
    if !seccomp::waits(shared.listener.as_fd(), id) {
        return Verdict::Gone;
    }
    match rename.natively() {
        Ok(()) => Verdict::Answer(Answer::Done),
        Err(Errno::XDEV) => Verdict::Work(Work::Rename(rename)),
        // The kernel says again what is wrong, with the rights of whoever asked.
        Err(_) => NATIVELY,
    }
}

/// Most renames are of files: they end here, at little cost.
fn of_a_directory(request: &Request) -> Option<Rename> {
    let flags = RenameFlags::from_bits(request.flags)?;
    if !(RenameFlags::NOREPLACE | RenameFlags::EXCHANGE).contains(flags) {
        return None;
    }
    let exchange = flags.contains(RenameFlags::EXCHANGE);
    let from = resolve::entry(request.thread, &request.from)?;
    let moves_directory = is_directory(&from);
    if !moves_directory && !exchange {
        return None;
    }
    let to = resolve::entry(request.thread, &request.to)?;
    // Only a directory may be named with a slash behind it; the kernel will say so.
    let wrong_slash = exchange
        && [(&from, &request.from), (&to, &request.to)]
            .iter()
            .any(|(entry, argument)| argument.path.ends_with(b"/") && !is_directory(entry));
    let moves_directory = moves_directory || is_directory(&to);
    (moves_directory && !wrong_slash).then_some(Rename { from, to, flags })
}

fn is_directory(entry: &Entry) -> bool {
    let mode = entry.stat().map(|found| found.st_mode);
    mode.is_ok_and(|mode| FileType::from_raw_mode(mode) == FileType::Directory)
}

fn is_on_workspace(shared: &Shared, from: &Entry, to: &Entry) -> bool {
    is_on(&[shared.scene.device], from, to)
}

/// The same of all that is stacked for the command.
fn is_on_layers(shared: &Shared, from: &Entry, to: &Entry) -> bool {
    is_on_workspace(shared, from, to) || is_on(&shared.scene.others, from, to)
}

fn is_on(devices: &[u64], from: &Entry, to: &Entry) -> bool {
    let (from, to) = (from.directory.as_fd(), to.directory.as_fd());
    let mounted = |fd| fstat(fd).is_ok_and(|found| devices.contains(&found.st_dev));
    let one_mount =
        || matches!((resolve::mount(from), resolve::mount(to)), (Ok(a), Ok(b)) if a == b);
    mounted(from) && mounted(to) && one_mount()
}
