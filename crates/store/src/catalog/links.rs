//! Which paths of a root are hard links: a cache, so that nobody has to walk a tree for them twice.

use super::reader::Reader;
use super::tables::LINKS;
use super::writer::Writer;
use crate::error::StoreError;
use crate::object::Hash;

impl Reader<'_> {
    /// What is remembered of a root's hard links.
    pub fn links(&self, root: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.has_execs()? {
            return Ok(None);
        }
        self.row(&LINKS, "WHERE root = ?1", [root], |row| row.get(1))
    }
}

impl Writer<'_> {
    /// Remembers a root's hard links.
    pub fn set_links(&mut self, root: &Hash, paths: &[u8]) -> Result<(), StoreError> {
        self.replace(&LINKS, &[root, &paths])
    }
}
