//! How to make many files durable.

use std::fs;

/// Up to this many files and directories are synced one by one.
const SYNC_FEW: u64 = 8;
/// Up to this many are, where others have much to write: syncing all of a file system waits for them too.
const SYNC_EACH: u64 = 500;
/// Above this, others have much to write.
const MUCH_KIB: u64 = 64 * 1024;

/// Whether so many files and directories are better synced one by one than by syncing their file system.
pub fn syncs_each(files: u64) -> bool {
    files <= SYNC_FEW || (files <= SYNC_EACH && unwritten_kib() > MUCH_KIB)
}

/// How much this machine has yet to write to its disks.
fn unwritten_kib() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    // Where it cannot be known it may be much.
    field("Dirty:").zip(field("Writeback:")).map_or(u64::MAX, |(dirty, writing)| dirty + writing)
}
