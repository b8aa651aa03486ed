//! Notes and full texts that a session of the vault keeps.

use std::str::FromStr;

use offshoot_engine::session::{Session, TextId};

use crate::full_texts::{FullTextError, FullTexts, ResultId, TextPart};
use crate::notes::{Notes, NotesError};

/// What the notes of an agent have before their names, so that they are no others' of the session.
const PREFIX: &str = "note.";
/// The longest letter of a text, in bytes.
const LETTER: u64 = 4;

/// Keeps notes in a session.
#[derive(Clone, Debug)]
pub struct SessionNotes(Session);

impl SessionNotes {
    /// In this session.
    pub fn new(session: Session) -> Self {
        Self(session)
    }
}

impl Notes for SessionNotes {
    fn names(&self) -> Result<Vec<String>, NotesError> {
        let keys = self.0.notes().map_err(notes_error)?;
        Ok(keys.iter().filter_map(|key| key.strip_prefix(PREFIX)).map(str::to_owned).collect())
    }

    fn read(&self, name: &str) -> Result<Option<String>, NotesError> {
        let note = self.0.note(&format!("{PREFIX}{name}")).map_err(notes_error)?;
        Ok(note.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn write(&self, name: &str, text: Option<&str>) -> Result<(), NotesError> {
        self.0.set_note(&format!("{PREFIX}{name}"), text.map(str::as_bytes)).map_err(notes_error)
    }
}

fn notes_error(error: offshoot_engine::Error) -> NotesError {
    NotesError(error.to_string())
}

/// Keeps full texts in a session.
#[derive(Clone, Debug)]
pub struct SessionTexts(Session);

impl SessionTexts {
    /// In this session.
    pub fn new(session: Session) -> Self {
        Self(session)
    }
}

impl FullTexts for SessionTexts {
    fn keep(&self, text: &str) -> Result<ResultId, FullTextError> {
        let id = self.0.put_text(&mut text.as_bytes()).map_err(text_error)?;
        Ok(ResultId::parse(&id.to_string()))
    }

    fn read(
        &self,
        id: &ResultId,
        offset: usize,
        limit: usize,
    ) -> Result<Option<TextPart>, FullTextError> {
        let Ok(id) = TextId::from_str(id.as_str()) else { return Ok(None) };
        let Ok(total) = self.0.text_length(&id) else { return Ok(None) };
        let start = (offset as u64).min(total);
        // A little more on both sides, where letters may begin and end.
        let before = start.min(LETTER);
        let wanted = before + limit as u64 + LETTER;
        let bytes = self.0.get_text(&id, start - before, wanted).map_err(text_error)?;
        let skipped = bytes.iter().take_while(|byte| !is_start(**byte)).count();
        let text = match std::str::from_utf8(&bytes[skipped..]) {
            Ok(text) => text,
            // A letter that was cut at the end.
            Err(error) => std::str::from_utf8(&bytes[skipped..skipped + error.valid_up_to()])
                .unwrap_or_default(),
        };
        let from = usize::try_from(before).unwrap_or(0).saturating_sub(skipped);
        let part = TextPart::cut(text, from, limit);
        let at = usize::try_from(start - before).unwrap_or(usize::MAX) + skipped + part.offset;
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        Ok(Some(TextPart { text: part.text, offset: at, total }))
    }
}

/// Whether a letter begins with this byte.
fn is_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

fn text_error(error: offshoot_engine::Error) -> FullTextError {
    FullTextError(error.to_string())
}
