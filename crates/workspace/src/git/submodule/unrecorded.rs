//! Submodules that came along at another commit, which the repository around them does not record.

use offshoot_tree::{RootId, Tree, VaultPath};
use offshoot_vault::{Binding, Vault};

use crate::error::Result;
use crate::git::git_file::leads_to;
use crate::git::index::first_index;
use crate::git::merge::hex;
use crate::git::repository::{State, resolve};

/// What git calls a submodule in an index.
const SUBMODULE: u32 = 0o160_000;

/// The submodules of the first folder that are at another commit in `after` than in `before`, where no commit of the repository around them says
/// so. What is only staged there is none.
pub fn unrecorded_submodules(
    vault: &Vault,
    before: &RootId,
    after: &RootId,
) -> Result<Vec<VaultPath>> {
    let Some(index) = first_index(vault, after)? else { return Ok(Vec::new()) };
    let listed = index.iter().filter(|(_, entry)| entry.mode == SUBMODULE);
    let mut listed = listed.filter(|((_, stage), _)| *stage == 0).peekable();
    if listed.peek().is_none() {
        return Ok(Vec::new());
    }
    let (objects, bindings) = (vault.objects()?, vault.bindings()?);
    let trees = [Tree::open(objects, before)?, Tree::open(objects, after)?];
    let [was, is] = trees.each_ref().map(|tree| State { objects, tree });
    let around = VaultPath::top();
    let no_commit = head(was, &around, &bindings)? == head(is, &around, &bindings)?;
    let staged_before = first_index(vault, before)?.unwrap_or_default();
    let mut found = Vec::new();
    for (key, entry) in listed {
        let Ok(path) = VaultPath::parse(&key.0) else { continue };
        let Some(now) = head(is, &path, &bindings)? else { continue };
        if head(was, &path, &bindings)?.as_ref() == Some(&now) {
            continue;
        }
        let was_staged = staged_before.get(key).is_some_and(|it| it.object == entry.object);
        if now != hex(&entry.object) || (no_commit && !was_staged) {
            found.push(path);
        }
    }
    Ok(found)
}

/// The commit that a working tree is at.
fn head(state: State<'_>, folder: &VaultPath, bindings: &[Binding]) -> Result<Option<Vec<u8>>> {
    let repository = match leads_to(state, folder, bindings)? {
        Some(repository) => repository,
        None => state.repository_at(folder)?,
    };
    Ok(resolve(&state.refs(&repository)?, b"HEAD"))
}
