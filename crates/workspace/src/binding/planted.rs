//! Names that no folder is bound by.

use std::collections::HashMap;

use offshoot_store::Id;
use offshoot_tree::Entry;
use offshoot_vault::{Vault, bound_path};

use crate::error::Result;

/// The names below which trees of the vault have files although no folder was ever bound by them here, and where that is. A command or an
/// imported vault put them there; a folder of that name would get them with the next commit.
pub(super) fn planted(vault: &Vault) -> Result<HashMap<String, String>> {
    let mut found = HashMap::new();
    let mut look = |place: String, snapshot: &Id| -> Result<()> {
        let tree = vault.tree(&vault.snapshot(snapshot)?.root)?;
        let holds = tree.get(&bound_path())?;
        let Some(dir) = holds.as_ref().and_then(Entry::directory) else { return Ok(()) };
        for entry in tree.list(dir)? {
            let name = String::from_utf8_lossy(&entry.name).into_owned();
            found.entry(name).or_insert_with(|| place.clone());
        }
        Ok(())
    };
    look("the main line".to_owned(), &vault.head()?.id)?;
    for workspace in vault.workspaces()? {
        look(format!("workspace {}", workspace.name), &workspace.state.head)?;
    }
    if !found.is_empty() {
        let known = vault.names_ever_bound()?;
        found.retain(|name, _| !known.contains(name));
    }
    Ok(found)
}
