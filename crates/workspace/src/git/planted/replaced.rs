//! Objects that git takes for others: `refs/replace/ID` names what stands in the place of the object ID, wherever git reads that.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;
use offshoot_tree::diff::Change;

use crate::error::Result;
use crate::git::names::within_repository;
use crate::git::repository::{Refs, State, is_repository, path_of};

/// How the names of such refs start.
const REPLACE: &[u8] = b"refs/replace/";

/// The replacements that a set of changes touches.
#[derive(Clone, Debug, Default)]
pub(super) struct Replaced {
    /// Files of refs that have the same value before and after, such as one that was packed.
    same: BTreeSet<VaultPath>,
    /// Lists of packed refs, with what they say if all replacements stay as they were.
    packed: BTreeMap<VaultPath, Vec<u8>>,
}

impl Replaced {
    /// Looks at the lists of packed refs and the files of replacements that changed.
    pub(super) fn of(changes: &[Change], before: State<'_>, after: State<'_>) -> Result<Self> {
        let mut found = Self::default();
        let mut repositories: BTreeMap<VaultPath, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for change in changes {
            let path = &change.path;
            let Some((repository, name)) = replacement_at(path).or_else(|| list_at(path)) else {
                continue;
            };
            // Any other file can have such a name.
            if within_repository(path).is_none() && !is_repository(after.tree, &repository)? {
                continue;
            }
            if !repositories.contains_key(&repository) {
                let changed = changed(&before.refs(&repository)?, &after.refs(&repository)?);
                repositories.insert(repository.clone(), changed);
            }
            let changed = &repositories[&repository];
            match name {
                Some(name) if !changed.contains(&name) => drop(found.same.insert(path.clone())),
                None if !changed.is_empty() && change.after.is_some() => {
                    let (old, new) = (before.file(path)?, after.file(path)?);
                    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                    let text = with_lines_of(&new, &old, changed);
                    if text != new {
                        found.packed.insert(path.clone(), text);
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Whether a file of a ref means the same as before.
    pub(super) fn is_same(&self, path: &VaultPath) -> bool {
        self.same.contains(path)
    }

    /// What a list of packed refs says without the replacements that are new, or with those that are gone.
    pub(super) fn packed(&self, path: &VaultPath) -> Option<&[u8]> {
        self.packed.get(path).map(Vec::as_slice)
    }
}

/// The repository and the name of a replacement that has a file of its own.
fn replacement_at(path: &VaultPath) -> Option<(VaultPath, Option<Vec<u8>>)> {
    let names = path.names();
    let at = names.windows(2).rposition(|pair| pair[0] == b"refs" && pair[1] == b"replace")?;
    (names.len() > at + 2).then(|| (path_of(&names[..at]), Some(names[at..].join(&b'/'))))
}

/// The repository that a list of packed refs would be of.
fn list_at(path: &VaultPath) -> Option<(VaultPath, Option<Vec<u8>>)> {
    let repository = path.parent().filter(|_| path.name() == Some(b"packed-refs"))?;
    Some((repository, None))
}

/// The replacements that have another value.
fn changed(before: &Refs, after: &Refs) -> BTreeSet<Vec<u8>> {
    let names = before.keys().chain(after.keys()).filter(|name| name.starts_with(REPLACE));
    names.filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

/// A list of packed refs in which these are as another list has them. Git finds a ref in it by the order of the names.
fn with_lines_of(text: &[u8], other: &[u8], names: &BTreeSet<Vec<u8>>) -> Vec<u8> {
    let (header, mut refs) = parts(text);
    refs.retain(|name, _| !names.contains(name));
    refs.extend(parts(other).1.into_iter().filter(|(name, _)| names.contains(name)));
    header.into_iter().chain(refs.into_values().flatten()).collect()
}

/// The lines at the start, and those of each ref with what it points at.
fn parts(text: &[u8]) -> (Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>) {
    let (mut header, mut refs) = (Vec::new(), BTreeMap::<Vec<u8>, Vec<u8>>::new());
    let mut last = None;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let at = line.iter().position(|byte| *byte == b' ');
        match (line[0], at, &last) {
            (b'#', ..) => header.extend_from_slice(line),
            (b'^', _, Some(name)) => refs.entry(Vec::clone(name)).or_default().extend(line),
            (_, Some(at), _) => {
                let name = line[at + 1..].trim_ascii_end().to_vec();
                refs.insert(name.clone(), line.to_vec());
                last = Some(name);
            }
            _ => {}
        }
    }
    (header, refs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_replacements_are_as_they_were_and_in_order() {
        let new = b"# pack-refs with: peeled sorted \n1 refs/heads/a\n2 refs/replace/9\n3 refs/replace/a\n4 refs/tags/t\n^5\n";
        let old = b"# pack-refs with: peeled sorted \n0 refs/heads/a\n6 refs/replace/b\n";
        let names = ["9", "a", "b"].map(|id| [REPLACE, id.as_bytes()].concat()).into();
        let expected = b"# pack-refs with: peeled sorted \n1 refs/heads/a\n6 refs/replace/b\n4 refs/tags/t\n^5\n";
        assert_eq!(with_lines_of(new, old, &names), expected);
    }
}
