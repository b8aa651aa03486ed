//! Which refs of a git directory have another value, wherever they are stored.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::diff::Change;
use offshoot_tree::{Body, Entry, Objects, RootId, Tree, VaultPath};

use crate::git::{Refs, State, packed_refs};

/// A longer list of refs is not read.
const LONGEST: u64 = 64 << 20;

/// A ref that is new, gone or elsewhere, with its values.
pub(super) struct MovedRef {
    pub(super) name: Vec<u8>,
    pub(super) before: Option<Vec<u8>>,
    pub(super) after: Option<Vec<u8>>,
}

/// The refs before and after some changes. A file of its own counts more than a line in `packed-refs`, as git has it.
pub(super) struct MovedRefs<'t> {
    objects: &'t Objects,
    /// The values of files that changed.
    loose: BTreeMap<Vec<u8>, [Option<Vec<u8>>; 2]>,
    packed: [Refs; 2],
    /// A state that has what did not change.
    state: Option<Tree<'t>>,
    directory: &'t VaultPath,
}

impl<'t> MovedRefs<'t> {
    /// Reads them from changes of a git directory. What did not change is looked up in that of the states that the changes begin or end with.
    pub(super) fn of(
        objects: &'t Objects,
        roots: &[RootId],
        directory: &'t VaultPath,
        changes: &[&Change],
    ) -> Self {
        let at = directory.join(b"packed-refs");
        let of_refs = |change: &&&Change| change.path.is_within(&directory.join(b"refs"));
        let refs: Vec<&Change> = changes.iter().filter(of_refs).copied().collect();
        let loose = refs.iter().map(|change| {
            let name = change.path.names()[directory.names().len()..].join(&b'/');
            (name, [&change.before, &change.after].map(|entry| value(objects, entry.as_deref())))
        });
        let loose = loose.collect();
        let state = state(objects, roots, &refs);
        let packed = match changes.iter().find(|change| change.path == at) {
            Some(change) => {
                let [before, after] = [&change.before, &change.after];
                let [before, after] = [before, after].map(|it| text(objects, it.as_deref()));
                // Of a list that cannot be read nothing is known: it counts as the same.
                let known = before.clone().or_else(|| after.clone()).unwrap_or_default();
                [before, after].map(|text| text.unwrap_or_else(|| known.clone()))
            }
            None => {
                let there = state.as_ref().and_then(|tree| tree.get(&at).ok().flatten());
                let text = text(objects, there.as_ref()).unwrap_or_default();
                [text.clone(), text]
            }
        };
        let packed = packed.map(|text| packed_refs(&text));
        Self { objects, loose, packed, state, directory }
    }

    /// Those that have another value.
    pub(super) fn all(&self) -> Vec<MovedRef> {
        let [before, after] = &self.packed;
        let in_list = before.keys().chain(after.keys());
        let in_list = in_list.filter(|name| before.get(*name) != after.get(*name));
        let names: BTreeSet<&Vec<u8>> = self.loose.keys().chain(in_list).collect();
        let moved = names.into_iter().filter_map(|name| {
            let (before, after) = (self.value(name, 0)?, self.value(name, 1)?);
            (before != after).then(|| MovedRef { name: name.clone(), before, after })
        });
        moved.collect()
    }

    /// All refs as they were before; nothing where that cannot be told.
    pub(super) fn before(&self) -> Option<Refs> {
        let state = State { objects: self.objects, tree: self.state.as_ref()? };
        let below = self.directory.join(b"refs");
        let mut loose = state.loose_refs(self.directory, &below).ok()?;
        for (name, [before, _]) in &self.loose {
            match before {
                Some(value) => drop(loose.insert(name.clone(), value.clone())),
                None => drop(loose.remove(name)),
            }
        }
        let mut refs = self.packed[0].clone();
        refs.extend(loose);
        Some(refs)
    }

    /// What a ref is on one side; nothing where a file that did not change says so on both.
    fn value(&self, name: &[u8], side: usize) -> Option<Option<Vec<u8>>> {
        let loose = match self.loose.get(name) {
            Some(values) => values[side].clone(),
            None if self.has_file(name) => return None,
            None => None,
        };
        Some(loose.or_else(|| self.packed[side].get(name).cloned()))
    }

    fn has_file(&self, name: &[u8]) -> bool {
        let names = name.split(|byte| *byte == b'/');
        let path = names.fold(self.directory.clone(), |path, name| path.join(name));
        let found = self.state.as_ref().and_then(|tree| tree.get(&path).ok().flatten());
        found.is_some_and(|entry| entry.directory().is_none())
    }
}

/// The first of some states that changes begin or end with.
fn state<'t>(objects: &'t Objects, roots: &[RootId], changes: &[&Change]) -> Option<Tree<'t>> {
    let trees = roots.iter().filter_map(|root| Tree::open(objects, root).ok());
    let fits = |tree: &Tree<'_>, side: fn(&Change) -> Option<&Entry>| {
        let mut changes = changes.iter();
        changes.all(|change| tree.get(&change.path).is_ok_and(|it| it.as_ref() == side(change)))
    };
    let mut trees = trees.filter(|tree| {
        fits(tree, |change| change.before.as_deref())
            || fits(tree, |change| change.after.as_deref())
    });
    trees.next()
}

/// The value of a ref; `None` where there is none. One that cannot be read is there, with a value that is like no other.
fn value(objects: &Objects, entry: Option<&Entry>) -> Option<Vec<u8>> {
    let text = text(objects, Some(entry?)).unwrap_or_default();
    Some(text.trim_ascii().to_vec())
}

/// The text of a file, empty where there is none; `None` where it cannot be read.
fn text(objects: &Objects, entry: Option<&Entry>) -> Option<Vec<u8>> {
    match entry.map(|entry| &entry.body) {
        Some(Body::File { size, blob }) if *size <= LONGEST => objects.blob(blob).ok(),
        Some(_) => None,
        None => Some(Vec::new()),
    }
}
