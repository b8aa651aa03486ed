//! Merging the layers that commands leave behind.

pub use offshoot_workspace::{CompactScope, CompactionService};
