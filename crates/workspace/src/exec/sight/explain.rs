//! Whether a command sees a path, and why.

use std::path::{Path, PathBuf};

use offshoot_protocol::Visibility;
use offshoot_scrub::OmittedLines;

use super::{Seen, Sight, Source};

/// Directories that every command has for itself.
const PRIVATE: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/dev", "/proc"];

/// Whether a command sees a path, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Whether.
    pub visibility: Visibility,
    /// What makes it seen: the place of the table that it is or lies in.
    pub by: Option<(PathBuf, Source)>,
    /// What is not in its copy.
    pub left_out: OmittedLines,
    /// The line for which there is no copy.
    pub withheld_for: Option<usize>,
}

impl Seen {
    /// Whether somebody named it, rather than the table.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.source, Source::Request | Source::Profile)
    }

    /// How it is seen.
    pub fn visibility(&self) -> Visibility {
        match &self.copy {
            None => Visibility::Shown,
            Some(copy) if copy.left_out.is_none() => Visibility::Withheld,
            Some(_) => Visibility::Copied,
        }
    }
}

impl Sight {
    /// Whether a command sees a path, which has no links in it; `folders` are those of its workspace.
    pub fn explain(&self, path: &Path, home: Option<&Path>, folders: &[PathBuf]) -> Explanation {
        let plain = |visibility| Explanation {
            visibility,
            by: None,
            left_out: OmittedLines::default(),
            withheld_for: None,
        };
        if folders.iter().any(|folder| path.starts_with(folder)) {
            return plain(Visibility::Workspace);
        }
        let of_seen = |seen: &Seen| {
            let copy = seen.copy.as_ref();
            let left_out = copy.and_then(|copy| copy.left_out.clone()).unwrap_or_default();
            let withheld_for = copy.and_then(|copy| copy.withheld_for);
            let by = Some((seen.path.clone(), seen.source.clone()));
            Explanation { visibility: seen.visibility(), by, left_out, withheld_for }
        };
        if let Some(hidden) = self.hidden.iter().find(|hidden| path.starts_with(hidden)) {
            // A file may be covered by a copy of it.
            let copy = self.seen.iter().find(|seen| seen.copy.is_some() && seen.path == *hidden);
            return copy.map_or_else(|| plain(Visibility::Hidden), of_seen);
        }
        let leads_to = |seen: &&Seen| {
            let target = seen.path.canonicalize().unwrap_or_else(|_| seen.path.clone());
            path.starts_with(&target) || path.starts_with(&seen.path)
        };
        if let Some(seen) = self.seen.iter().find(leads_to) {
            return of_seen(seen);
        }
        let is_private = |private: &&str| path.starts_with(private);
        match () {
            () if self.everything => plain(Visibility::Shown),
            () if home.is_some_and(|home| path == home) => plain(Visibility::Private),
            // A home may lie in a private directory.
            () if home.is_some_and(|home| path.starts_with(home)) => plain(Visibility::Absent),
            () if PRIVATE.iter().any(is_private) => plain(Visibility::Private),
            () => plain(Visibility::Absent),
        }
    }
}
