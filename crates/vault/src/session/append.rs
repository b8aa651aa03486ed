//! Appending to the log of a session.

use std::path::Path;

use offshoot_store::{Hash, Id, RefRow, SessionContentRow, SessionEventRow, Writer};
use offshoot_tree::BlobId;
use serde::de::IgnoredAny;

use super::chain::{chain, place, put, recorded};
use super::content::event_name;
use super::error::SessionError;
use super::{
    NewSessionEvent, SESSION, SessionHead, SessionRecord, SessionTotals, SessionUpdate, check_word,
};
use crate::actor::Actor;
use crate::error::Result;
use crate::refs::key;
use crate::vault::Vault;

/// A body of up to this many bytes lies in the row of its event.
pub const INLINE_BODY: usize = 32 << 10;
/// No body is longer than this.
pub const LONGEST_BODY: usize = 16 << 20;
/// So many events are appended at once, and no more.
pub const MOST_AT_ONCE: usize = 1024;
/// The longest name of a provider or a model.
const LONGEST_MODEL: usize = 200;
/// The longest cost, in digits.
const LONGEST_COST: usize = 40;
/// The kind of the audit event about a session that stands otherwise than before.
const STATE: &str = "session state";

/// An event that was looked at, and whose body is stored where it is long.
struct Prepared<'e> {
    new: &'e NewSessionEvent,
    content: Hash,
}

impl Prepared<'_> {
    fn is_long(&self) -> bool {
        self.new.body.len() > INLINE_BODY
    }
}

impl Vault {
    /// Appends events to a session, of which the first is to have the number `next`, and says how it stands then. All of it is durable
    /// when this returns, or nothing has happened.
    pub fn append_session(
        &self,
        session: &Id,
        next: u64,
        (events, update): (&[NewSessionEvent], &SessionUpdate),
        actor: &Actor,
    ) -> Result<SessionHead> {
        check_update(update)?;
        self.enter()?;
        let _held = self.hold()?;
        let prepared = self.prepare(events)?;
        self.catalog().write(|writer| {
            let (record, head) = current(writer, session)?;
            record.require_own(actor, "append to")?;
            if head.events.checked_add(1) != Some(next) {
                let (session, expected, found) = (*session, next, head.events);
                return Err(SessionError::Moved { session, expected, found }.into());
            }
            let own = self.signing().key(recorded(writer)?.as_ref())?.public();
            let is_known = recorded(writer)? == Some(own);
            if is_known && update.state.is_none_or(|state| state == head.state) {
                return self.append_on(writer, session, head, (&prepared, update));
            }
            // The log says how a session stands, and which key vouches for it.
            self.record_on(STATE, (writer, actor), |tx| {
                let head = self.append_on(tx.writer(), session, head, (&prepared, update))?;
                tx.scope(record.workspace);
                tx.summary(format!("session {} is {}", record.name, head.state));
                tx.detail("session", session.to_string());
                tx.detail("state", head.state.as_str());
                tx.cover_session(session, &place(head.events, &head.chain));
                Ok(head)
            })
        })
    }

    /// Looks at events and stores what is long.
    fn prepare<'e>(&self, events: &'e [NewSessionEvent]) -> Result<Vec<Prepared<'e>>> {
        if events.len() > MOST_AT_ONCE {
            let (found, most) = (events.len() as u64, MOST_AT_ONCE as u64);
            return Err(SessionError::TooLarge { what: "an append", found, most }.into());
        }
        let mut prepared = Vec::with_capacity(events.len());
        for new in events {
            check_event(new)?;
            let content = match new.body.len() > INLINE_BODY {
                true => self.add_content(&mut new.body.as_bytes(), Path::new("an event"))?.blob,
                false => BlobId::of(new.body.as_bytes()),
            };
            if let Some(snapshot) = &new.snapshot {
                self.snapshot(snapshot)?;
            }
            prepared.push(Prepared { new, content: content.0 });
        }
        Ok(prepared)
    }

    fn append_on(
        &self,
        writer: &mut Writer<'_>,
        session: &Id,
        mut head: SessionHead,
        (events, update): (&[Prepared<'_>], &SessionUpdate),
    ) -> Result<SessionHead> {
        let time_ms = Id::random().time_ms().max(head.changed_ms);
        for event in events {
            let NewSessionEvent { kind, body, snapshot } = event.new;
            let mut row = SessionEventRow {
                session: *session,
                number: head.events + 1,
                time_ms,
                kind: kind.clone(),
                content: event.content,
                bytes: body.len() as u64,
                snapshot: *snapshot,
                chain: Hash::default(),
                body: if event.is_long() { String::new() } else { body.clone() },
            };
            row.chain = chain(&head.chain, &row);
            (head.events, head.chain) = (row.number, row.chain);
            if event.is_long() {
                writer.set_session_content(&SessionContentRow {
                    session: *session,
                    name: event_name(row.number),
                    content: row.content,
                    bytes: row.bytes,
                })?;
            }
            writer.add_session_event(&row)?;
        }
        head.changed_ms = time_ms;
        updated(&mut head, update);
        let mut row = head.row(*session);
        put(writer, self.signing(), &mut row)?;
        Ok(head)
    }
}

/// A session as it is under the write lock.
pub(super) fn current(writer: &Writer<'_>, id: &Id) -> Result<(SessionRecord, SessionHead)> {
    let key = key(SESSION, id);
    let unknown = || SessionError::Unknown(*id);
    let row: RefRow = writer.get_ref(&key)?.ok_or_else(unknown)?;
    let head = writer.session(id)?.ok_or_else(unknown)?;
    Ok((SessionRecord::from_row(&key, row)?, SessionHead::from_row(head)?))
}

fn updated(head: &mut SessionHead, update: &SessionUpdate) {
    let SessionUpdate { state, provider, model, totals } = update.clone();
    head.state = state.unwrap_or(head.state);
    head.provider = provider.unwrap_or_else(|| head.provider.clone());
    head.model = model.unwrap_or_else(|| head.model.clone());
    let was = std::mem::take(&mut head.totals);
    head.totals = SessionTotals {
        tokens_in: totals.tokens_in.or(was.tokens_in),
        tokens_out: totals.tokens_out.or(was.tokens_out),
        cost: totals.cost.or(was.cost),
    };
}

fn check_event(event: &NewSessionEvent) -> Result<()> {
    check_word("the kind of an event", &event.kind)?;
    let found = event.body.len();
    if found > LONGEST_BODY {
        let (found, most) = (found as u64, LONGEST_BODY as u64);
        return Err(SessionError::TooLarge { what: "the body of an event", found, most }.into());
    }
    match serde_json::from_str::<IgnoredAny>(&event.body) {
        Ok(_) => Ok(()),
        Err(source) => Err(SessionError::NotJson { kind: event.kind.clone(), source }.into()),
    }
}

/// Fails where a text is longer than the name of a model.
pub(super) fn check_model(text: &str) -> Result<()> {
    let (found, most) = (text.len() as u64, LONGEST_MODEL as u64);
    match found > most {
        true => Err(SessionError::TooLarge { what: "the name of a model", found, most }.into()),
        false => Ok(()),
    }
}

fn check_update(update: &SessionUpdate) -> Result<()> {
    update.provider.iter().chain(&update.model).try_for_each(|text| check_model(text))?;
    let SessionTotals { tokens_in, tokens_out, cost } = &update.totals;
    for found in tokens_in.iter().chain(tokens_out) {
        let most = i64::MAX.unsigned_abs();
        if *found > most {
            let what = "the number of tokens";
            return Err(SessionError::TooLarge { what, found: *found, most }.into());
        }
    }
    match cost {
        Some(cost) if !is_decimal(cost) => Err(SessionError::BadCost(cost.clone()).into()),
        _ => Ok(()),
    }
}

/// Whether a text is a number such as `12` or `0.042`.
pub(super) fn is_decimal(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (whole, rest) = match text.split_once('.') {
        Some((whole, rest)) => (whole, Some(rest)),
        None => (text, None),
    };
    text.len() <= LONGEST_COST && is_number(whole) && rest.is_none_or(is_number)
}

#[cfg(test)]
mod tests {
    use super::is_decimal;

    #[test]
    fn a_cost_is_a_decimal_number() {
        for good in ["0", "12", "0.042", "1000000.5"] {
            assert!(is_decimal(good), "{good}");
        }
        for bad in ["", ".", "1.", ".5", "-1", "1e3", "1,5", "0x1", "1.2.3", &"9".repeat(41)] {
            assert!(!is_decimal(bad), "{bad}");
        }
    }
}
