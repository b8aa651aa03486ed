//! Directories that are taken whole or not at all.

use offshoot_tree::{Entry, VaultPath};

use super::own_name::component;
use super::report::{BROKEN, CHANGED_SINCE, GitEvent, GitNote};
use super::taking::{Taking, UnclearRefs};
use crate::error::Result;
use crate::git::names::git_directory;
use crate::side_label::HEAD_LABEL;

impl Taking<'_, '_> {
    /// The other side's where only that changed it. Where both did, or the other side never had what the target has, the target's stays
    /// and the other's is kept beside it.
    pub(super) fn whole(&mut self, path: &VaultPath) -> Result<()> {
        let sides = self.sides;
        // What one side keeps of the other is not decided by that one.
        let kept = [self.target_label, self.label].iter().any(|label| is_beside(path, label));
        if kept && self.unclear != UnclearRefs::Stay {
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
        let seen = self.has_seen(path, here.as_ref(), was.as_ref())?;
        match there {
            Some(entry) if seen && !loses => {
                self.edit.put(path, entry, &[sides.other.tree]).map(drop)
            }
            None if seen && !loses => self.edit.remove(path),
            Some(entry) if !loses && self.unclear != UnclearRefs::Stay => {
                if self.contains(path)? {
                    return self.take_containing(path, entry);
                }
                // Where it lies there already, somebody was told when it was put there.
                if let Some(kept) = self.keep_beside(path, entry)? {
                    self.directory_stays(path, Some(&kept));
                }
                Ok(())
            }
            _ if loses => {
                self.directory_kept(path, BROKEN);
                Ok(())
            }
            _ if self.unclear == UnclearRefs::Stay => {
                self.directory_kept(path, CHANGED_SINCE);
                Ok(())
            }
            _ => {
                self.directory_stays(path, None);
                Ok(())
            }
        }
    }

    /// Whether the other side had what the target has, and went on from there. What it only keeps beside its own, or did not take at all,
    /// it has not seen, though the base has it.
    pub(super) fn has_seen(
        &self,
        path: &VaultPath,
        here: Option<&Entry>,
        was: Option<&Entry>,
    ) -> Result<bool> {
        match self.unclear {
            UnclearRefs::Stay => Ok(same(here, was)),
            UnclearRefs::Follow => Ok(same(here, was) && !self.is_kept_there(path)?),
            UnclearRefs::Apart if self.meetings.is_empty() => Ok(same(here, was)),
            UnclearRefs::Apart => {
                for (target, other) in self.meetings {
                    let met = target.get(path)?;
                    if same(met.as_ref(), other.get(path)?.as_ref()) {
                        return Ok(same(here, met.as_ref()));
                    }
                }
                Ok(false)
            }
        }
    }

    /// Puts the other side's version beside the target's, and says where; nothing where it lies there already.
    fn keep_beside(&mut self, path: &VaultPath, entry: Entry) -> Result<Option<VaultPath>> {
        let mut number = 1;
        loop {
            let name = beside(path, self.label, number);
            match self.sides.target.tree.get(&name)? {
                Some(now) if now.same_content(&entry) => return Ok(None),
                // It has something that the other side's new version did not come from.
                Some(now) if !self.was_theirs(path, &now)? => number += 1,
                _ => {
                    self.edit.put(&name, entry, &[self.sides.other.tree])?;
                    self.beside.push(name.clone());
                    return Ok(Some(name));
                }
            }
        }
    }

    /// Whether the other side had this version itself once.
    fn was_theirs(&self, path: &VaultPath, version: &Entry) -> Result<bool> {
        for (_, other) in self.meetings {
            if same(other.get(path)?.as_ref(), Some(version)) {
                return Ok(true);
            }
        }
        let base = self.sides.base.tree.get(path)?;
        Ok(self.meetings.is_empty() && same(base.as_ref(), Some(version)))
    }

    /// Whether the other side keeps what the target has beside its own: it has it, and went on without it.
    pub(super) fn is_kept_there(&self, path: &VaultPath) -> Result<bool> {
        let Some(here) = self.sides.target.tree.get(path)? else { return Ok(false) };
        let mut number = 1;
        while let Some(kept) =
            self.sides.other.tree.get(&beside(path, self.target_label, number))?
        {
            if kept.same_content(&here) {
                return Ok(true);
            }
            number += 1;
        }
        Ok(false)
    }

    /// Says that the target's directory stays as it is, and where the other side's lies.
    pub(super) fn directory_stays(&mut self, path: &VaultPath, kept: Option<&VaultPath>) {
        let event = GitEvent::DirectoryStayed(kept.map(ToString::to_string));
        self.note(path, event, String::new(), None, None);
    }

    /// Says why the target's directory stays as it is, whatever the other side did.
    pub(super) fn directory_kept(&mut self, path: &VaultPath, why: &'static str) {
        self.note(path, GitEvent::DirectoryKept(why), String::new(), None, None);
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
            way: None,
            logged: false,
        });
    }
}

/// Where the version of a side is kept that the target did not take; further ones are numbered.
pub(super) fn beside(path: &VaultPath, label: &str, number: usize) -> VaultPath {
    let name = path.name().unwrap_or_default();
    let mut name = [name, b"~", component(label).as_bytes()].concat();
    if number > 1 {
        name.extend(format!("-{number}").into_bytes());
    }
    path.parent().unwrap_or_default().join(&name)
}

fn is_beside(path: &VaultPath, label: &str) -> bool {
    path.name().is_some_and(|name| is_beside_name(name, label))
}

fn is_beside_name(name: &[u8], label: &str) -> bool {
    let plain = match name.iter().rposition(|byte| *byte == b'-') {
        Some(at) if at + 1 < name.len() && name[at + 1..].iter().all(u8::is_ascii_digit) => {
            &name[..at]
        }
        _ => name,
    };
    let end = format!("~{}", component(label)).into_bytes();
    name.ends_with(&end) || plain.ends_with(&end)
}

/// Whether a path belongs to what a workspace keeps of the folder beside its own: the folder has that already.
pub(crate) fn is_the_folders(path: &VaultPath) -> bool {
    path.names().iter().any(|name| is_beside_name(name, HEAD_LABEL))
}

/// Whether two versions are the same, whatever times and owners they have.
pub(super) fn same(a: Option<&Entry>, b: Option<&Entry>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_content(b),
        (None, None) => true,
        _ => false,
    }
}
