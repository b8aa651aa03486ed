//! Making a folder one of the vault's.

use std::path::Path;

use offshoot_store::Id;
use offshoot_tree::display_bytes;
use offshoot_vault::{
    Actor, Binding, ImportOptions, ImportReport, Imported, NewSnapshot, Transaction, Vault,
};

use super::error::BindingError;
use super::host::capture;
use crate::error::Result;

/// A folder that was bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The binding.
    pub binding: Binding,
    /// The operation that made it.
    pub operation: Option<Id>,
    /// What was found in all folders.
    pub report: ImportReport,
}

/// A folder that is about to be bound, with nothing against it.
pub(super) struct NewFolder<'a> {
    pub(super) name: &'a str,
    pub(super) directory: &'a Path,
    /// The git directory of the first folder.
    pub(super) git: bool,
}

impl NewFolder<'_> {
    fn binding(&self, id: Id, created_ms: u64) -> Binding {
        Binding { git: self.git, ..Binding::new(id, self.name, self.directory, created_ms) }
    }
}

/// Takes in what is in a folder, with all others, and records it as one of the vault's.
pub(super) fn bind(
    vault: &Vault,
    actor: &Actor,
    folder: &NewFolder<'_>,
    before: &[Binding],
    options: &ImportOptions,
) -> Result<Bound> {
    let mut all = before.to_vec();
    all.push(folder.binding(Id::random(), 0));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let imported = capture(vault, &all, options)?;
    let committed = vault.transact("binding add", actor, |tx| {
        if tx.bindings()? != before {
            return Ok(None);
        }
        let binding = folder.binding(tx.new_id(), tx.time_ms());
        imported.record(tx)?;
        move_head(tx, &imported)?;
        tx.set_binding(&binding)?;
        tx.summary(format!("bind {} as {}", display_bytes(&binding.path), folder.name));
        Ok(Some(binding))
    })?;
    let binding = committed.value.ok_or(BindingError::Overtaken)?;
    Ok(Bound { binding, operation: committed.operation, report: imported.report })
}

/// Makes what was captured the newest state of the main line.
fn move_head(tx: &mut Transaction<'_, '_>, imported: &Imported) -> offshoot_vault::Result<()> {
    let parents = tx.head()?.into_iter().collect();
    let snapshot = tx.add_snapshot(NewSnapshot {
        root: imported.root,
        content: imported.content,
        parents,
        reason: "import".to_owned(),
        message: None,
    })?;
    tx.set_head(snapshot.id)
}

/// The first name that nothing has yet: as it is, or with a number.
pub(super) fn numbered(own: &str, suffix: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let first = format!("{own}{suffix}");
    let more = (2..).map(|number| format!("{own}-{number}{suffix}"));
    let mut names = std::iter::once(first.clone()).chain(more);
    names.find(|name| !is_taken(name)).unwrap_or(first)
}
