//! File systems that hold no files of anybody: what the kernel shows of itself.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Types of file systems whose files are views into the kernel.
const PSEUDO: [&str; 22] = [
    "autofs",
    "binder",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "cpuset",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// A mounted file system that holds no files of anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PseudoMount {
    /// Where it is mounted.
    pub path: PathBuf,
    /// Its type, such as `proc`.
    pub kind: String,
}

/// The pseudo file system that a directory lies in, where it does.
pub fn pseudo_around(directory: &Path) -> Option<PseudoMount> {
    let mounts = mounts();
    let holding = mounts.into_iter().filter(|mount| directory.starts_with(&mount.path));
    // The innermost counts, and of several at one place the one that was mounted last.
    let innermost = holding.max_by_key(|mount| mount.path.as_os_str().len());
    innermost.filter(is_pseudo)
}

/// The pseudo file systems that are mounted below a directory.
pub fn pseudo_below(directory: &Path) -> Vec<PseudoMount> {
    let below = |mount: &PseudoMount| mount.path.starts_with(directory) && mount.path != directory;
    mounts().into_iter().filter(|mount| below(mount) && is_pseudo(mount)).collect()
}

fn is_pseudo(mount: &PseudoMount) -> bool {
    PSEUDO.contains(&mount.kind.as_str())
}

/// Everything that is mounted; nothing where that cannot be read.
fn mounts() -> Vec<PseudoMount> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    table.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// One line of the table: the fifth field is the place, and the type follows a field of one dash.
fn mount(line: &[u8]) -> Option<PseudoMount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let path = unescaped(fields.nth(4)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let kind = String::from_utf8_lossy(kind).into_owned();
    Some(PseudoMount { path: PathBuf::from(OsString::from_vec(path)), kind })
}

/// Blanks, backslashes and the like are written as three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(field.len());
    let mut at = 0;
    while at < field.len() {
        let digits = field.get(at + 1..at + 4).filter(|_| field[at] == b'\\');
        let octal = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                at += 4;
            }
            None => {
                path.push(field[at]);
                at += 1;
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn lines_of_the_table_are_read() {
        let line = b"26 1 0:24 / /mnt/a\\040b rw,nosuid shared:3 master:1 - proc proc rw";
        let found = mount(line).expect("a mount");
        assert_eq!(found.path.as_os_str().as_bytes(), b"/mnt/a b");
        assert_eq!(found.kind, "proc");
        assert_eq!(mount(b""), None);
        assert_eq!(unescaped(br"a\134\9x"), br"a\\9x");
    }

    #[test]
    fn the_kernel_is_found_and_files_are_not() {
        let around = pseudo_around(Path::new("/proc/self")).expect("a process has /proc");
        assert_eq!((around.kind.as_str(), around.path.as_path()), ("proc", Path::new("/proc")));
        assert_eq!(pseudo_around(Path::new(env!("CARGO_MANIFEST_DIR"))), None);
        assert!(pseudo_below(Path::new("/")).iter().any(|mount| mount.path == Path::new("/proc")));
        assert!(pseudo_below(Path::new(env!("CARGO_MANIFEST_DIR"))).is_empty());
    }
}
