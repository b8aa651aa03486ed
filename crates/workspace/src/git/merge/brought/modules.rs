//! Commits of submodules: `git submodule update` checks out what the repository around them names.

use std::collections::BTreeSet;

use offshoot_tree::VaultPath;

use super::{Brought, Surroundings};
use crate::error::Result;
use crate::git::repository::{State, common, gitfile, is_repository};
use crate::git::working_tree::below;

/// Submodules in submodules further down are not looked at.
const DEEPEST: usize = 8;

impl Brought<'_> {
    /// Whether a commit of the submodule at a path brings what counts. One that no repository here has is fetched first, on the host.
    pub(super) fn is_in_module(
        &self,
        (path, full): (&VaultPath, &VaultPath),
        commit: &[u8],
    ) -> Result<bool> {
        let Surroundings { folder, workspace, depth, .. } = self.around;
        let mut places = BTreeSet::from([common(&self.at).join(b"modules").concat(path)]);
        for state in [folder, workspace] {
            places.insert(repository_of(state, full)?);
        }
        for at in places {
            if !is_repository(folder.tree, &at)? && !is_repository(workspace.tree, &at)? {
                continue;
            }
            let around = Surroundings { host: folder, depth: depth + 1, ..self.around };
            let module = Brought::new(around, &at, Some(full.clone()))?;
            if depth >= DEEPEST || module.is_in(commit, None)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The repository of the working tree of a submodule.
fn repository_of(state: State<'_>, folder: &VaultPath) -> Result<VaultPath> {
    let own = folder.join(b".git");
    let text = state.file(&own)?;
    let target = text.as_deref().and_then(gitfile).and_then(|it| std::str::from_utf8(it).ok());
    Ok(target.and_then(|target| below(folder, target)).unwrap_or(own))
}
