//! Sealed packs.

use super::reader::Reader;
use super::rows::PackRow;
use super::schema::HAS_PACKS;
use super::tables::PACKS;
use super::writer::Writer;
use crate::error::StoreError;
use crate::id::Id;

impl Reader<'_> {
    /// All sealed packs, oldest first.
    pub fn packs(&self) -> Result<Vec<PackRow>, StoreError> {
        if self.version()? < HAS_PACKS {
            return Ok(Vec::new());
        }
        self.rows(&PACKS, "ORDER BY id", [], |row| {
            Ok(PackRow { id: row.get(0)?, bytes: row.get(1)?, created_ms: row.get(2)? })
        })
    }
}

impl Writer<'_> {
    /// Records a sealed pack.
    pub fn add_pack(&mut self, row: &PackRow) -> Result<(), StoreError> {
        self.insert(&PACKS, &[&row.id, &row.bytes, &row.created_ms])
    }

    /// Forgets a pack that nothing names.
    pub fn remove_pack(&mut self, id: &Id) -> Result<(), StoreError> {
        self.delete(&PACKS, "id = ?1", [id])
    }
}
