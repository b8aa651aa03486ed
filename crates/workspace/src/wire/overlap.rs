//! What workspaces changed at the same time, as a document.

use offshoot_protocol::{LinesDoc, OverlapDoc, OverlapSideDoc, StatusAllDoc, WorkSoFarDoc};
use offshoot_tree::diff::{Change, ChangeKind};

use super::change::change;
use super::entry::path;
use super::recover::running;
use crate::overlap::{Overlap, OverlapSide, WorkSoFar};
use crate::words;

/// What every workspace of a vault has changed so far.
pub fn status_all(
    vault: &str,
    all: &[WorkSoFar],
    overlaps: &[Overlap],
    now_ms: u64,
) -> StatusAllDoc {
    StatusAllDoc {
        vault: vault.to_owned(),
        workspaces: all.iter().map(|work| work_so_far(work, vault, now_ms)).collect(),
        overlaps: overlaps.iter().map(overlap).collect(),
    }
}

fn work_so_far(work: &WorkSoFar, vault: &str, now_ms: u64) -> WorkSoFarDoc {
    let count = |is: fn(ChangeKind) -> bool| {
        work.changes.iter().map(Change::kind).filter(|kind| is(*kind)).count() as u64
    };
    let (added, deleted) =
        (count(|kind| kind == ChangeKind::Added), count(|kind| kind == ChangeKind::Deleted));
    WorkSoFarDoc {
        workspace: work.workspace.name.clone(),
        running: work.running.iter().map(|note| running(note, vault, now_ms)).collect(),
        added,
        modified: work.changes.len() as u64 - added - deleted,
        deleted,
        folded: work.folded,
        changes: work.changes.iter().map(change).collect(),
    }
}

fn overlap(overlap: &Overlap) -> OverlapDoc {
    let lines = |(first, last): &(u64, u64)| LinesDoc { first: *first, last: *last };
    let side = |side: &OverlapSide| OverlapSideDoc {
        workspace: side.workspace.clone(),
        lines: side.lines.iter().map(lines).collect(),
    };
    OverlapDoc {
        path: path(&overlap.path),
        conflict: words::conflict_kind(overlap.kind),
        sides: overlap.sides.iter().map(side).collect(),
    }
}
