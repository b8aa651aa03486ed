//! Taking folders into a vault: what came of it, in words.

pub use offshoot_vault::{ImportReport, Progress};
use offshoot_vault::{SkipReason, Skipped};
use offshoot_workspace::wire;

use crate::text::{bytes, count, display_bytes};

/// What an import brought, in a line.
///
/// ```
/// use offshoot_engine::import::{ImportReport, summary};
///
/// let report = ImportReport { files: 2, bytes: 1536, ..ImportReport::default() };
/// assert_eq!(summary(&report), "2 files, 1.5 KiB");
/// ```
pub fn summary(report: &ImportReport) -> String {
    let mut text = count(report.files, "file");
    if report.directories > 0 {
        text.push_str(&format!(" in {}", count(report.directories, "directory")));
    }
    text.push_str(&format!(", {}", bytes(report.bytes)));
    if report.unchanged > 0 {
        text.push_str(&format!(", {} not read again", report.unchanged));
    }
    if report.ignored > 0 {
        text.push_str(&format!(", {} ignored", report.ignored));
    }
    text
}

/// What an import could not bring, a line each.
///
/// ```
/// use offshoot_engine::import::{ImportReport, skipped};
///
/// assert!(skipped(&ImportReport::default()).is_empty());
/// ```
pub fn skipped(report: &ImportReport) -> Vec<String> {
    report.skipped.iter().map(skipped_line).collect()
}

/// What an import could not read, a line each.
pub(crate) fn unreadable(report: &ImportReport) -> Vec<String> {
    let is_unreadable =
        |skipped: &&Skipped| matches!(skipped.why, SkipReason::Unreadable(_) | SkipReason::Kept(_));
    report.skipped.iter().filter(is_unreadable).map(skipped_line).collect()
}

fn skipped_line(skipped: &Skipped) -> String {
    let (_, why) = wire::skip_reason(&skipped.why);
    let done = match skipped.why {
        SkipReason::Kept(_) => "could not read",
        _ => "skipped",
    };
    format!("{done} {}: {why}", display_bytes(&skipped.path))
}
