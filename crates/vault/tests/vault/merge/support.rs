//! Short ways to make states and to say what a merge made of them.

use std::collections::BTreeMap;

use offshoot_tree::ConflictKind;
use offshoot_tree::merge::Conflict;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions, Merged, Side};
use offshoot_tree::{Body, Entry, RootId, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use crate::support::{Scratch, edit, empty_vault, file, head, meta, path};

/// A vault in a place of its own.
pub(super) struct Place {
    pub(super) vault: Vault,
    _scratch: Scratch,
}

impl Place {
    pub(super) fn new() -> Self {
        let scratch = Scratch::new();
        Self { vault: empty_vault(&scratch), _scratch: scratch }
    }

    /// A state with these files and no others.
    pub(super) fn state(&self, files: &[(&str, &str)]) -> RootId {
        self.from(&head(&self.vault), |editor| {
            files.iter().for_each(|(name, text)| self.put(editor, name, text));
        })
    }

    /// A state that comes from another.
    pub(super) fn from(&self, root: &RootId, change: impl FnOnce(&mut TreeEditor<'_>)) -> RootId {
        edit(&self.vault, root, change)
    }

    /// Puts a text at a path, with the directories that lead to it.
    pub(super) fn put(&self, editor: &mut TreeEditor<'_>, name: &str, text: &str) {
        self.put_entry(editor, name, file(&self.vault, text.as_bytes()));
    }

    pub(super) fn put_entry(&self, editor: &mut TreeEditor<'_>, name: &str, entry: Entry) {
        let at = path(name);
        editor.make_directories(&at.parent().unwrap(), &meta(0o755)).unwrap();
        editor.put(&at, entry).unwrap();
    }

    /// A state with some files changed (`Some`) and others deleted (`None`).
    pub(super) fn change(&self, root: &RootId, changes: &[(&str, Option<&str>)]) -> RootId {
        self.from(root, |editor| {
            for (name, text) in changes {
                match text {
                    Some(text) => self.put(editor, name, text),
                    None => drop(editor.remove(&path(name)).unwrap()),
                }
            }
        })
    }

    /// Merges sides called `ours`, `theirs` and `third`.
    pub(super) fn merge(&self, base: &RootId, sides: &[RootId]) -> Merged {
        self.merge_with(&Base::Root(*base), sides, &MergeOptions::default())
    }

    pub(super) fn merge_with(
        &self,
        base: &Base,
        sides: &[RootId],
        options: &MergeOptions,
    ) -> Merged {
        let labels = ["ours", "theirs", "third", "fourth"];
        let side = |(root, label): (&RootId, &&str)| Side { label: (*label).into(), root: *root };
        let sides: Vec<Side> = sides.iter().zip(&labels).map(side).collect();
        self.vault.merge(&MergeInputs { base, sides: &sides }, options).unwrap()
    }

    /// Merges two sides both ways, and fails where the way matters.
    pub(super) fn merge_both_ways(&self, base: &RootId, ours: &RootId, theirs: &RootId) -> Merged {
        let merged = self.merge(base, &[*ours, *theirs]);
        let back = self.merge(base, &[*theirs, *ours]);
        assert_eq!(found(&merged), found(&back), "the order of the sides matters");
        if merged.conflicts.is_empty() {
            assert_eq!(merged.root, back.root, "the order of the sides matters");
        }
        merged
    }

    /// Every entry of a state below its top, without directories.
    pub(super) fn leaves(&self, root: &RootId) -> BTreeMap<String, Entry> {
        let all = self.everything(root).into_iter();
        all.filter(|(_, entry)| entry.directory().is_none()).collect()
    }

    /// Every entry of a state below its top.
    pub(super) fn everything(&self, root: &RootId) -> BTreeMap<String, Entry> {
        let tree = self.vault.tree(root).unwrap();
        let mut all = BTreeMap::new();
        let mut visit = |path: &VaultPath, entry: &Entry| {
            all.insert(path.to_string(), entry.clone());
            Ok(())
        };
        tree.walk(&VaultPath::top(), tree.top().directory().unwrap(), &mut visit).unwrap();
        all
    }

    /// The texts of a state by path.
    pub(super) fn texts(&self, root: &RootId) -> BTreeMap<String, String> {
        let text =
            |(path, entry): (String, Entry)| (path, String::from_utf8(self.bytes(&entry)).unwrap());
        self.leaves(root).into_iter().map(text).collect()
    }

    pub(super) fn bytes(&self, entry: &Entry) -> Vec<u8> {
        match &entry.body {
            Body::File { blob, .. } => self.vault.objects().unwrap().blob(blob).unwrap(),
            Body::Symlink { target } => target.clone(),
            _ => Vec::new(),
        }
    }
}

/// Fails unless every conflict is in the merged tree, with every side's version, and nothing else is.
pub(super) fn check_kept(place: &Place, merged: &Merged) {
    let tree = place.vault.tree(&merged.root).unwrap();
    let kept = tree.conflicts(&VaultPath::top()).unwrap();
    assert_eq!(kept.len() as u64, tree.conflict_count());
    for (path, entry) in &kept {
        let record = entry.conflict.as_ref().unwrap();
        let is_here = |conflict: &&Conflict| {
            let besides = merged.conflicts.iter().filter(|other| other.path == conflict.path);
            conflict.path == *path || besides.flat_map(|it| &it.beside).any(|it| it == path)
        };
        assert!(merged.conflicts.iter().any(|it| is_here(&it)), "{path}: {record:?}");
    }
    for conflict in &merged.conflicts {
        let same_path = merged.conflicts.iter().filter(|other| other.path == conflict.path);
        let besides: Vec<&VaultPath> = same_path.flat_map(|it| &it.beside).collect();
        let is_kept = kept.iter().any(|(path, entry)| {
            let record = entry.conflict.as_ref().unwrap();
            (*path == conflict.path || besides.contains(&path))
                && record.kinds.contains(&conflict.kind)
                && conflict
                    .sides
                    .iter()
                    .flatten()
                    .all(|it| record.versions().any(|kept| kept == it))
                && conflict.marker_length.is_none_or(|it| record.marker_lengths.contains(&it))
        });
        assert!(is_kept, "{conflict:#?} is not in the tree: {kept:#?}");
    }
}

/// What a merge complains about.
pub(super) fn found(merged: &Merged) -> Vec<(String, ConflictKind)> {
    merged.conflicts.iter().map(|conflict| (conflict.path.to_string(), conflict.kind)).collect()
}

/// The only conflict, which must be of this kind at this path.
#[track_caller]
pub(super) fn only<'a>(merged: &'a Merged, path: &str, kind: ConflictKind) -> &'a Conflict {
    assert_eq!(found(merged), [(path.to_owned(), kind)]);
    &merged.conflicts[0]
}

/// Texts by path, as [`Place::texts`] gives them.
pub(super) fn texts(expected: &[(&str, &str)]) -> BTreeMap<String, String> {
    expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// Twelve lines that no other name has.
pub(super) fn long(name: &str) -> String {
    (0..12).map(|n| format!("{name} has a line with the number {n}\n")).collect()
}
