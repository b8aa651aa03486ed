//! When the next collection is due, and what is remembered of the last one.

use std::time::Duration;

use offshoot_store::Id;
use serde::{Deserialize, Serialize};

use super::report::GcReport;
use crate::error::Result;
use crate::gate::COLLECTING;
use crate::refs::{from_json, to_json};
use crate::vault::Vault;

/// Where the catalog remembers the last collection.
const LAST: &str = "gc";
/// Where it remembers how far the log was when one was last begun.
const BEGUN: &str = "gc begun";
/// However little happened, what became too old is collected after so long.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// What is kept is looked through each time, so the next collection waits for one part in so many of it to be new.
const PART: u64 = 8;

/// When to collect without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcSchedule {
    /// After so many operations.
    pub operations: u64,
    /// After so many bytes in new layers.
    pub bytes: u64,
}

/// What is remembered of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCollection {
    /// When it was, in milliseconds since 1970.
    pub time_ms: u64,
    /// How far the log of operations was when it began.
    pub seq: i64,
    /// Layers whose ids come after this one are newer.
    pub mark: Id,
    /// How many operations could be undone afterwards.
    pub kept_operations: u64,
    /// When the oldest of those was done; none where none was kept.
    pub oldest_ms: Option<u64>,
    /// The bytes of what it took.
    pub freed_bytes: u64,
}

/// What happened since the last collection, and when the next one is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcDue {
    /// The last collection; none where there was none.
    pub last: Option<LastCollection>,
    /// Operations since.
    pub operations: u64,
    /// Layers that were made since.
    pub layers: u64,
    /// The bytes of those.
    pub bytes: u64,
    /// The next one is due with so many operations,
    pub due_operations: u64,
    /// with so many bytes,
    pub due_bytes: u64,
    /// or, if anything happened, at this time.
    pub due_ms: Option<u64>,
    /// Operations since one was last begun, whether or not it came to its end.
    begun: u64,
}

impl GcDue {
    /// Whether it is time. One that did not come to its end is tried again after half as many further operations.
    pub fn is_due(&self, now_ms: u64) -> bool {
        let enough = self.operations >= self.due_operations
            || self.bytes >= self.due_bytes
            || (self.operations > 0 && self.due_ms.is_some_and(|due| due <= now_ms));
        let failed = self.begun < self.operations;
        enough && (!failed || self.begun >= self.due_operations.div_ceil(2))
    }
}

impl Vault {
    /// What happened since the last collection. Costs as much as there are layers since.
    pub fn gc_due(&self, schedule: &GcSchedule) -> Result<GcDue> {
        self.read(|reader| {
            let parse = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            let last = reader.meta(LAST)?.map(parse);
            let last: Option<LastCollection> =
                last.map(|text| from_json("the last collection", &text)).transpose()?;
            let begun = reader.meta(BEGUN)?.map(parse).and_then(|text| text.parse::<i64>().ok());
            let seq = reader.last_operation_seq()?;
            let (layers, bytes) = match &last {
                Some(last) => reader.layers_after(&last.mark)?,
                None => reader.layers_after(&Id::from_bytes([0; 16]))?,
            };
            let since = |from: i64| u64::try_from(seq - from).unwrap_or(0);
            let done = last.as_ref().map_or(0, |last| last.seq);
            let kept = last.as_ref().map_or(0, |last| last.kept_operations);
            let day = u64::try_from(DAY.as_millis()).unwrap_or(u64::MAX);
            Ok(GcDue {
                operations: since(done),
                layers,
                bytes,
                due_operations: schedule.operations.max(kept / PART),
                due_bytes: schedule.bytes,
                due_ms: last.as_ref().map(|last| last.time_ms.saturating_add(day)),
                begun: since(begun.unwrap_or(0).max(done)),
                last,
            })
        })
    }

    /// Whether nobody collects now.
    pub fn is_gc_idle(&self) -> bool {
        // Where nobody ever collected there is no file to lock.
        !self.dir().join(COLLECTING).exists() || matches!(self.try_alone(COLLECTING), Ok(Some(_)))
    }

    /// Notes that one is begun, so that one that fails is not tried after every command.
    pub(super) fn note_begun(&self) -> Result<()> {
        self.catalog().write(|writer| {
            let seq = writer.last_operation_seq()?;
            Ok(writer.set_meta(BEGUN, seq.to_string().as_bytes())?)
        })
    }

    /// Remembers a collection that began at `mark`, with the log at `seq`.
    pub(super) fn note_collected(&self, mark: Id, seq: i64, report: &GcReport) -> Result<()> {
        let last = LastCollection {
            time_ms: Id::random().time_ms(),
            seq,
            mark,
            kept_operations: report.kept_operations,
            oldest_ms: report.oldest_ms,
            freed_bytes: report.freed(),
        };
        Ok(self.catalog().write(|writer| writer.set_meta(LAST, to_json(&last).as_bytes()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(operations: u64, begun: u64) -> GcDue {
        GcDue {
            last: None,
            operations,
            layers: 0,
            bytes: 0,
            due_operations: 100,
            due_bytes: 1000,
            due_ms: Some(500),
            begun,
        }
    }

    #[test]
    fn it_is_due_by_operations_by_bytes_and_by_age() {
        assert!(!due(99, 99).is_due(0));
        assert!(due(100, 100).is_due(0));
        assert!(GcDue { bytes: 1000, ..due(1, 1) }.is_due(0));
        assert!(!GcDue { bytes: 999, ..due(1, 1) }.is_due(499));
        assert!(due(1, 1).is_due(500));
        assert!(!due(0, 0).is_due(500), "where nothing happened nothing is to be done");
    }

    #[test]
    fn one_that_failed_is_tried_again_later() {
        assert!(!due(120, 0).is_due(0));
        assert!(!due(120, 49).is_due(0));
        assert!(due(150, 50).is_due(0));
    }
}
