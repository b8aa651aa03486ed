//! Which paths of a root are hard links: a cache, so that nobody has to walk a tree for them twice.

use rusqlite::params;

use super::reader::Reader;
use super::writer::Writer;
use crate::{Hash, StoreError};

impl Reader<'_> {
    /// What is remembered of a root's hard links.
    pub fn links(&self, root: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.has_execs()? {
            return Ok(None);
        }
        self.one("SELECT paths FROM links WHERE root = ?1", [root], |row| row.get(0))
    }
}

impl Writer<'_> {
    /// Remembers a root's hard links.
    pub fn set_links(&mut self, root: &Hash, paths: &[u8]) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO links (root, paths) VALUES (?1, ?2)
             ON CONFLICT (root) DO UPDATE SET paths = excluded.paths",
            params![root, paths],
        )
    }
}
