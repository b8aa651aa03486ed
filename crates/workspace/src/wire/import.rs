//! What came into a vault, and what did not, as documents.

use offshoot_protocol::{ImportDoc, SkipCode, SkippedDoc, Text};
use offshoot_vault::{ImportReport, SkipReason, Skipped};

/// What an import brought.
pub fn import(report: &ImportReport) -> ImportDoc {
    ImportDoc {
        files: report.files,
        directories: report.directories,
        symlinks: report.symlinks,
        fifos: report.fifos,
        bytes: report.bytes,
        unchanged: report.unchanged,
        ignored: report.ignored,
        skipped: report.skipped.iter().map(skipped).collect(),
    }
}

fn skipped(skipped: &Skipped) -> SkippedDoc {
    let (code, message) = skip_reason(&skipped.why);
    SkippedDoc { path: Text::new(&skipped.path), code, message }
}

/// Why something did not come in: a word and a sentence.
pub fn skip_reason(why: &SkipReason) -> (SkipCode, String) {
    match why {
        SkipReason::Unreadable(error) => (SkipCode::Unreadable, error.clone()),
        SkipReason::Kept(error) => {
            (SkipCode::Unreadable, format!("{error}; the vault keeps what it has of it"))
        }
        SkipReason::Socket => (SkipCode::Socket, "sockets are not kept".to_owned()),
        SkipReason::Device => (SkipCode::Device, "devices are not kept".to_owned()),
        SkipReason::Home => (SkipCode::Home, "vaults are kept here".to_owned()),
        SkipReason::Pseudo => {
            (SkipCode::Pseudo, "the kernel shows itself here; there are no files".to_owned())
        }
        SkipReason::Reserved => {
            (SkipCode::Reserved, "the place is that of further folders".to_owned())
        }
        SkipReason::Attributes(names) => {
            (SkipCode::Attributes, format!("came in without {}", names.join(", ")))
        }
        SkipReason::Unstable => (SkipCode::Unstable, "kept changing while it was read".to_owned()),
    }
}
