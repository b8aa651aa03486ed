//! Looking at the sessions of a file before it becomes a vault's. Their chains and contents are looked at by the check that follows.

use std::collections::HashSet;

use offshoot_store::{Id, Reader, SessionRow};
use offshoot_tree::BlobId;
use serde::de::IgnoredAny;

use super::records::{Records, text};
use super::refused::Vetted;
use crate::refs::from_json;
use crate::session::append::{INLINE_BODY, LONGEST_BODY};
use crate::session::call::{CallKey, parts};
use crate::session::content::{each_content, is_name};
use crate::session::{SESSION, SessionHead, check_word};
use crate::vault::Vault;

/// Events are read in pages of this many.
const PAGE: u32 = 256;

/// Looks at every row that belongs to a session.
pub(super) fn vet(vault: &Vault, reader: &Reader<'_>, records: &Records<'_>) -> Vetted {
    let rows = reader.sessions()?;
    let known: HashSet<Id> = rows.iter().map(|row| row.id).collect();
    for (key, _) in reader.refs(SESSION)? {
        if key.id.parse().is_ok_and(|id: Id| !known.contains(&id)) {
            return Err(format!("session {} has no log", key.id).into());
        }
    }
    if let Some(id) = reader.session_owners()?.iter().find(|id| !known.contains(id)) {
        // What is left of one that was being collected when the file was written.
        if reader.collected(id.as_bytes())?.is_none() {
            return Err(format!("session {id} has events, and no record").into());
        }
    }
    for row in rows {
        session(records, &row)?;
        events(vault, reader, records, &row.id)?;
        each_content(reader, &row.id, |content| names(&row.id, &content.name))?;
    }
    for row in reader.calls()? {
        let key = CallKey { session: row.session, call: row.call.clone() };
        key.check()?;
        parts(&row)?;
        records.time("a call", row.time_ms)?;
    }
    Ok(())
}

fn session(records: &Records<'_>, row: &SessionRow) -> Vetted {
    let what = format!("session {}", row.id);
    let head = SessionHead::from_row(row.clone())?;
    records.time(&what, head.changed_ms)?;
    let cost = head.totals.cost.unwrap_or_default();
    [head.provider, head.model, cost].iter().try_for_each(|part| text(&what, part))
}

fn events(vault: &Vault, reader: &Reader<'_>, records: &Records<'_>, id: &Id) -> Vetted {
    let mut next = 1;
    loop {
        let page = reader.session_events(id, next, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        next = last.number + 1;
        for event in page {
            let what = format!("event {} of session {id}", event.number);
            records.time(&what, event.time_ms)?;
            check_word("the kind of an event", &event.kind)?;
            if event.bytes > LONGEST_BODY as u64 {
                return Err(format!("{what} is too long").into());
            }
            if event.snapshot.is_some_and(|id| !records.snapshots.contains(&id)) {
                return Err(format!("{what} names a snapshot that is missing").into());
            }
            let body = match event.bytes > INLINE_BODY as u64 {
                true => {
                    let bytes = vault.objects()?.blob(&BlobId(event.content))?;
                    String::from_utf8(bytes).unwrap_or_default()
                }
                false => event.body,
            };
            from_json::<IgnoredAny>(&what, &body)?;
        }
    }
}

fn names(session: &Id, name: &str) -> Result<(), crate::error::VaultError> {
    match is_name(name) {
        true => Ok(()),
        false => Err(crate::session::error::SessionError::Damaged {
            session: *session,
            detail: "it keeps something that nothing is called so".to_owned(),
        }
        .into()),
    }
}
