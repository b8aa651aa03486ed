//! Which layers show a root.

use std::collections::BTreeSet;

use rusqlite::Row;

use super::reader::{Reader, join_ids, split_ids};
use super::rows::StackRow;
use super::tables::STACKS;
use super::writer::Writer;
use crate::error::StoreError;
use crate::id::Id;
use crate::object::Hash;

impl Reader<'_> {
    /// The stack that shows a root, if one is recorded.
    pub fn stack(&self, root: &Hash) -> Result<Option<StackRow>, StoreError> {
        self.row(&STACKS, "WHERE root = ?1", [root], stack_row)
    }

    /// All stacks.
    pub fn stacks(&self) -> Result<Vec<StackRow>, StoreError> {
        self.rows(&STACKS, "", [], stack_row)
    }

    /// The layers that are part of any stack, also those that only hold bytes for others.
    pub fn stacked_layers(&self) -> Result<BTreeSet<Id>, StoreError> {
        let stacks = self.stacks()?;
        Ok(stacks.into_iter().flat_map(|stack| [stack.layers, stack.data].concat()).collect())
    }
}

impl Writer<'_> {
    /// Records the stack that shows a root, in place of an earlier one.
    pub fn set_stack(&mut self, row: &StackRow) -> Result<(), StoreError> {
        self.replace(&STACKS, &[&row.root, &join_ids(&row.layers), &join_ids(&row.data)])
    }

    /// Forgets the stack of a root: another is built when it is next needed.
    pub fn remove_stack(&mut self, root: &Hash) -> Result<(), StoreError> {
        self.delete(&STACKS, "root = ?1", [root])
    }
}

fn stack_row(row: &Row<'_>) -> rusqlite::Result<StackRow> {
    let (layers, data): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(2)?);
    Ok(StackRow { root: row.get(0)?, layers: split_ids(&layers), data: split_ids(&data) })
}
