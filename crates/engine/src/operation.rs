//! What was done to a vault, and taking it back.

pub use offshoot_vault::{Operation, Scope};
pub use offshoot_workspace::{HistoryService, LogEntry, Reversal};
