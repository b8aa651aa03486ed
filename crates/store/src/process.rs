//! Processes by more than their number, which the kernel gives out again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// How often to look whether a process is gone.
const PAUSE: Duration = Duration::from_millis(5);

/// One process of one boot: its number, and when it was started, in ticks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// Its number.
    pub pid: u32,
    /// When it started.
    pub start: u64,
}

impl ProcessMark {
    /// This process.
    pub fn own() -> Self {
        let pid = std::process::id();
        Self { pid, start: started(pid).map_or(0, |(start, _)| start) }
    }

    /// The process of a number, which must not have been reaped.
    pub fn of(pid: u32) -> Self {
        Self { pid, start: started(pid).map_or(0, |(start, _)| start) }
    }

    /// Whether it still runs: one that has ended and only waits to be reaped does not, and what was in its pid namespace,
    /// if it was the first there, is gone before it comes to that.
    pub fn is_alive(&self) -> bool {
        started(self.pid).is_some_and(|(start, ended)| start == self.start && !ended)
    }

    /// Waits until it does not run any more; false where it still does after `patience`.
    pub fn wait_gone(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.is_alive() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(PAUSE);
        }
        true
    }
}

/// When a process started, and whether it has ended already.
fn started(pid: u32) -> Option<(u64, bool)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program comes first and may hold anything, parentheses too.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some((fields.get(19)?.parse().ok()?, matches!(*fields.first()?, "Z" | "X")))
}

/// Names the time between two starts of this machine; empty where it has no name.
pub fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        text.trim().to_owned()
    })
}

/// One process that has locked a file with `flock`, with its command line. Nothing where the kernel does not tell.
pub fn flock_holder(path: &Path) -> Option<String> {
    let inode = fs::metadata(path).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let pids = locks.lines().filter_map(|line| {
        // Such as `7: FLOCK  ADVISORY  READ 2313 fe:01:51210 0 EOF`. The device is not compared: some file systems have several.
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (kind, pid, place) = (fields.next()?, fields.nth(2)?, fields.next()?);
        (kind == "FLOCK" && place.rsplit(':').next()? == inode).then_some(pid)
    });
    let mut named = pids.filter_map(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        Some(format!("process {pid}: {}", words.join(" ").trim()))
    });
    named.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_again_and_its_number_alone_is_not_enough() {
        let own = ProcessMark::own();
        assert!(own.is_alive());
        assert!(!ProcessMark { start: own.start + 1, ..own }.is_alive());
    }

    #[test]
    fn whoever_has_locked_a_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(flock_holder(file.path()), None);
        file.as_file().lock_shared().unwrap();
        let holder = flock_holder(file.path()).unwrap();
        assert!(holder.starts_with(&format!("process {}: /", std::process::id())), "{holder}");
    }

    #[test]
    fn one_that_has_ended_is_gone_before_it_is_reaped() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mark = ProcessMark::of(child.id());
        assert!(!mark.wait_gone(Duration::ZERO));
        child.kill().unwrap();
        assert!(mark.wait_gone(Duration::from_secs(10)));
        child.wait().unwrap();
        assert!(!mark.is_alive());
    }
}
