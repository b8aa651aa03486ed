//! Looking at sessions.

use offshoot_store::{Id, IdPrefix, Reader, SessionEventRow, SessionRow};
use offshoot_tree::BlobId;

use super::append::INLINE_BODY;
use super::error::SessionError;
use super::{SESSION, SessionEvent, SessionHead, SessionRecord};
use crate::error::Result;
use crate::refs::key;
use crate::vault::Vault;

/// Nobody gets more events at once.
pub const LONGEST_PAGE: u32 = 256;
/// Once so many bytes of bodies are read, the page ends.
const PAGE_BYTES: u64 = 4 << 20;

impl Vault {
    /// All sessions, oldest first, and how they stand.
    pub fn sessions(&self) -> Result<Vec<(SessionRecord, SessionHead)>> {
        self.read(|reader| {
            let mut found = Vec::new();
            for (key, row) in reader.refs(SESSION)? {
                let record = SessionRecord::from_row(&key, row)?;
                let head = head(reader, &record.id)?;
                found.push((record, head));
            }
            Ok(found)
        })
    }

    /// The session of an id.
    pub fn session(&self, id: &Id) -> Result<Option<(SessionRecord, SessionHead)>> {
        self.read(|reader| {
            let key = key(SESSION, id);
            let Some(row) = reader.get_ref(&key)? else { return Ok(None) };
            Ok(Some((SessionRecord::from_row(&key, row)?, head(reader, id)?)))
        })
    }

    /// The session of a name in a workspace.
    pub fn session_named(
        &self,
        workspace: &Id,
        name: &str,
    ) -> Result<Option<(SessionRecord, SessionHead)>> {
        self.read(|reader| {
            let found = reader.ref_by_name(SESSION, &workspace.to_string(), name)?;
            let Some((key, row)) = found else { return Ok(None) };
            let record = SessionRecord::from_row(&key, row)?;
            let head = head(reader, &record.id)?;
            Ok(Some((record, head)))
        })
    }

    /// Sessions whose ids start so.
    pub fn sessions_by_prefix(&self, prefix: &IdPrefix) -> Result<Vec<Id>> {
        let (low, high) = prefix.range();
        let rows = self.read(|reader| Ok(reader.refs(SESSION)?))?;
        let ids = rows.iter().filter_map(|(key, _)| key.id.parse::<Id>().ok());
        Ok(ids.filter(|id| (low..=high).contains(id)).collect())
    }

    /// Events of a session from a number on: at most `limit`, at most 256, and about 4 MiB; at least one where there is one.
    pub fn session_events(&self, id: &Id, from: u64, limit: u32) -> Result<Vec<SessionEvent>> {
        let rows = self.read(|reader| {
            Ok(reader.session_events(id, from.max(1), limit.min(LONGEST_PAGE))?)
        })?;
        let (mut found, mut bytes) = (Vec::with_capacity(rows.len()), 0u64);
        for row in rows {
            bytes = bytes.saturating_add(row.bytes);
            if bytes > PAGE_BYTES && !found.is_empty() {
                break;
            }
            found.push(self.session_event(row)?);
        }
        Ok(found)
    }

    /// An event with its body, wherever that is.
    fn session_event(&self, row: SessionEventRow) -> Result<SessionEvent> {
        let damaged = |detail: String| SessionError::Damaged { session: row.session, detail };
        let body = match row.bytes > INLINE_BODY as u64 {
            true => {
                let bytes = self.objects()?.blob(&BlobId(row.content))?;
                let text = String::from_utf8(bytes);
                text.map_err(|_| damaged(format!("the body of event {} is no text", row.number)))?
            }
            false if BlobId::of(row.body.as_bytes()).0 != row.content => {
                return Err(damaged(format!("event {} has another body", row.number)).into());
            }
            false => row.body,
        };
        Ok(SessionEvent {
            number: row.number,
            time_ms: row.time_ms,
            kind: row.kind,
            body,
            snapshot: row.snapshot,
            chain: row.chain,
        })
    }

    /// The snapshot that the last event up to a number names, if one does.
    pub fn session_snapshot(&self, id: &Id, until: u64) -> Result<Option<Id>> {
        self.read(|reader| Ok(reader.session_snapshot(id, until)?))
    }
}

fn head(reader: &Reader<'_>, id: &Id) -> Result<SessionHead> {
    let row: SessionRow = reader.session(id)?.ok_or_else(|| SessionError::Damaged {
        session: *id,
        detail: "how it stands is not recorded".to_owned(),
    })?;
    SessionHead::from_row(row)
}
