//! Refs that a repository lost without git: nobody deleted or moved them, so they stay.

use offshoot_tree::VaultPath;

use super::directory::ref_files::{log_path, ref_path, text};
use super::logs;
use super::ref_notes::REPORTED;
use super::report::GitEvent;
use super::taking::{Taking, UnclearRefs};
use crate::error::Result;
use crate::git::repository::Refs;

/// Where branches are.
const BRANCHES: &[u8] = b"refs/heads/";
/// What became of one.
pub(super) const DELETED: &str = "it was deleted there, but not by git";

impl Taking<'_, '_> {
    /// Puts back what is gone from a repository that is broken, or must be: it counts as not moved.
    pub(super) fn restore_lost(
        &mut self,
        repository: &VaultPath,
        (base, target): (&Refs, &Refs),
        other: &mut Refs,
        is_broken: bool,
    ) -> Result<()> {
        if self.unclear == UnclearRefs::Stay {
            return Ok(());
        }
        let why = match is_broken {
            true => Some(DELETED),
            false => self.why_lost(repository, base, other)?,
        };
        let Some(why) = why else { return Ok(()) };
        let gone: Vec<_> = base.iter().filter(|(name, _)| !other.contains_key(*name)).collect();
        for (name, was) in gone {
            other.insert(name.clone(), was.clone());
            let is_told = REPORTED.iter().any(|kind| name.starts_with(kind));
            if let Some(here) = target.get(name).filter(|_| is_told) {
                let event = GitEvent::NotBrought(why.to_owned());
                self.note(repository, event, text(name), Some(here), None);
            }
        }
        Ok(())
    }

    /// Why what is gone from a repository was not deleted by git; nothing where it may have been. Git deletes no branch that is checked
    /// out, and never the list of packed refs.
    fn why_lost(
        &self,
        repository: &VaultPath,
        base: &Refs,
        other: &Refs,
    ) -> Result<Option<&'static str>> {
        let head = other.get(b"HEAD".as_slice()).and_then(|head| head.strip_prefix(b"ref:"));
        let head = head.map(|name| name.trim_ascii().to_vec());
        if head.is_some_and(|name| base.contains_key(&name) && !other.contains_key(&name)) {
            return Ok(Some("it was deleted there with the branch that is checked out there"));
        }
        let has_branches = |refs: &Refs| refs.keys().any(|name| name.starts_with(BRANCHES));
        if has_branches(base) && !has_branches(other) {
            return Ok(Some("it was deleted there with all branches"));
        }
        // A workspace that pulled need not have the folder's list.
        let had = self.meetings.first().map_or(self.sides.base.tree, |(_, other)| other);
        let packed = repository.join(b"packed-refs");
        let is_gone = had.get(&packed)?.is_some() && self.sides.other.tree.get(&packed)?.is_none();
        Ok(is_gone.then_some("packed-refs is missing there"))
    }

    /// Whether a ref is what the list of packed refs said before, only because its file is gone: nobody moved it there.
    pub(super) fn fell_back(
        &self,
        repository: &VaultPath,
        name: &[u8],
        there: &[u8],
    ) -> Result<bool> {
        let (base, other) = (self.sides.base, self.sides.other);
        let file = ref_path(repository, name);
        if self.unclear == UnclearRefs::Stay
            || base.tree.get(&file)?.is_none()
            || other.tree.get(&file)?.is_some()
            || base.packed_refs(repository)?.get(name).map(Vec::as_slice) != Some(there)
        {
            return Ok(false);
        }
        let log = other.file(&log_path(repository, name))?.unwrap_or_default();
        Ok(logs::last_value(&log) != Some(there))
    }
}
