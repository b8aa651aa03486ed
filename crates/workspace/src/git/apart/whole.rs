//! Directories that are taken whole or not at all.

use offshoot_vault::{Entry, VaultPath};

use super::Taking;
use super::report::{GitEvent, GitNote};
use crate::error::Result;
use crate::git::names::git_directory;

impl Taking<'_, '_> {
    /// The other side's where only that changed it; where both did, the target's.
    pub(super) fn whole(&mut self, path: &VaultPath) -> Result<()> {
        let sides = self.sides;
        let (was, here, there) =
            (sides.base.tree.get(path)?, sides.target.tree.get(path)?, sides.other.tree.get(path)?);
        if same(there.as_ref(), was.as_ref()) || same(there.as_ref(), here.as_ref()) {
            return Ok(());
        }
        let is_directory =
            |entry: &Option<Entry>| entry.as_ref().is_some_and(|e| e.directory().is_some());
        // No repository of git goes because something else came to its place.
        let loses = git_directory(path).is_some() && is_directory(&here) && !is_directory(&there);
        if same(here.as_ref(), was.as_ref()) && !loses {
            return match there {
                Some(entry) => {
                    self.edit.put(path, entry, &[sides.other.tree])?;
                    Ok(())
                }
                None => self.edit.remove(path),
            };
        }
        self.directory_stays(path);
        Ok(())
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

/// Whether two versions are the same, whatever times and owners they have.
pub(super) fn same(a: Option<&Entry>, b: Option<&Entry>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_content(b),
        (None, None) => true,
        _ => false,
    }
}
