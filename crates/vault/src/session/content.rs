//! What a session keeps beside its log: texts, and notes that can be set anew.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use offshoot_store::{Id, SessionContentRow, Writer};
use offshoot_tree::BlobId;

use super::append::current;
use super::check_word;
use super::error::SessionError;
use crate::actor::Actor;
use crate::audit::key::unhex;
use crate::error::Result;
use crate::vault::Vault;

/// A note has no more bytes.
pub const LONGEST_NOTE: u64 = 1 << 20;
/// A session has no more notes.
pub const MOST_NOTES: u32 = 1000;
/// Names are read in pages of this many.
const PAGE: u32 = 256;

const TEXT: &str = "text ";
const NOTE: &str = "note ";
const EVENT: &str = "event ";

/// What a text is found by: the hash of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextId(BlobId);

impl fmt::Display for TextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl FromStr for TextId {
    type Err = SessionError;

    fn from_str(text: &str) -> Result<Self, SessionError> {
        let id = unhex(text).map(BlobId);
        id.map(Self).ok_or_else(|| SessionError::BadTextId(text.to_owned()))
    }
}

/// What the body of an event is called among the contents of its session.
pub(super) fn event_name(number: u64) -> String {
    format!("{EVENT}{number}")
}

/// Whether a content is the body of an event.
pub(crate) fn is_body(name: &str) -> bool {
    name.starts_with(EVENT)
}

/// Whether a session can call a content so.
pub(crate) fn is_name(name: &str) -> bool {
    let is_text = |text: &str| text.parse::<TextId>().is_ok();
    let parts = [TEXT, NOTE, EVENT].map(|prefix| name.strip_prefix(prefix));
    match parts {
        [Some(text), ..] => is_text(text),
        [_, Some(key), _] => check_word("the key of a note", key).is_ok(),
        [.., Some(number)] => number.parse::<u64>().is_ok_and(|n| n > 0 && event_name(n) == name),
        _ => false,
    }
}

/// Whether a content goes along when a session is forked at a number.
pub(super) fn is_of_fork(name: &str, at: u64) -> bool {
    match name.strip_prefix(EVENT) {
        Some(number) => number.parse::<u64>().is_ok_and(|number| number <= at),
        None => true,
    }
}

impl Vault {
    /// Has a session keep everything that `source` gives. The same bytes have the same id.
    pub fn put_session_text(
        &self,
        session: &Id,
        source: &mut dyn Read,
        actor: &Actor,
    ) -> Result<TextId> {
        self.enter()?;
        let _held = self.hold()?;
        let stored = self.add_content(source, Path::new("a text"))?;
        let id = TextId(stored.blob);
        let name = format!("{TEXT}{id}");
        self.catalog().write(|writer| {
            let (record, _) = current(writer, session)?;
            record.require_own(actor, "add to")?;
            if writer.session_content(session, &name)?.is_some() {
                return Ok(id);
            }
            let (content, bytes) = (stored.blob.0, stored.size);
            keep(writer, SessionContentRow { session: *session, name, content, bytes })?;
            Ok(id)
        })
    }

    /// How long a text of a session is.
    pub fn session_text_length(&self, session: &Id, text: &TextId) -> Result<u64> {
        let name = format!("{TEXT}{text}");
        let found = self.read(|reader| Ok(reader.session_content(session, &name)?))?;
        let missing = || SessionError::NoText { session: *session, text: text.to_string() };
        Ok(found.ok_or_else(missing)?.bytes)
    }

    /// A part of a text: from an offset on, at most so many bytes. Nothing where it is shorter.
    pub fn session_text(
        &self,
        session: &Id,
        text: &TextId,
        (offset, limit): (u64, u64),
    ) -> Result<Vec<u8>> {
        let length = self.session_text_length(session, text)?;
        let end = offset.saturating_add(limit).min(length);
        let (mut found, mut at) = (Vec::new(), 0u64);
        let mut reader = self.objects()?.reader(&text.0)?;
        let mut buffer = vec![0u8; 1 << 16];
        while at < end {
            let got = reader.read(&mut buffer)?;
            if got == 0 {
                break;
            }
            let (from, to) = (offset.clamp(at, at + got as u64), end.min(at + got as u64));
            let within = |place: u64| usize::try_from(place - at).unwrap_or(got).min(got);
            if from < to {
                found.extend_from_slice(&buffer[within(from)..within(to)]);
            }
            at += got as u64;
        }
        Ok(found)
    }

    /// Sets a note of a session, or removes it.
    pub fn set_session_note(
        &self,
        session: &Id,
        key: &str,
        note: Option<&[u8]>,
        actor: &Actor,
    ) -> Result<()> {
        check_word("the key of a note", key)?;
        let found = note.map_or(0, |note| note.len() as u64);
        if found > LONGEST_NOTE {
            let (what, most) = ("a note", LONGEST_NOTE);
            return Err(SessionError::TooLarge { what, found, most }.into());
        }
        self.enter()?;
        let _held = self.hold()?;
        let name = format!("{NOTE}{key}");
        let mut bytes = note.unwrap_or_default();
        let stored = self.add_content(&mut bytes, Path::new("a note"))?;
        self.catalog().write(|writer| {
            let (record, _) = current(writer, session)?;
            record.require_own(actor, "set notes of")?;
            if note.is_none() {
                return Ok(writer.remove_session_content(session, &name)?);
            }
            if writer.session_content(session, &name)?.is_none() {
                let most = MOST_NOTES;
                let notes = writer.session_contents(session, (NOTE, ""), most)?.len();
                if notes >= most as usize {
                    let (found, most) = (notes as u64 + 1, u64::from(most));
                    let what = "a session with another note";
                    return Err(SessionError::TooLarge { what, found, most }.into());
                }
            }
            let (content, bytes) = (stored.blob.0, stored.size);
            keep(writer, SessionContentRow { session: *session, name, content, bytes })
        })
    }

    /// A note of a session.
    pub fn session_note(&self, session: &Id, key: &str) -> Result<Option<Vec<u8>>> {
        let name = format!("{NOTE}{key}");
        let found = self.read(|reader| Ok(reader.session_content(session, &name)?))?;
        match found {
            Some(row) => Ok(Some(self.objects()?.blob(&BlobId(row.content))?)),
            None => Ok(None),
        }
    }

    /// The keys of the notes of a session, in order.
    pub fn session_notes(&self, session: &Id) -> Result<Vec<String>> {
        let found =
            self.read(|reader| Ok(reader.session_contents(session, (NOTE, ""), MOST_NOTES)?))?;
        let keys = found.iter().filter_map(|row| row.name.strip_prefix(NOTE));
        Ok(keys.map(str::to_owned).collect())
    }
}

/// Has a session keep a content. Objects that are stored are durable with the transaction that names them.
fn keep(writer: &mut Writer<'_>, row: SessionContentRow) -> Result<()> {
    Ok(writer.set_session_content(&row)?)
}

/// Calls `see` with everything that a session keeps.
pub(crate) fn each_content(
    reader: &offshoot_store::Reader<'_>,
    session: &Id,
    mut see: impl FnMut(SessionContentRow) -> Result<()>,
) -> Result<()> {
    let mut after = String::new();
    loop {
        let page = reader.session_contents(session, ("", &after), PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after.clone_from(&last.name);
        page.into_iter().try_for_each(&mut see)?;
    }
}
