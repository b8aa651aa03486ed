//! Which layers show a root.

use std::collections::BTreeSet;

use rusqlite::{Row, params};

use super::reader::{Reader, join_ids, split_ids};
use super::rows::StackRow;
use super::schema::HAS_DATA_LAYERS;
use super::writer::Writer;
use crate::{Hash, Id, StoreError};

impl Reader<'_> {
    /// The stack that shows a root, if one is recorded.
    pub fn stack(&self, root: &Hash) -> Result<Option<StackRow>, StoreError> {
        self.one(&format!("{} WHERE root = ?1", self.select_stack()?), [root], stack_row)
    }

    /// All stacks.
    pub fn stacks(&self) -> Result<Vec<StackRow>, StoreError> {
        self.all(self.select_stack()?, [], stack_row)
    }

    /// The layers that are part of any stack, also those that only hold bytes for others.
    pub fn stacked_layers(&self) -> Result<BTreeSet<Id>, StoreError> {
        let stacks = self.stacks()?;
        Ok(stacks.into_iter().flat_map(|stack| [stack.layers, stack.data].concat()).collect())
    }

    fn select_stack(&self) -> Result<&'static str, StoreError> {
        Ok(match self.version()? >= HAS_DATA_LAYERS {
            true => "SELECT root, layers, data FROM stacks",
            false => "SELECT root, layers, x'' FROM stacks",
        })
    }
}

impl Writer<'_> {
    /// Records the stack that shows a root, in place of an earlier one.
    pub fn set_stack(&mut self, row: &StackRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO stacks (root, layers, data) VALUES (?1, ?2, ?3)
             ON CONFLICT (root) DO UPDATE SET layers = excluded.layers, data = excluded.data",
            params![row.root, join_ids(&row.layers), join_ids(&row.data)],
        )
    }

    /// Forgets the stack of a root: another is built when it is next needed.
    pub fn remove_stack(&mut self, root: &Hash) -> Result<(), StoreError> {
        self.execute("DELETE FROM stacks WHERE root = ?1", params![root])
    }
}

fn stack_row(row: &Row<'_>) -> rusqlite::Result<StackRow> {
    let (layers, data): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(2)?);
    Ok(StackRow { root: row.get(0)?, layers: split_ids(&layers), data: split_ids(&data) })
}
