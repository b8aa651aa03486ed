//! Directories that are taken whole or not at all.

use offshoot_vault::{Entry, VaultPath};

use super::own_name::component;
use super::report::{GitEvent, GitNote};
use super::{Taking, Unclear};
use crate::error::Result;
use crate::git::names::git_directory;

impl Taking<'_, '_> {
    /// The other side's where only that changed it. Where both did, the target's stays, and the other's is kept beside it.
    pub(super) fn whole(&mut self, path: &VaultPath) -> Result<()> {
        let sides = self.sides;
        if is_beside(path, self.target_label) {
            // The target's own, as the other side keeps it.
            return Ok(());
        }
        let was = sides.base.tree.get(path)?;
        let (here, there) = (sides.target.tree.get(path)?, sides.other.tree.get(path)?);
        if same(there.as_ref(), was.as_ref()) || same(there.as_ref(), here.as_ref()) {
            return Ok(());
        }
        let is_directory =
            |entry: &Option<Entry>| entry.as_ref().is_some_and(|e| e.directory().is_some());
        // No repository of git goes because something else came to its place.
        let loses = git_directory(path).is_some() && is_directory(&here) && !is_directory(&there);
        let seen = same(here.as_ref(), was.as_ref()) && !self.is_kept_there(path)?;
        match there {
            Some(entry) if seen && !loses => {
                self.edit.put(path, entry, &[sides.other.tree]).map(drop)
            }
            None if seen && !loses => self.edit.remove(path),
            there => {
                if let Some(entry) = there.filter(|_| self.unclear != Unclear::Stay && !loses) {
                    self.edit.put(&beside(path, self.label), entry, &[sides.other.tree])?;
                }
                self.directory_stays(path);
                Ok(())
            }
        }
    }

    /// Whether the other side keeps what the target has beside its own: it has it, and went on without it.
    pub(super) fn is_kept_there(&self, path: &VaultPath) -> Result<bool> {
        let here = self.sides.target.tree.get(path)?;
        let kept = self.sides.other.tree.get(&beside(path, self.target_label))?;
        let matters = here.is_some() && self.unclear == Unclear::Apart;
        Ok(matters && same(here.as_ref(), kept.as_ref()))
    }

    /// Says that the target's directory stays as it is.
    pub(super) fn directory_stays(&mut self, path: &VaultPath) {
        let event = GitEvent::DirectoryStayed;
        self.note(path, event, String::new(), None, None);
    }

    /// Adds to what is told.
    pub(super) fn note(
        &mut self,
        repository: &VaultPath,
        event: GitEvent,
        name: String,
        from: Option<&[u8]>,
        to: Option<&[u8]>,
    ) {
        let text = |value: Option<&[u8]>| value.map(|it| String::from_utf8_lossy(it).into_owned());
        self.report.notes.push(GitNote {
            repository: repository.clone(),
            event,
            name,
            side: self.label.to_owned(),
            from: text(from),
            to: text(to),
        });
    }
}

/// Where the version of a side is kept that the target did not take.
pub(super) fn beside(path: &VaultPath, label: &str) -> VaultPath {
    let name = path.name().unwrap_or_default();
    let name = [name, b"~", component(label).as_bytes()].concat();
    path.parent().unwrap_or_default().join(&name)
}

fn is_beside(path: &VaultPath, label: &str) -> bool {
    let end = format!("~{}", component(label)).into_bytes();
    path.name().is_some_and(|name| name.ends_with(&end))
}

/// Whether two versions are the same, whatever times and owners they have.
pub(super) fn same(a: Option<&Entry>, b: Option<&Entry>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_content(b),
        (None, None) => true,
        _ => false,
    }
}
