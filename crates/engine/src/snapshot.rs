//! States of files with a parent, a time and an author.

pub use offshoot_vault::Snapshot;
