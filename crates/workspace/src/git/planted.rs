//! Changes that would make the host run something by itself, as soon as anybody uses git there.

mod look;
mod replaced;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Entry, EntryKind, Objects, Tree, VaultPath};
use offshoot_vault::Binding;

use super::names::{git_directory, is_name, within_repository};
use super::nested::{Look, Nested};
use super::repository::{State, is_repository, path_of};
use super::submodule::Submodules;
use crate::error::Result;
use look::{is_module_part, leads_elsewhere, look, shadows_ref};
use replaced::Replaced;

/// What is planted, and so held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Planted {
    /// A program that git runs at some occasion.
    Hook,
    /// Settings, some of which name programs that git runs.
    Config,
    /// Which files go through which programs.
    Attributes,
    /// Another place that git takes objects, settings or a whole repository from.
    Redirect,
    /// An object that git takes in place of another one.
    Replacement,
    /// Steps that git goes on with when it is told to continue.
    Todo,
    /// A symbolic link inside of a repository.
    Link,
    /// A directory that git would take for a repository.
    Repository,
    /// A part of a repository that is of no use without what is planted in it.
    Dependent,
    /// What belongs to another checkout of the same repository.
    OtherCheckout,
    /// A repository that is gone.
    Gone,
    /// A working tree that the folder has newer work in.
    Newer,
}

impl Planted {
    /// What it is, for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "a git hook",
            Self::Config => "a git configuration",
            Self::Attributes => "git attributes",
            Self::Redirect => "a place that git is sent to",
            Self::Replacement => "an object that git takes for another one",
            Self::Todo => "steps for git to take",
            Self::Link => "a link inside of a git repository",
            Self::Repository => "a git repository",
            Self::Dependent => "part of a git repository that needs what is held back",
            Self::OtherCheckout => "part of another checkout",
            Self::Gone => "a deleted git repository",
            Self::Newer => "a working tree with newer work in the folder",
        }
    }
}

/// What a change to a path plants, as far as its name tells: inside of anything that is called `.git`.
///
/// Whatever changes what git runs counts, also a hook that goes or is no longer executable. What only got another time or
/// owner does not, and neither do directories that are there before and after.
pub fn planted(path: &VaultPath, before: Option<&Entry>, after: Option<&Entry>) -> Option<Planted> {
    if !matters(before, after) {
        return None;
    }
    match within_repository(path)? {
        [] => gitlink(before, after),
        inside => in_repository(inside, after),
    }
}

/// Whether anything but times, owners and attributes changed.
fn matters(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            let directories = before.directory().is_some() && after.directory().is_some();
            !directories && !before.same_content(after)
        }
        _ => true,
    }
}

/// A `.git` that is no directory sends git elsewhere.
fn gitlink(before: Option<&Entry>, after: Option<&Entry>) -> Option<Planted> {
    let elsewhere = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.directory().is_none());
    (elsewhere(before) || elsewhere(after)).then_some(Planted::Redirect)
}

/// What a path inside of a repository is to git; the repositories of modules and other working trees lie in it.
fn in_repository(inside: &[Vec<u8>], after: Option<&Entry>) -> Option<Planted> {
    let is_link = after.is_some_and(|entry| entry.kind() == EntryKind::Symlink);
    let inside = own_part(inside);
    let named = match inside {
        [] => None,
        [first, rest @ ..] => sensitive(first, rest),
    };
    named.or(is_link.then_some(Planted::Link))
}

/// The part of a path that is inside the innermost repository: below `modules/NAME`, where the name may have slashes, and
/// `worktrees/NAME`.
fn own_part(inside: &[Vec<u8>]) -> &[Vec<u8>] {
    match inside {
        [kind, rest @ ..] if is_name(kind, "modules") => {
            // The name of a module may be a path, so each part may be where its repository starts.
            let starts = (1..rest.len()).rev();
            let found =
                starts.map(|at| &rest[at..]).find(|part| sensitive(&part[0], &part[1..]).is_some());
            found.unwrap_or(rest)
        }
        // A working tree has modules of its own.
        [kind, _, rest @ ..] if is_name(kind, "worktrees") => own_part(rest),
        _ => inside,
    }
}

/// The directory of steps that a path is, or is in.
pub(crate) fn steps(path: &VaultPath) -> Option<VaultPath> {
    let inside = own_part(within_repository(path)?);
    let (first, rest) = inside.split_first()?;
    let end = path.names().len() - rest.len();
    (sensitive(first, rest) == Some(Planted::Todo)).then(|| path_of(&path.names()[..end]))
}

/// What a path means to git that starts with these names below a repository.
pub(super) fn sensitive(first: &[u8], rest: &[Vec<u8>]) -> Option<Planted> {
    let is = |wanted: &str| is_name(first, wanted);
    let below = |names: &[&str]| {
        rest.len() == names.len() && rest.iter().zip(names).all(|(a, b)| is_name(a, b))
    };
    if is("hooks") {
        // Git makes these with every repository and never runs them.
        let is_sample = matches!(rest, [name] if name.ends_with(b".sample"));
        return (!is_sample).then_some(Planted::Hook);
    }
    if is("rebase-merge") || is("rebase-apply") || is("sequencer") {
        return Some(Planted::Todo);
    }
    if rest.is_empty() {
        return match () {
            () if is("config") || is("config.worktree") => Some(Planted::Config),
            () if is("commondir") || is("gitdir") => Some(Planted::Redirect),
            () => None,
        };
    }
    if is("refs") && rest.len() > 1 && is_name(&rest[0], "replace") {
        return Some(Planted::Replacement);
    }
    if is("info") && (below(&["attributes"]) || below(&["grafts"])) {
        return Some(Planted::Attributes);
    }
    let objects =
        is("objects") && (below(&["info", "alternates"]) || below(&["info", "http-alternates"]));
    objects.then_some(Planted::Redirect)
}

/// Finds everything that a set of changes plants, also directories that git would take for a repository whatever they are called.
#[derive(Clone, Debug, Default)]
pub struct Planting {
    /// Directories that look like a repository after the changes, and what they were before.
    repositories: BTreeMap<VaultPath, Was>,
    /// Repositories called `.git` that are gone.
    gone: BTreeSet<VaultPath>,
    submodules: Submodules,
    /// Steps that were finished, or given up: git has nothing to go on with, so that they are gone plants nothing.
    finished: BTreeSet<VaultPath>,
    /// Files that git would take for refs, before those that people know by the same names.
    refs: BTreeSet<VaultPath>,
    /// Objects that git would take for others.
    replaced: Replaced,
    nested: Nested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Was {
    Nothing,
    Directory,
    Repository,
    /// Nothing, or a repository in another format: it cannot be without what is planted in it.
    Other,
}

impl Planting {
    /// Looks at the directories that something changed in; `main` is what the folders are.
    pub fn of(
        changes: &[Change],
        objects: &Objects,
        [before, after, main]: [&Tree<'_>; 3],
        bindings: &[Binding],
    ) -> Result<Self> {
        let state = |tree| State { objects, tree };
        let (old, new) = (state(before), state(after));
        let mut looked: BTreeMap<VaultPath, Option<Was>> = BTreeMap::new();
        for change in changes {
            let mut directory = change.path.parent();
            while let Some(path) = directory {
                if looked.contains_key(&path) {
                    break;
                }
                directory = path.parent();
                let found = look(&path, old, new)?;
                looked.insert(path, found);
            }
        }
        let mut repositories: BTreeMap<VaultPath, Was> =
            looked.into_iter().filter_map(|(path, was)| Some((path, was?))).collect();
        let modules = repositories.keys().filter(|path| is_module(path)).cloned().collect();
        let submodules = Submodules::of(changes, &modules, new, bindings)?;
        repositories.retain(|path, _| !submodules.plain.contains(path));
        for change in changes {
            if let Some(path) = leads_elsewhere(change)
                && !is_repository(before, &path)?
                && is_repository(after, &path)?
            {
                repositories.insert(path, Was::Other);
            }
        }
        let mut gone = BTreeSet::new();
        let heads = changes.iter().filter(|change| change.path.name() == Some(b"HEAD"));
        for change in heads.filter(|change| change.after.is_none()) {
            let Some(repository) = git_directory(&change.path) else { continue };
            let is_its_own = change.path.parent().as_ref() == Some(&repository);
            if is_its_own && after.get(&repository)?.is_none() {
                gone.insert(repository);
            }
        }
        let mut finished = BTreeSet::new();
        for change in changes.iter().filter(|change| change.after.is_none()) {
            if let Some(steps) = steps(&change.path)
                && after.get(&steps)?.is_none()
            {
                finished.insert(steps);
            }
        }
        let look = Look { before: old, after: new, main: state(main), bindings };
        let nested = look.nested(changes, &submodules)?;
        let mut refs = BTreeSet::new();
        for change in changes {
            if shadows_ref(change, new)? {
                refs.insert(change.path.clone());
            }
        }
        let replaced = Replaced::of(changes, old, new)?;
        Ok(Self { repositories, gone, submodules, finished, refs, replaced, nested })
    }

    /// What a list of packed refs says without what is planted in it; nothing where nothing is.
    pub fn packed_refs(&self, path: &VaultPath) -> Option<&[u8]> {
        self.replaced.packed(path)
    }

    /// What a change to a path plants.
    pub fn planted(
        &self,
        path: &VaultPath,
        before: Option<&Entry>,
        after: Option<&Entry>,
    ) -> Option<Planted> {
        if self.gone.iter().any(|repository| path.is_within(repository)) {
            return Some(Planted::Gone);
        }
        if let Some(why) = self.nested.holds(path) {
            return Some(why);
        }
        let is_finished = self.finished.iter().any(|steps| path.is_within(steps));
        if is_finished || self.nested.lets(path) || self.replaced.is_same(path) {
            return None;
        }
        if self.refs.contains(path) && matters(before, after) {
            return Some(Planted::Redirect);
        }
        let named = planted(path, before, after).filter(|_| !self.submodules.lets(path));
        named.or_else(|| self.in_found(path, before, after))
    }

    fn in_found(
        &self,
        path: &VaultPath,
        before: Option<&Entry>,
        after: Option<&Entry>,
    ) -> Option<Planted> {
        self.repositories.iter().find_map(|(repository, was)| {
            if !path.is_within(repository) {
                return None;
            }
            let inside = &path.names()[repository.names().len()..];
            match was {
                Was::Nothing => Some(Planted::Repository),
                Was::Other => Some(Planted::Dependent),
                _ if inside.is_empty() || !matters(before, after) => None,
                Was::Repository => in_repository(inside, after),
                Was::Directory => makes_repository(&inside[0]).then_some(Planted::Repository),
            }
        })
    }
}

fn is_module(path: &VaultPath) -> bool {
    within_repository(path).is_some_and(is_module_part)
}

/// The names without which a directory is no repository, or that matter only to one.
fn makes_repository(name: &[u8]) -> bool {
    let names = ["HEAD", "commondir", "objects", "refs", "config", "config.worktree", "hooks"];
    names.iter().any(|wanted| is_name(name, wanted))
}

#[cfg(test)]
mod tests;
