//! What to collect, and what was collected.

use std::time::Duration;

/// What to keep, and how to collect the rest.
#[derive(Clone, Copy, Debug)]
pub struct GcOptions {
    /// The newest operations, so many of them, can still be undone afterwards.
    pub keep_operations: u64,
    /// So can those that are younger than this.
    pub keep_age: Duration,
    /// The oldest of them are given up while content takes more bytes than this.
    pub max_size: Option<u64>,
    /// Only say what would be taken.
    pub dry_run: bool,
    /// Move what is left in layers that are mostly garbage to packs, so that the layers can go.
    pub pack: bool,
}

/// How much of one kind was taken, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many.
    pub count: u64,
    /// The bytes of them.
    pub bytes: u64,
}

impl Taken {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

/// What a collection did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Operations that can still be undone.
    pub kept_operations: u64,
    /// When the oldest of those was done, in milliseconds since 1970.
    pub oldest_ms: Option<u64>,
    /// Operations that were given up for `max_size`.
    pub given_up: u64,
    /// Checkpoints that were made by themselves, with operations that are not kept.
    pub checkpoints: Taken,
    /// States of files.
    pub roots: Taken,
    /// Directories.
    pub nodes: Taken,
    /// Contents of files; bytes in layers and packs are counted there.
    pub contents: Taken,
    /// Parts of long files.
    pub chunks: Taken,
    /// Layers.
    pub layers: Taken,
    /// Packs.
    pub packs: Taken,
    /// What commands printed.
    pub outputs: Taken,
    /// Sessions of agents that were deleted.
    pub sessions: Taken,
    /// Caches that belong to a root.
    pub caches: Taken,
    /// What crashes left.
    pub leftovers: Taken,
    /// Content that was moved to packs.
    pub packed: Taken,
    /// What the vault took on disk before.
    pub bytes_before: u64,
    /// What it takes now.
    pub bytes_after: u64,
    /// The longest time for which nobody could write.
    pub longest_pause: Duration,
}

impl GcReport {
    /// What was taken, by kind.
    pub fn kinds(&self) -> [(&'static str, Taken); 11] {
        [
            ("checkpoints", self.checkpoints),
            ("roots", self.roots),
            ("nodes", self.nodes),
            ("contents", self.contents),
            ("chunks", self.chunks),
            ("layers", self.layers),
            ("packs", self.packs),
            ("outputs", self.outputs),
            ("sessions", self.sessions),
            ("caches", self.caches),
            ("leftovers", self.leftovers),
        ]
    }

    /// The bytes of all that was taken.
    pub fn freed(&self) -> u64 {
        self.kinds().iter().map(|(_, taken)| taken.bytes).sum()
    }
}
