//! A repository as it lies in a tree of the vault: its refs, and what is checked out.

use std::collections::BTreeMap;

use offshoot_tree::{Body, Objects, Tree, VaultPath};
use offshoot_vault::bound_path;

use super::names::{is_git_folder_name, is_name};
use crate::error::Result;

/// A longer ref or list of them is not looked at.
const LONGEST: u64 = 64 << 20;
/// More symbolic refs in a row are none.
const MOST_LINKS: usize = 5;
/// Where the refs of one working tree are, below `refs`.
const OWN_REFS: &[u8] = b"worktree";

/// The refs of a repository by their names, `HEAD` included, each as it is written: an id, or `ref: ` and another name.
pub(crate) type Refs = BTreeMap<Vec<u8>, Vec<u8>>;

/// A state of files with its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<'a> {
    pub(crate) objects: &'a Objects,
    pub(crate) tree: &'a Tree<'a>,
}

impl State<'_> {
    /// The bytes of a file, if it is one.
    pub(crate) fn file(&self, path: &VaultPath) -> Result<Option<Vec<u8>>> {
        match self.tree.get(path)?.map(|entry| entry.body) {
            Some(Body::File { blob, size }) if size <= LONGEST => {
                Ok(Some(self.objects.blob(&blob)?))
            }
            _ => Ok(None),
        }
    }

    /// The repository of the working tree at `folder`: its `.git`, or what that names where it is a file and the git
    /// directory is a further folder of the vault.
    pub(crate) fn repository_at(&self, folder: &VaultPath) -> Result<VaultPath> {
        let own = folder.join(b".git");
        let Some(text) = self.file(&own)? else { return Ok(own) };
        let Some(target) = gitfile(&text) else { return Ok(own) };
        let place = bound_path();
        let holder = self.tree.get(&place)?;
        let Some(holder) = holder.as_ref().and_then(|entry| entry.directory()) else {
            return Ok(own);
        };
        let mut first = None;
        for entry in self.tree.list(holder)?.iter().filter(|e| is_git_folder_name(&e.name)) {
            let directory = place.join(&entry.name);
            let found = match worktree_name(target) {
                Some(name) => directory.join(b"worktrees").join(name),
                None => directory,
            };
            if is_repository(self.tree, &found)? {
                return Ok(found);
            }
            // One that is gone is still none of the other checkouts.
            first.get_or_insert(found);
        }
        Ok(first.unwrap_or(own))
    }

    /// The refs that a repository lists in one file. Those with files of their own may be elsewhere by now.
    pub(crate) fn packed_refs(&self, repository: &VaultPath) -> Result<Refs> {
        let packed = self.file(&repository.join(b"packed-refs"))?;
        Ok(packed.map(|packed| packed_refs(&packed)).unwrap_or_default())
    }

    /// The refs of a repository; a working tree of its own shares those of the one that it lies in.
    pub(crate) fn refs(&self, repository: &VaultPath) -> Result<Refs> {
        let common = common(repository);
        let mut refs = Refs::new();
        refs.extend(self.packed_refs(&common)?);
        refs.extend(self.loose_refs(&common, &common.join(b"refs"))?);
        if let Some(head) = self.file(&repository.join(b"HEAD"))? {
            refs.insert(b"HEAD".to_vec(), trimmed(head));
        }
        Ok(refs)
    }

    /// The refs that a further working tree has for itself, by the names that git gives them in the whole repository:
    /// `worktrees/NAME/refs/worktree/...`.
    pub(crate) fn own_refs(&self, repository: &VaultPath, worktree: &VaultPath) -> Result<Refs> {
        self.loose_refs(repository, &worktree.join(b"refs").join(OWN_REFS))
    }

    /// The folder of a further working tree, if that lies in this state: there is a `.git` file in it that names the working tree.
    pub(crate) fn worktree_folder(
        &self,
        repository: &VaultPath,
        worktree: &VaultPath,
    ) -> Result<Option<VaultPath>> {
        let place = self.file(&worktree.join(b"gitdir"))?.unwrap_or_default();
        let names = place.trim_ascii_end().split(|byte| *byte == b'/');
        let names: Vec<&[u8]> = names.filter(|name| !matches!(*name, b"" | b"." | b"..")).collect();
        // Where the folder lies on the host is not known here.
        for above in [VaultPath::top(), repository.parent().unwrap_or_default()] {
            for start in 0..names.len() {
                let path = names[start..].iter().fold(above.clone(), |path, name| path.join(name));
                let text = self.file(&path)?.unwrap_or_default();
                let named = gitfile(&text).and_then(worktree_name);
                if named.is_some() && named == worktree.name() {
                    return Ok(path.parent());
                }
            }
        }
        Ok(None)
    }

    /// The refs that have files of their own below a directory of the repository.
    pub(crate) fn loose_refs(&self, repository: &VaultPath, below: &VaultPath) -> Result<Refs> {
        let Some(entry) = self.tree.get(below)? else { return Ok(Refs::new()) };
        let Some(dir) = entry.directory() else { return Ok(Refs::new()) };
        let mut found = Vec::new();
        self.tree.walk(below, dir, &mut |path, entry| {
            let is_lock = entry.name.ends_with(b".lock");
            if let Body::File { blob, .. } = entry.body
                && !is_lock
            {
                found.push((path.names()[repository.names().len()..].join(&b'/'), blob));
            }
            Ok(())
        })?;
        let read = |(name, blob)| Ok((name, trimmed(self.objects.blob(&blob)?)));
        found.into_iter().map(read).collect()
    }
}

/// Whether a path below a further working tree's directory is, or holds, refs that it has for itself.
pub(crate) fn is_own_ref(inside: &[Vec<u8>]) -> bool {
    matches!(inside, [refs, own, ..] if refs == b"refs" && own == OWN_REFS)
}

/// Whether a directory looks like a repository to git: a `HEAD`, and either both stores or a note where they are.
pub(crate) fn is_repository(tree: &Tree<'_>, path: &VaultPath) -> Result<bool> {
    is_repository_of_all(&[tree], path)
}

/// The same of a directory that has what it has in any of some states: each may bring a part.
pub(crate) fn is_repository_of_all(trees: &[&Tree<'_>], path: &VaultPath) -> Result<bool> {
    let mut names = Vec::new();
    for tree in trees {
        let entry = tree.get(path)?;
        let Some(dir) = entry.as_ref().and_then(|entry| entry.directory()) else { continue };
        names.extend(tree.list(dir)?.iter().map(|entry| entry.name.clone()));
    }
    let has = |wanted: &str| names.iter().any(|name| is_name(name, wanted));
    Ok(has("HEAD") && (has("commondir") || (has("objects") && has("refs"))))
}

/// The commit that a ref leads to.
pub(crate) fn resolve(refs: &Refs, name: &[u8]) -> Option<Vec<u8>> {
    let mut name = name.to_vec();
    for _ in 0..MOST_LINKS {
        let value = refs.get(&name)?;
        match value.strip_prefix(b"ref:") {
            Some(next) => name = trimmed(next.to_vec()),
            None => return Some(value.clone()),
        }
    }
    None
}

/// The refs that a symbolic one leads over, the last of which may not be there yet.
pub(crate) fn led_over(refs: &Refs, name: &[u8]) -> Vec<Vec<u8>> {
    let next = |name: &Vec<u8>| {
        let target = refs.get(name)?.strip_prefix(b"ref:")?;
        Some(trimmed(target.to_vec()))
    };
    std::iter::successors(Some(name.to_vec()), next).skip(1).take(MOST_LINKS).collect()
}

/// Where the refs of a repository are.
pub(crate) fn common(repository: &VaultPath) -> VaultPath {
    match repository.names() {
        [above @ .., kind, _] if is_name(kind, "worktrees") => path_of(above),
        _ => repository.clone(),
    }
}

/// What a `.git` file names.
pub(crate) fn gitfile(text: &[u8]) -> Option<&[u8]> {
    let target = text.strip_prefix(b"gitdir: ")?;
    let end = target.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    let target = &target[..=end];
    (!target.contains(&0)).then_some(target)
}

/// The name of a linked working tree, if that is what a path of a git directory names: `.../worktrees/NAME`.
pub(crate) fn worktree_name(target: &[u8]) -> Option<&[u8]> {
    let mut names = target.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    let (name, kind) = (names.next_back()?, names.next_back()?);
    (kind == b"worktrees").then_some(name)
}

pub(crate) fn path_of(names: &[Vec<u8>]) -> VaultPath {
    names.iter().fold(VaultPath::top(), |path, name| path.join(name))
}

/// The refs of a `packed-refs`.
pub(crate) fn packed_refs(text: &[u8]) -> Refs {
    let lines = text.split(|byte| *byte == b'\n');
    let plain = lines.filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"));
    let parts = plain.filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b' ')?;
        Some((line[at + 1..].to_vec(), line[..at].to_vec()))
    });
    parts.collect()
}

fn trimmed(bytes: Vec<u8>) -> Vec<u8> {
    bytes.trim_ascii().to_vec()
}

#[cfg(test)]
mod tests {
    use offshoot_vault::{Actor, ImportOptions, VaultOptions, VaultRegistry};

    use super::*;

    /// Holes that would fill the memory.
    #[test]
    fn what_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        for (name, length) in [("longest", LONGEST), ("longer", LONGEST + 1)] {
            std::fs::File::create(project.join(name)).unwrap().set_len(length).unwrap();
        }
        let home = VaultRegistry::new(folder.path().join("home"), VaultOptions::default());
        let (options, actor) = (ImportOptions::default(), Actor::user("tester"));
        let vault = home.create("demo", Some(&project), &options, &actor).unwrap().vault;
        let tree = vault.tree(&vault.head().unwrap().root).unwrap();
        let state = State { objects: vault.objects().unwrap(), tree: &tree };
        let length = |name: &[u8]| {
            let bytes = state.file(&VaultPath::top().join(name)).unwrap();
            bytes.map(|bytes| bytes.len() as u64)
        };
        assert_eq!((length(b"longest"), length(b"longer")), (Some(LONGEST), None));
    }
}
