//! Merging workspaces into one another.

pub use offshoot_workspace::{MergeOutcome, MergeRequest, MergeService, MergeTarget};
