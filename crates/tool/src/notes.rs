//! What an agent wants to remember, as data of its session.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Keeps the notes of a session.
pub trait Notes: Send + Sync {
    /// The names of all.
    fn names(&self) -> Result<Vec<String>, NotesError>;

    /// One of them.
    fn read(&self, name: &str) -> Result<Option<String>, NotesError>;

    /// Writes one; without a text it is removed.
    fn write(&self, name: &str, text: Option<&str>) -> Result<(), NotesError>;
}

/// Why notes cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotesError(pub String);

/// Keeps notes in memory.
#[derive(Debug, Default)]
pub struct MemoryNotes(Mutex<BTreeMap<String, String>>);

impl Notes for MemoryNotes {
    fn names(&self) -> Result<Vec<String>, NotesError> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> Result<Option<String>, NotesError> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.get(name).cloned())
    }

    fn write(&self, name: &str, text: Option<&str>) -> Result<(), NotesError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => drop(all.insert(name.to_owned(), text.to_owned())),
            None => drop(all.remove(name)),
        }
        Ok(())
    }
}
