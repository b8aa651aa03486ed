//! Submodules that were made ready inside of a workspace, with `git submodule update --init` or `add`: which of them can come home.
//!
//! Such a submodule is a repository below `modules/`, a `.git` file in its working tree that leads there, and lines in the settings of the
//! repository around it. It comes home by itself where git runs nothing for it: its settings are those that git writes, it has no hooks, and
//! it and its working tree name each other. Otherwise all of it stays, its files too: a working tree without its repository is in git's way.

mod settings;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use offshoot_vault::diff::Change;
use offshoot_vault::{Binding, Body, Entry, EntryKind, Objects, Tree, VaultPath};

use self::settings::{Settings, adds_only_submodules};
use super::names::is_name;
use super::planted::{Planted, sensitive};
use super::repository::{State, gitfile};
use crate::binding::host_place;
use crate::error::Result;
use crate::home::bytes_path;

/// What is known about the new submodules of a set of changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Submodules {
    /// The repositories that git runs nothing for.
    pub(super) plain: BTreeSet<VaultPath>,
    /// The `.git` files that lead to them, and settings that only name submodules.
    files: BTreeSet<VaultPath>,
    /// The working trees of those that stay.
    held: BTreeSet<VaultPath>,
}

impl Submodules {
    /// Looks at the repositories that are new below `modules/`.
    pub(super) fn of(
        changes: &[Change],
        modules: &BTreeSet<VaultPath>,
        before: State<'_>,
        after: State<'_>,
        bindings: &[Binding],
    ) -> Result<Self> {
        let mut found = Self::default();
        for change in changes {
            if change.path.name() == Some(b"config") && names_submodules(change, after.objects)? {
                found.files.insert(change.path.clone());
            }
            let is_link = change.path.name() == Some(b".git") && change.before.is_none();
            let Some(folder) = change.path.parent().filter(|_| is_link) else { continue };
            let Some(module) = leads_to(&folder, modules, after, bindings)? else { continue };
            let look = Look { module, folder: &folder, modules, bindings, after };
            if look.is_plain()? {
                found.plain.insert(module.clone());
                found.files.insert(change.path.clone());
            } else if is_empty(before.tree, &folder)? {
                found.held.insert(folder);
            }
        }
        Ok(found)
    }

    /// Whether a path can come home though its name says otherwise.
    pub(super) fn lets(&self, path: &VaultPath) -> bool {
        self.files.contains(path) || self.plain.iter().any(|module| path.is_within(module))
    }

    /// Whether a path is in the working tree of a submodule that stays.
    pub(super) fn holds(&self, path: &VaultPath, before: Option<&Entry>) -> bool {
        before.is_none() && self.held.iter().any(|folder| path.is_within(folder))
    }
}

/// Whether the only difference of settings is that they name submodules.
fn names_submodules(change: &Change, objects: &Objects) -> Result<bool> {
    let text = |entry: Option<&Entry>| match entry.map(|entry| &entry.body) {
        Some(Body::File { blob, .. }) => objects.blob(blob).map(Some),
        _ => Ok(None),
    };
    let (before, after) = (text(change.before.as_deref())?, text(change.after.as_deref())?);
    Ok(before.zip(after).is_some_and(|(before, after)| adds_only_submodules(&before, &after)))
}

/// The new repository that the `.git` file of a working tree leads to.
fn leads_to<'m>(
    folder: &VaultPath,
    modules: &'m BTreeSet<VaultPath>,
    after: State<'_>,
    bindings: &[Binding],
) -> Result<Option<&'m VaultPath>> {
    let Some(text) = after.file(&folder.join(b".git"))? else { return Ok(None) };
    let (Some(target), Some(here)) = (gitfile(&text), on_host(bindings, folder)) else {
        return Ok(None);
    };
    let target = resolved(&here, bytes_path(target));
    Ok(modules.iter().find(|module| target.is_some() && on_host(bindings, module) == target))
}

/// A new repository and the working tree that leads to it.
struct Look<'l> {
    module: &'l VaultPath,
    folder: &'l VaultPath,
    /// All that are new: one in another is looked at by itself.
    modules: &'l BTreeSet<VaultPath>,
    bindings: &'l [Binding],
    after: State<'l>,
}

impl Look<'_> {
    /// Whether git runs nothing for it, and it is the repository of this working tree alone.
    fn is_plain(&self) -> Result<bool> {
        let tree = self.after.tree;
        let Some(top) = tree.get(self.module)? else { return Ok(false) };
        let Some(directory) = top.directory() else { return Ok(false) };
        let mut plain = self.is_led_back()?;
        tree.walk(self.module, directory, &mut |path, entry| {
            plain = plain && (self.is_in_another(path) || self.is_harmless(path, entry));
            Ok(())
        })?;
        Ok(plain)
    }

    /// Whether its settings are those that git writes for the repository of this working tree.
    fn is_led_back(&self) -> Result<bool> {
        let text = self.after.file(&self.module.join(b"config"))?;
        let Some(settings) = text.and_then(|text| Settings::read(&text)) else { return Ok(false) };
        let Some(here) = on_host(self.bindings, self.module) else { return Ok(false) };
        let named = settings.worktree.and_then(|path| resolved(&here, Path::new(&path)));
        Ok(named.is_some() && named == on_host(self.bindings, self.folder))
    }

    fn is_in_another(&self, path: &VaultPath) -> bool {
        let is_inner = |it: &&VaultPath| *it != self.module && it.is_within(self.module);
        self.modules.iter().filter(is_inner).any(|inner| path.is_within(inner))
    }

    fn is_harmless(&self, path: &VaultPath, entry: &Entry) -> bool {
        let inside = &path.names()[self.module.names().len()..];
        let [first, rest @ ..] = inside else { return true };
        if !matches!(entry.kind(), EntryKind::File | EntryKind::Directory) {
            return false;
        }
        match sensitive(first, rest) {
            None => !is_name(first, "worktrees"),
            // Its text was read.
            Some(Planted::Config) => first == b"config",
            // A directory without hooks.
            Some(Planted::Hook) => rest.is_empty() && entry.directory().is_some(),
            Some(_) => false,
        }
    }
}

/// Whether nothing is in a directory, or there is none.
pub(super) fn is_empty(tree: &Tree<'_>, path: &VaultPath) -> Result<bool> {
    let entry = tree.get(path)?;
    let directory = entry.as_ref().map(|entry| entry.directory());
    Ok(directory.is_none_or(|directory| directory.is_some_and(|found| found.entries == 0)))
}

/// Where a path is on the host.
fn on_host(bindings: &[Binding], path: &VaultPath) -> Option<PathBuf> {
    host_place(bindings, path).map(|(_, place)| place)
}

/// What a path means that was written in a directory. No link is followed: there are none on the way to what Offshoot knows.
fn resolved(here: &Path, path: &Path) -> Option<PathBuf> {
    let mut place = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => place.pop().then_some(())?,
            Component::CurDir => {}
            part => place.push(part),
        }
    }
    Some(place)
}
