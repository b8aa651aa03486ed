//! What came of all the kills and cuts, so that one can see that they hit.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of one campaign.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Commands whose envelope promised their changes.
    pub(crate) promised: AtomicU64,
    /// Commands that made no promise and whose changes are there.
    pub(crate) there: AtomicU64,
    /// Commands of which the workspace shows nothing.
    pub(crate) gone: AtomicU64,
    /// Those that left something to recover.
    pub(crate) left: AtomicU64,
    /// Those whose layer was sealed by then.
    pub(crate) sealed: AtomicU64,
    /// Those that were killed again while they were recovered.
    pub(crate) killed_again: AtomicU64,
}

impl Tally {
    pub(crate) fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// One line for people.
    pub(crate) fn print(&self, what: &str) {
        let [promised, there, gone, left, sealed, killed_again] =
            [&self.promised, &self.there, &self.gone, &self.left, &self.sealed, &self.killed_again]
                .map(|count| count.load(Ordering::Relaxed));
        println!(
            "{what}: {promised} promised and there, {there} there without a promise, {gone} not there; \
             {left} left something ({sealed} of them sealed), {killed_again} killed while recovered"
        );
    }
}
