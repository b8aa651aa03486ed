//! The machine that was measured on; without it a figure says nothing.

use std::fmt;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "folder";

/// What is to be known of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    facts: Vec<(&'static str, String)>,
}

impl Machine {
    /// This machine, with the file system that a directory is on.
    pub(crate) fn of(dir: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let mounts = read("/proc/self/mountinfo");
        let mount = Mount::of(&mounts, dir).unwrap_or_default();
        let facts = vec![
            ("processor", field(&read("/proc/cpuinfo"), "model name")),
            ("cores", cores.to_string()),
            ("memory", field(&read("/proc/meminfo"), "MemTotal")),
            ("kernel", read("/proc/sys/kernel/osrelease").trim().to_owned()),
            ("file system", format!("{} on {}", mount.kind, mount.device)),
            (FOLDER, dir.display().to_string()),
            ("load", read("/proc/loadavg").trim().to_owned()),
            ("git", version("git")),
            ("offshoot", version(&offshoot_tests::product::binary().display().to_string())),
        ];
        Self { facts }
    }

    /// What is known, by name.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.facts.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// What is worth keeping: where exactly the files were is not.
    pub(crate) fn lasting_facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.facts().filter(|(name, _)| *name != FOLDER)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.facts().try_for_each(|(name, value)| writeln!(formatter, "{name:<12} {value}"))
    }
}

/// Whether a directory is kept in memory only, where a sync costs nothing.
pub(crate) fn is_in_memory(dir: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Mount::of(&mounts, dir).is_some_and(|mount| ["tmpfs", "ramfs"].contains(&mount.kind.as_str()))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mount {
    kind: String,
    device: String,
}

impl Mount {
    /// The mount that holds a directory: of those above it, the longest and of these the last.
    fn of(mountinfo: &str, dir: &Path) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for line in mountinfo.lines() {
            let (Some(point), Some((_, behind))) = (line.split(' ').nth(4), line.split_once(" - "))
            else {
                continue;
            };
            let mut words = behind.split(' ').map(str::to_owned);
            let (Some(kind), Some(device)) = (words.next(), words.next()) else { continue };
            let longest = best.as_ref().map_or(0, |(length, _)| *length);
            if dir.starts_with(point) && point.len() >= longest {
                best = Some((point.len(), Self { kind, device }));
            }
        }
        best.map(|(_, mount)| mount)
    }
}

/// The first value of a name in a file of `name: value` lines.
fn field(text: &str, name: &str) -> String {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    let found = pairs.into_iter().find(|(key, _)| key.trim() == name);
    found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /tmp rw shared:5 - tmpfs tmpfs rw
31 30 8:2 / /tmp/disk rw - xfs /dev/sdb1 rw
";

    #[test]
    fn the_innermost_mount_counts() {
        let kind = |dir: &str| Mount::of(MOUNTS, Path::new(dir)).map(|mount| mount.kind);
        assert_eq!(kind("/var/a").as_deref(), Some("ext4"));
        assert_eq!(kind("/tmp/a").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/tmp/disk/a").as_deref(), Some("xfs"));
        assert_eq!(kind("/tmpfile").as_deref(), Some("ext4"));
    }

    #[test]
    fn fields_are_found() {
        assert_eq!(field("a\t: 1\nmodel name\t: X 2\n", "model name"), "X 2");
        assert_eq!(field("", "model name"), "unknown");
    }
}
