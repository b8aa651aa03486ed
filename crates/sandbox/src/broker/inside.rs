//! Who is in a directory: processes that would lose the ground under their feet.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

/// A directory by its numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
}

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Whether a process below `init` has its working directory or its root in a directory or below it.
pub(super) fn is_occupied(init: i32, directory: Identity) -> bool {
    let mut left = vec![init];
    while let Some(process) = left.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten() {
            let path = thread.path();
            let stands_in = |link: &str| {
                let opened = openat(CWD, path.join(link), DIRECTORY, Mode::empty());
                opened.is_ok_and(|place| is_within(place, directory))
            };
            if stands_in("cwd") || stands_in("root") {
                return true;
            }
            let children = fs::read_to_string(path.join("children")).unwrap_or_default();
            left.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }
    false
}

/// Whether a place is a directory of a file system, or lies below it. Who cannot go up from a place does not know.
fn is_within(mut place: OwnedFd, directory: Identity) -> bool {
    loop {
        let Ok(found) = fstat(&place) else { return true };
        let here = Identity { device: found.st_dev, inode: found.st_ino };
        if here == directory {
            return true;
        }
        if here.device != directory.device {
            return false;
        }
        place = match openat(&place, c"..", DIRECTORY, Mode::empty()) {
            Ok(parent) => parent,
            // The directory itself was removed, or it is closed to its owner.
            Err(Errno::NOENT) => return false,
            Err(_) => return true,
        };
        // Nothing is above a root.
        let Ok(above) = fstat(&place) else { return true };
        if (above.st_dev, above.st_ino) == (found.st_dev, found.st_ino) {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_stand_in_a_directory_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/b", "c"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let place =
            |name: &str| openat(CWD, folder.path().join(name), DIRECTORY, Mode::empty()).unwrap();
        let identity = |name: &str| {
            let found = fstat(place(name)).unwrap();
            Identity { device: found.st_dev, inode: found.st_ino }
        };
        assert!(is_within(place("a/b"), identity("a")));
        assert!(is_within(place("a"), identity("a")));
        assert!(!is_within(place("a"), identity("a/b")));
        assert!(!is_within(place("c"), identity("a")));
        let mut sleeper = std::process::Command::new("sleep");
        let mut sleeper = sleeper.arg("60").current_dir(folder.path().join("a/b")).spawn().unwrap();
        let me = i32::try_from(std::process::id()).unwrap();
        let found = ["a", "a/b", "c"].map(|name| is_occupied(me, identity(name)));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(found, [true, true, false]);
    }
}
