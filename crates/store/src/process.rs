//! Processes by more than their number, which the kernel gives out again.

use std::fs;
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
