//! The files that belong to a repository, and what its index says of them.

use offshoot_tree::VaultPath;

use super::index::{self, Index};
use super::merge::hex;
use super::names::is_name;
use super::repository::{State, common, path_of};
use crate::error::Result;
use crate::trusted::read_settings;

impl State<'_> {
    /// Where the files are that a repository, or what belongs to a further working tree, is about. Nothing where the vault does not tell.
    pub(crate) fn working_tree(&self, at: &VaultPath) -> Result<Option<VaultPath>> {
        let first = VaultPath::top();
        let own = self.repository_at(&first)?;
        if *at == own || *at == common(&own) {
            return Ok(Some(first));
        }
        let shared = common(at);
        if shared != *at {
            return self.worktree_folder(&shared, at);
        }
        if at.name().is_some_and(|name| is_name(name, ".git")) {
            return Ok(at.parent());
        }
        let text = self.file(&at.join(b"config"))?.unwrap_or_default();
        let named = read_settings(&text).into_iter().rfind(|(key, _)| key == "core.worktree");
        Ok(named.and_then(|(_, path)| below(at, &path)))
    }

    /// The files of an index, also of one that is split over two files. What it has in another version that cannot be told has no object.
    pub(crate) fn whole_index(&self, at: &VaultPath) -> Result<Option<Index>> {
        let Some(bytes) = self.file(&at.join(b"index"))? else { return Ok(None) };
        if let Some(index) = index::parse(&bytes) {
            return Ok(Some(index));
        }
        let Some(own) = index::parse_part(&bytes) else { return Ok(None) };
        let is_unclear = own.keys().any(|(path, _)| path.is_empty());
        let mut all = Index::new();
        for id in index::shared(&bytes) {
            let name = [b"sharedindex.".as_slice(), &hex(id)].concat();
            let shared = self.file(&at.join(&name))?;
            all.extend(shared.and_then(|bytes| index::parse_part(&bytes)).unwrap_or_default());
        }
        if is_unclear {
            all.values_mut().for_each(|entry| entry.object.clear());
        }
        all.extend(own.into_iter().filter(|((path, _), _)| !path.is_empty()));
        Ok(Some(all))
    }
}

/// A relative path as seen from a directory; nothing where it leads out of the vault.
pub(super) fn below(at: &VaultPath, path: &str) -> Option<VaultPath> {
    let mut names = at.names().to_vec();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name.as_bytes().to_vec()),
        }
    }
    (!path.starts_with('/')).then(|| path_of(&names))
}
