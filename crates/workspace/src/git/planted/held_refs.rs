//! Refs that do not move with the rest of a repository, and what else of it leads to commits.
//!
//! `refs/replace/ID` names what stands in the place of the object ID, wherever git reads that. A branch, a tag or the stash may have files that
//! something on the host runs or obeys: whoever switches to it has them. So have whoever goes back to what a log, an index or a file such as
//! `ORIG_HEAD` names. What a remote has is said by a fetch on the host.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_tree::VaultPath;
use offshoot_tree::diff::Change;

use super::by_name::Planted;
use super::part::{Part, part_of};
use super::remembered::Looks;
use super::shadows::shadows;
use crate::error::Result;
use crate::git::merge::{Brought, Judge, Staged};
use crate::git::repository::{Refs, State, common, led_over, resolve};

/// How the names of replacements start.
pub(super) const REPLACE: &[u8] = b"refs/replace/";
const REMOTES: &[u8] = b"refs/remotes/";
pub(super) const STASH: &[u8] = b"refs/stash";

/// The refs that a set of changes moves and that stay, with what else leads to what they have.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldRefs {
    /// Files of replacements that have the same value before and after, such as one that was packed.
    same: BTreeSet<VaultPath>,
    /// Files of refs, and others that go with them.
    files: BTreeMap<VaultPath, Planted>,
    /// Lists of packed refs and logs, with what they say without those that stay.
    texts: BTreeMap<VaultPath, (Vec<u8>, Planted)>,
    /// New repositories with something that leads to such files.
    new: BTreeSet<VaultPath>,
    /// Checkouts of what stays.
    checkouts: BTreeSet<VaultPath>,
    staged: Staged,
}

/// The names of refs that stay in one repository, and why.
pub(super) type Names = BTreeMap<Vec<u8>, Planted>;

impl HeldRefs {
    /// Looks at the repositories of which such parts changed; `judge` tells files that something runs or obeys.
    pub(super) fn of(
        changes: &[Change],
        states: [State<'_>; 3],
        judge: &dyn Judge,
    ) -> Result<Self> {
        let [before, after, main] = states;
        let mut found = Self::default();
        let mut looks = Looks::new(states, judge);
        let mut places = BTreeSet::new();
        for change in changes {
            let path = &change.path;
            let Some((at, part)) = part_of(change, [after, main])? else { continue };
            places.insert(at.clone());
            looks.add(&at)?;
            let Some(look) = looks.known(&at) else { continue };
            let held = &look.held;
            match part {
                Part::Ref(name) => match held.get(&name) {
                    Some(planted) => drop(found.files.insert(path.clone(), *planted)),
                    None if name.starts_with(REPLACE) => drop(found.same.insert(path.clone())),
                    None => {}
                },
                Part::List if change.after.is_some() => {
                    let Some(planted) = held.values().min() else { continue };
                    let (old, new) = (before.file(path)?, after.file(path)?);
                    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                    let text = with_lines_of(&new, &old, held);
                    if text != new {
                        found.texts.insert(path.clone(), (text, *planted));
                    }
                }
                Part::Log if change.after.is_some() => match after.file(path)? {
                    Some(text) => {
                        let known = [before.file(path)?, main.file(path)?];
                        if let Some(text) = look.without_lines(&text, &known)? {
                            found.texts.insert(path.clone(), (text, Planted::TrustedRef));
                        }
                    }
                    // Nobody looked at one that is too long.
                    None => drop(found.files.insert(path.clone(), Planted::TrustedRef)),
                },
                Part::Pointer if change.after.is_some() => {
                    let why = match after.file(path)? {
                        // Git would move what it names.
                        Some(text) if text.starts_with(b"ref:") => Some(Planted::Redirect),
                        Some(text) if !look.leads_to_some(path, &text)? => None,
                        _ => Some(Planted::TrustedRef),
                    };
                    found.files.extend(why.map(|why| (path.clone(), why)));
                }
                Part::Index => {
                    let [new, old, known] = [after, before, main].map(|it| it.whole_index(&at));
                    let known = [old?.unwrap_or_default(), known?.unwrap_or_default()];
                    let staged = look.brought.staged(&new?.unwrap_or_default(), &known)?;
                    if look.is_new && !staged.left.is_empty() {
                        found.new.insert(at);
                    }
                    found.staged.left.extend(staged.left);
                    found.staged.taken.extend(staged.taken);
                }
                _ => {}
            }
        }
        for at in &places {
            let Some(look) = looks.known(at) else { continue };
            // The rest of the stash is in its log.
            if let Some(planted) = look.held.get(STASH) {
                let log = at.join(b"logs").join(b"refs").join(b"stash");
                found.files.insert(log, *planted);
            }
            let (refs, main) = (after.refs(at)?, main.refs(at)?);
            let branch = led_over(&refs, b"HEAD").pop();
            let shared = looks.known(&common(at)).map(|shared| &shared.held);
            let planted = match (&branch, resolve(&refs, b"HEAD")) {
                (Some(branch), _) => shared.and_then(|held| held.get(branch)).copied(),
                (None, Some(id)) if look.brought.is_in(&id, None)? => Some(Planted::TrustedRef),
                _ => None,
            };
            let Some(planted) = planted else { continue };
            if look.is_new {
                found.new.insert(at.clone());
            }
            if branch.is_none() || led_over(&main, b"HEAD").pop() != branch {
                found.files.insert(at.join(b"HEAD"), planted);
            }
            found.checkouts.insert(at.clone());
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

    /// What a list of packed refs or a log says without what stays, and why.
    pub(super) fn text(&self, path: &VaultPath) -> Option<(&[u8], Planted)> {
        self.texts.get(path).map(|(text, planted)| (text.as_slice(), *planted))
    }

    /// New repositories of which everything stays.
    pub(super) fn new_repositories(&self) -> &BTreeSet<VaultPath> {
        &self.new
    }

    /// The checkouts whose commits stay.
    pub(super) fn checkouts(&self) -> &BTreeSet<VaultPath> {
        &self.checkouts
    }

    /// What an index has of such files.
    pub(super) fn staged(&self) -> &Staged {
        &self.staged
    }
}

/// The refs that stay in a repository, of which these are old and new, and what all others name.
pub(super) fn held(
    repository: &VaultPath,
    (old, new): (&Refs, &Refs),
    [before, after, main]: [State<'_>; 3],
    (brought, is_new): (&Brought<'_>, bool),
) -> Result<(Names, Vec<Vec<u8>>)> {
    let known = [main.refs(repository)?, after.refs(repository)?];
    let mut names: Names =
        changed(old, new).map(|name| (name.clone(), Planted::Replacement)).collect();
    names.retain(|name, _| name.starts_with(REPLACE));
    for name in changed(old, new).filter(|name| name.starts_with(b"refs/")) {
        let (was, Some(value)) = (old.get(name), new.get(name)) else { continue };
        let [folder, workspace] = &known;
        let is_added = !is_new && was.is_none() && !folder.contains_key(name);
        let why = match () {
            () if names.contains_key(name) || name == STASH => None,
            () if is_added && shadows(name, [folder, workspace]) => Some(Planted::Shadow),
            () if value.starts_with(b"ref:") => None,
            () if name.starts_with(REMOTES) && !is_new => Some(Planted::RemoteRef),
            () => brought.is_in(value, was.map(Vec::as_slice))?.then_some(Planted::TrustedRef),
        };
        names.extend(why.map(|why| (name.clone(), why)));
    }
    let mut coming = Vec::new();
    for (name, value) in new.iter().filter(|(_, value)| !value.starts_with(b"ref:")) {
        let is_branch = name.starts_with(b"refs/") && name != STASH && !names.contains_key(name);
        if is_branch || (name == b"HEAD" && !brought.is_in(value, None)?) {
            coming.push(value.clone());
        }
    }
    if let Some(value) = new.get(STASH).filter(|value| old.get(STASH) != Some(*value))
        && brought.is_in_stash(value, old.get(STASH).map(Vec::as_slice), &coming)?
    {
        names.insert(STASH.to_vec(), Planted::TrustedRef);
    }
    if new.contains_key(STASH) && !names.contains_key(STASH) {
        let log = repository.join(b"logs").join(b"refs").join(b"stash");
        let (known, log) = (before.file(&log)?.unwrap_or_default(), after.file(&log)?);
        let lines = log.iter().flat_map(|log| log.split(|byte| *byte == b'\n'));
        for line in lines.filter(|line| !known.split(|byte| *byte == b'\n').any(|l| l == *line)) {
            let Some(id) = line.split(|byte| *byte == b' ').nth(1) else { continue };
            if brought.is_in_stash(id, None, &coming)? {
                names.insert(STASH.to_vec(), Planted::TrustedRef);
            }
        }
    }
    Ok((names, coming))
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
