//! Refs that do not move with the rest of a repository.
//!
//! `refs/replace/ID` names what stands in the place of the object ID, wherever git reads that. A branch, a tag or the stash may have files that
//! something on the host runs or obeys: whoever switches to it has them. What a remote has is said by a fetch on the host.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;
use offshoot_tree::diff::Change;

use super::by_name::Planted;
use crate::error::Result;
use crate::git::merge::{Brought, Counts};
use crate::git::names::within_repository;
use crate::git::repository::{Refs, State, is_repository, led_over, path_of};

/// How the names of replacements start.
const REPLACE: &[u8] = b"refs/replace/";
const REMOTES: &[u8] = b"refs/remotes/";
const STASH: &[u8] = b"refs/stash";

/// The refs that a set of changes moves and that stay.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldRefs {
    /// Files of replacements that have the same value before and after, such as one that was packed.
    same: BTreeSet<VaultPath>,
    /// Files of refs, and logs that go with them.
    files: BTreeMap<VaultPath, Planted>,
    /// Lists of packed refs, with what they say if all of these stay as they were.
    packed: BTreeMap<VaultPath, (Vec<u8>, Planted)>,
}

/// The names of refs that stay in one repository, and why.
type Names = BTreeMap<Vec<u8>, Planted>;

impl HeldRefs {
    /// Looks at the refs of repositories that changed in one way or another; `counts` tells files that something runs or obeys.
    pub(super) fn of(
        changes: &[Change],
        [before, after, main]: [State<'_>; 3],
        counts: Counts<'_>,
    ) -> Result<Self> {
        let mut found = Self::default();
        let mut repositories: BTreeMap<VaultPath, Names> = BTreeMap::new();
        for change in changes {
            let path = &change.path;
            let Some((repository, name)) = ref_at(path).or_else(|| list_at(path)) else {
                continue;
            };
            // Any other file can have such a name.
            if within_repository(path).is_none() && !is_repository(after.tree, &repository)? {
                continue;
            }
            if !repositories.contains_key(&repository) {
                let held = held(&repository, [before, after, main], counts)?;
                repositories.insert(repository.clone(), held);
            }
            let held = &repositories[&repository];
            match name {
                Some(name) => match held.get(&name) {
                    Some(planted) => drop(found.files.insert(path.clone(), *planted)),
                    None if name.starts_with(REPLACE) => drop(found.same.insert(path.clone())),
                    None => {}
                },
                None if change.after.is_some() => {
                    let Some(planted) = held.values().min() else { continue };
                    let (old, new) = (before.file(path)?, after.file(path)?);
                    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                    let text = with_lines_of(&new, &old, held);
                    if text != new {
                        found.packed.insert(path.clone(), (text, *planted));
                    }
                }
                None => {}
            }
        }
        for (repository, held) in &repositories {
            // The rest of the stash is in its log.
            if let Some(planted) = held.get(STASH) {
                let log = repository.join(b"logs").join(b"refs").join(b"stash");
                found.files.insert(log, *planted);
            }
            let refs = after.refs(repository)?;
            let branch = led_over(&refs, b"HEAD").pop();
            let switched = branch.as_ref().and_then(|branch| held.get(branch));
            if let (Some(planted), false) =
                (switched, led_over(&main.refs(repository)?, b"HEAD").pop() == branch)
            {
                found.files.insert(repository.join(b"HEAD"), *planted);
            }
        }
        Ok(found)
    }

    /// Whether a file of a ref means the same as before.
    pub(super) fn is_same(&self, path: &VaultPath) -> bool {
        self.same.contains(path)
    }

    /// Why a file of a ref stays.
    pub(super) fn why(&self, path: &VaultPath) -> Option<Planted> {
        self.files.get(path).copied()
    }

    /// What a list of packed refs says without those that stay, and why.
    pub(super) fn packed(&self, path: &VaultPath) -> Option<(&[u8], Planted)> {
        self.packed.get(path).map(|(text, planted)| (text.as_slice(), *planted))
    }
}

/// The refs of a repository that stay.
fn held(
    repository: &VaultPath,
    [before, after, main]: [State<'_>; 3],
    counts: Counts<'_>,
) -> Result<Names> {
    let (old, new) = (before.refs(repository)?, after.refs(repository)?);
    let mut names: Names =
        changed(&old, &new).map(|name| (name.clone(), Planted::Replacement)).collect();
    names.retain(|name, _| name.starts_with(REPLACE));
    // A repository that is new is looked at as a whole.
    if !is_repository(before.tree, repository)? {
        return Ok(names);
    }
    let brought = Brought::new([main, after], repository, counts)?;
    // The checkout of a branch stays where its files do, and the branch with it.
    let checked_out = led_over(&main.refs(repository)?, b"HEAD");
    for name in changed(&old, &new).filter(|name| name.starts_with(b"refs/")) {
        let (was, Some(value)) = (old.get(name), new.get(name)) else { continue };
        if names.contains_key(name) || checked_out.contains(name) || value.starts_with(b"ref:") {
            continue;
        }
        let why = match () {
            () if name.starts_with(REMOTES) => Some(Planted::RemoteRef),
            () if name == STASH => {
                let is_in = brought.is_in_stash(value, was.map(Vec::as_slice))?;
                is_in.then_some(Planted::TrustedRef)
            }
            () => brought.is_in(value, was.map(Vec::as_slice))?.then_some(Planted::TrustedRef),
        };
        names.extend(why.map(|why| (name.clone(), why)));
    }
    if new.contains_key(STASH) && !names.contains_key(STASH) {
        let log = repository.join(b"logs").join(b"refs").join(b"stash");
        let (known, log) = (before.file(&log)?.unwrap_or_default(), after.file(&log)?);
        let lines = log.iter().flat_map(|log| log.split(|byte| *byte == b'\n'));
        for line in lines.filter(|line| !known.split(|byte| *byte == b'\n').any(|l| l == *line)) {
            let Some(id) = line.split(|byte| *byte == b' ').nth(1) else { continue };
            if brought.is_in_stash(id, None)? {
                names.insert(STASH.to_vec(), Planted::TrustedRef);
            }
        }
    }
    Ok(names)
}

/// The repository and the name of a ref that has a file of its own; the log of the stash counts as the stash.
fn ref_at(path: &VaultPath) -> Option<(VaultPath, Option<Vec<u8>>)> {
    let names = path.names();
    let at = match within_repository(path) {
        Some(inside) => {
            let start = names.len() - inside.len();
            let refs = inside.iter().position(|name| name == b"refs")?;
            let is_log = refs > 0 && inside[refs - 1] == b"logs";
            start + if is_log { refs - 1 } else { refs }
        }
        None => names.iter().rposition(|name| name == b"refs")?,
    };
    let name = &names[at..];
    match name.first()?.as_slice() {
        b"logs" => {
            let is_stash = name.get(1..)?.join(&b'/') == STASH;
            is_stash.then(|| (path_of(&names[..at]), Some(STASH.to_vec())))
        }
        _ => (name.len() > 1).then(|| (path_of(&names[..at]), Some(name.join(&b'/')))),
    }
}

/// The repository that a list of packed refs would be of.
fn list_at(path: &VaultPath) -> Option<(VaultPath, Option<Vec<u8>>)> {
    let repository = path.parent().filter(|_| path.name() == Some(b"packed-refs"))?;
    Some((repository, None))
}

/// The refs that have another value.
fn changed<'r>(before: &'r Refs, after: &'r Refs) -> impl Iterator<Item = &'r Vec<u8>> {
    let names: BTreeSet<&Vec<u8>> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name))
}

/// A list of packed refs in which these are as another list has them. Git finds a ref in it by the order of the names.
fn with_lines_of(text: &[u8], other: &[u8], names: &Names) -> Vec<u8> {
    let (header, mut refs) = parts(text);
    refs.retain(|name, _| !names.contains_key(name));
    refs.extend(parts(other).1.into_iter().filter(|(name, _)| names.contains_key(name)));
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
        let names = ["9", "a", "b"].map(|id| [REPLACE, id.as_bytes()].concat());
        let names = names.map(|name| (name, Planted::Replacement)).into();
        let expected = b"# pack-refs with: peeled sorted \n1 refs/heads/a\n6 refs/replace/b\n4 refs/tags/t\n^5\n";
        assert_eq!(with_lines_of(new, old, &names), expected);
    }
}
