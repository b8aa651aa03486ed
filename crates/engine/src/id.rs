//! The ids of snapshots, operations, workspaces and commands.

pub use offshoot_store::Id;
