//! Forking a session: its log up to an event becomes the start of another one.

use offshoot_store::{Hash, Id, Writer};
use offshoot_vocabulary::SessionState;

use super::append::current;
use super::content::{each_content, is_of_fork};
use super::error::SessionError;
use super::{SessionHead, SessionOrigin, SessionParent, SessionRecord, SessionTotals};
use crate::actor::Actor;
use crate::error::Result;

/// Events are copied in pages of this many.
const PAGE: u32 = 256;

/// A session about to be forked.
#[derive(Clone, Copy, Debug)]
pub struct NewSessionFork<'a> {
    /// What it is forked from.
    pub parent: Id,
    /// The last event that goes along; all where there is none.
    pub at: Option<u64>,
    /// The workspace that it belongs to.
    pub workspace: Id,
    /// Its name.
    pub name: &'a str,
}

/// Copies a log with what it keeps; gives the new session and how it stands, whose ref and row are still to be written.
pub(crate) fn copy(
    writer: &mut Writer<'_>,
    new: &NewSessionFork<'_>,
    (created_ms, created_by): (u64, &Actor),
) -> Result<(SessionRecord, SessionHead)> {
    let (_, parent) = current(writer, &new.parent)?;
    let at = new.at.unwrap_or(parent.events);
    if at > parent.events {
        let (session, number, last) = (new.parent, at, parent.events);
        return Err(SessionError::NoEvent { session, number, last }.into());
    }
    let id = writer.new_id();
    let chain = copy_events(writer, &new.parent, &id, at)?;
    let mut contents = Vec::new();
    each_content(writer, &new.parent, |row| {
        contents.extend(is_of_fork(&row.name, at).then_some(row));
        Ok(())
    })?;
    for mut row in contents {
        row.session = id;
        writer.set_session_content(&row)?;
    }
    let is_whole = at == parent.events;
    let head = SessionHead {
        events: at,
        chain,
        changed_ms: created_ms,
        state: SessionState::Waiting,
        provider: parent.provider,
        model: parent.model,
        totals: if is_whole { parent.totals } else { SessionTotals::default() },
    };
    let parent = Some(SessionParent { session: new.parent, number: at });
    let origin = SessionOrigin { created_ms, created_by: created_by.clone(), parent };
    let (workspace, name) = (new.workspace, new.name.to_owned());
    Ok((SessionRecord { id, workspace, name, origin }, head))
}

/// Gives the chain after the last event.
fn copy_events(writer: &mut Writer<'_>, parent: &Id, to: &Id, at: u64) -> Result<Hash> {
    let (mut chain, mut next) = (Hash::default(), 1);
    while next <= at {
        let page = writer.session_events(parent, next, PAGE)?;
        let Some(last) = page.last().map(|row| row.number) else {
            let detail = format!("event {next} is missing");
            return Err(SessionError::Damaged { session: *parent, detail }.into());
        };
        for mut row in page.into_iter().take_while(|row| row.number <= at) {
            row.session = *to;
            chain = row.chain;
            writer.add_session_event(&row)?;
        }
        next = last + 1;
    }
    Ok(chain)
}
