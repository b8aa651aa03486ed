//! `offshoot exec`: how fast programs run in a workspace, and what goes on around them.

pub(super) mod caches;
pub(super) mod host;
pub(super) mod life;
pub(super) mod memory;
pub(super) mod native;
mod place;
mod project;
pub(super) mod rename;
pub(super) mod scale;
pub(super) mod start;
mod workload;

/// A shell's text that changes ten files, spread over a tree.
pub(super) fn ten_changes(files: usize) -> String {
    let paths = (0..10).map(|change| crate::tree::file(change * files / 10).display().to_string());
    let paths: Vec<String> = paths.collect();
    format!("for f in {}; do echo more >> $f; done", paths.join(" "))
}
