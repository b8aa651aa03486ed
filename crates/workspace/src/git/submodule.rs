//! Submodules that were made ready inside of a workspace, with `git submodule update --init` or `add`: which of them can reach the folder.
//!
//! Such a submodule is a repository below `modules/`, a `.git` file in its working tree that leads there, and lines in the settings of the
//! repository around it. It reaches the folder by itself where git runs nothing for it: its settings are those that git writes, it has no hooks, and
//! it and its working tree name each other. Otherwise all of it stays, its files [too](super::nested): a working tree without its repository is
//! in git's way.

mod settings;
mod unrecorded;

use std::collections::BTreeSet;
use std::path::Path;

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, EntryKind, Objects, VaultPath};
use offshoot_vault::Binding;

pub(super) use self::settings::moved_to;
use self::settings::{Settings, adds_only_submodules};
pub use self::unrecorded::unrecorded_submodules;
use super::git_file::{leads_to, on_host, resolved};
use super::names::is_name;
use super::planted::{Planted, addresses, sensitive};
use super::repository::State;
use crate::error::Result;

/// What is known about the new submodules of a set of changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Submodules {
    /// The repositories that git runs nothing for.
    pub(super) plain: BTreeSet<VaultPath>,
    /// The `.git` files that lead to them, and settings that only name submodules.
    files: BTreeSet<VaultPath>,
}

impl Submodules {
    /// Looks at the repositories that are new below `modules/`; some have files that something on the host runs or obeys.
    pub(super) fn of(
        changes: &[Change],
        (modules, tainted): (&BTreeSet<VaultPath>, &BTreeSet<VaultPath>),
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
            let place = leads_to(after, &folder, bindings)?;
            let Some(module) = place.filter(|place| modules.contains(place)) else { continue };
            let look = Look { module: &module, folder: &folder, modules, bindings, after };
            if !tainted.contains(&module) && look.is_plain()? {
                found.files.insert(change.path.clone());
                found.plain.insert(module);
            }
        }
        Ok(found)
    }

    /// Whether a path can reach the folder though its name says otherwise.
    pub(super) fn lets(&self, path: &VaultPath) -> bool {
        self.files.contains(path) || self.plain.iter().any(|module| path.is_within(module))
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
        let is_plain = matches!(entry.kind(), EntryKind::File | EntryKind::Directory);
        if !is_plain || addresses(inside).is_some() {
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
