//! All of the texts of which a model read only a part.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many bytes are kept in memory.
const MOST_BYTES: usize = 64 << 20;

/// What names the full text of a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResultId(String);

impl ResultId {
    /// As somebody wrote it, or as a place that keeps texts names one.
    pub fn parse(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Keeps full texts, for a session.
pub trait FullTexts: Send + Sync {
    /// Keeps a text, and names it.
    fn keep(&self, text: &str) -> Result<ResultId, FullTextError>;

    /// A part of a text, from a byte on, of at most so many bytes; nothing if there is no such text any more.
    fn read(
        &self,
        id: &ResultId,
        offset: usize,
        limit: usize,
    ) -> Result<Option<TextPart>, FullTextError>;
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// The part.
    pub text: String,
    /// Where it starts, in bytes.
    pub offset: usize,
    /// How many bytes the whole text has.
    pub total: usize,
}

/// Why a text cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FullTextError(pub String);

impl TextPart {
    /// Cuts it out, between letters. At least one letter is in it, unless it starts at the end.
    pub fn cut(text: &str, offset: usize, limit: usize) -> Self {
        let start = text.floor_char_boundary(offset.min(text.len()));
        let end = text.floor_char_boundary(start.saturating_add(limit).min(text.len()));
        let first = text[start..].chars().next().map_or(0, char::len_utf8);
        let end = end.max(start + first);
        Self { text: text[start..end].to_owned(), offset: start, total: text.len() }
    }

    /// Where the next part starts; nothing at the end.
    pub fn next(&self) -> Option<usize> {
        let end = self.offset + self.text.len();
        (end < self.total).then_some(end)
    }
}

/// Keeps full texts in memory, as many as there is room for: the oldest go first.
#[derive(Debug)]
pub struct MemoryFullTexts {
    most: usize,
    all: Mutex<VecDeque<(ResultId, String)>>,
    kept: AtomicU64,
}

impl MemoryFullTexts {
    /// With room for so many bytes.
    pub fn new(most: usize) -> Self {
        Self { most, all: Mutex::default(), kept: AtomicU64::new(0) }
    }
}

impl Default for MemoryFullTexts {
    fn default() -> Self {
        Self::new(MOST_BYTES)
    }
}

impl FullTexts for MemoryFullTexts {
    fn keep(&self, text: &str) -> Result<ResultId, FullTextError> {
        if text.len() > self.most {
            let message = format!("{} bytes are more than are kept in memory", text.len());
            return Err(FullTextError(message));
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ResultId(format!("r-{}", self.kept.fetch_add(1, Ordering::Relaxed) + 1));
        all.push_back((id.clone(), text.to_owned()));
        let mut size: usize = all.iter().map(|(_, text)| text.len()).sum();
        while size > self.most {
            size -= all.pop_front().map_or(size, |(_, text)| text.len());
        }
        Ok(id)
    }

    fn read(
        &self,
        id: &ResultId,
        offset: usize,
        limit: usize,
    ) -> Result<Option<TextPart>, FullTextError> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|(other, _)| other == id);
        Ok(found.map(|(_, text)| TextPart::cut(text, offset, limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another() {
        let texts = MemoryFullTexts::default();
        let id = texts.keep("äöü").expect("there is room");
        let mut read = (String::new(), Some(0));
        while let Some(offset) = read.1 {
            let part = texts.read(&id, offset, 3).expect("it works").expect("it is there");
            read = (read.0 + &part.text, part.next());
        }
        assert_eq!(read.0, "äöü");
        let part = texts.read(&id, 99, 3).expect("it works").expect("it is there");
        assert_eq!((part.text.as_str(), part.next()), ("", None));
        let part = TextPart::cut("ä", 0, 1);
        assert_eq!(part.text, "ä", "a part is never empty before the end");
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let texts = MemoryFullTexts::new(10);
        let [a, b, c] = [(); 3].map(|()| texts.keep("12345").expect("there is room"));
        let has = |id: &ResultId| texts.read(id, 0, 9).expect("it works").is_some();
        assert!(!has(&a) && has(&b) && has(&c));
        let d = texts.keep("1234567890").expect("there is room");
        assert!(has(&d) && !has(&b) && !has(&c));
        assert!(texts.keep("12345678901").is_err());
        assert!(has(&d), "what does not fit drives nothing out");
    }
}
