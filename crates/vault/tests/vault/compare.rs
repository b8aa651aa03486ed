//! Comparing roots finds what comparing everything would find.

use std::collections::BTreeMap;
use std::sync::Arc;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tree::diff;
use offshoot_tree::diff::Change;
use offshoot_tree::{BlobId, Body, Entry, EntryKind, RootId, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use crate::support::{Scratch, edit, empty_vault, head, is_long, meta, path};

/// An entry whose bytes nobody will ask for.
fn file(text: u64, mode: u16) -> Entry {
    let blob = BlobId::of(&text.to_le_bytes());
    Entry::new(meta(mode), Body::File { size: 8, blob })
}

/// Every entry of a root by its path.
fn everything(vault: &Vault, root: &RootId) -> BTreeMap<VaultPath, Entry> {
    let tree = vault.tree(root).unwrap();
    let mut all = BTreeMap::from([(VaultPath::top(), tree.top().clone())]);
    let mut visit = |path: &VaultPath, entry: &Entry| {
        all.insert(path.clone(), entry.clone());
        Ok(())
    };
    tree.walk(&VaultPath::top(), tree.top().directory().unwrap(), &mut visit).unwrap();
    all
}

/// What differs, found by looking at all of both.
fn naive(vault: &Vault, before: &RootId, after: &RootId) -> Vec<Change> {
    let (before, after) = (everything(vault, before), everything(vault, after));
    let mut paths: Vec<&VaultPath> = before.keys().chain(after.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let changes = paths.into_iter().filter_map(|path| {
        let (old, new) = (before.get(path).cloned(), after.get(path).cloned());
        let same = match (&old, &new) {
            (Some(a), Some(b)) if a.directory().is_some() && b.directory().is_some() => {
                a.meta == b.meta
            }
            _ => old == new,
        };
        let (before, after) = (old.map(Arc::new), new.map(Arc::new));
        (!same).then(|| Change { path: path.clone(), before, after, moved: None })
    });
    changes.collect()
}

/// Changes a tree at random; now and then a directory grows or shrinks past what one node holds.
fn mutate(editor: &mut TreeEditor<'_>, rng: &mut Rng) {
    for _ in 0..rng.below(12) + 1 {
        let folder = path(["/", "/one", "/two", "/one/inner"][rng.below(4) as usize]);
        match editor.get(&folder).unwrap() {
            Some(entry) if entry.directory().is_some() => {}
            found => {
                if found.is_some() {
                    editor.remove(&folder).unwrap();
                }
                let parent = folder.parent().unwrap();
                let is_file = |entry: Entry| entry.kind() != EntryKind::Directory;
                if editor.get(&parent).unwrap().is_some_and(is_file) {
                    editor.remove(&parent).unwrap();
                }
                editor.make_directories(&folder, &meta(0o755)).unwrap();
            }
        }
        match rng.below(10) {
            0 => (0..400).for_each(|n| put(editor, &folder, &format!("bulk-{n}"), rng)),
            1 => {
                (0..400).for_each(|n| {
                    drop(editor.remove(&folder.join(format!("bulk-{n}").as_bytes())))
                });
            }
            2 if !folder.is_top() => drop(editor.remove(&folder).unwrap()),
            3 if !folder.is_top() => editor.put(&folder, file(rng.below(9), 0o644)).unwrap(),
            4..=6 => {
                drop(editor.remove(&folder.join(format!("bulk-{}", rng.below(400)).as_bytes())))
            }
            _ => put(editor, &folder, &format!("bulk-{}", rng.below(400)), rng),
        }
    }
}

fn put(editor: &mut TreeEditor<'_>, folder: &VaultPath, name: &str, rng: &mut Rng) {
    let mode = [0o644, 0o755, 0o600][rng.below(3) as usize];
    editor.put(&folder.join(name.as_bytes()), file(rng.below(5), mode)).unwrap();
}

#[test]
fn compare_finds_what_a_full_comparison_finds() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let seed = seed_from_env_or(11);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let mut roots = vec![head(&vault)];
    let rounds = if is_long() { 400 } else { 40 };
    for _ in 0..rounds {
        let from = *rng.pick(&roots).unwrap();
        let root = edit(&vault, &from, |editor| mutate(editor, &mut rng));
        for other in [from, *rng.pick(&roots).unwrap()] {
            let objects = vault.objects().unwrap();
            let found = diff::compare(objects, &other, &root).unwrap();
            assert_eq!(found, naive(&vault, &other, &root));
            let back = diff::compare(objects, &root, &other).unwrap();
            assert_eq!(back.len(), found.len());
        }
        roots.push(root);
    }
}

/// The sums and hashes of every directory are what its entries say.
#[test]
fn equal_trees_have_equal_roots_whatever_their_history() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let seed = seed_from_env_or(5);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for count in [1, 255, 256, 257, 700, 3_000] {
        let wanted: Vec<u64> = (0..count).collect();
        let all_at_once = build(&vault, &wanted);
        // In another order, in several steps, with others that come and go.
        let mut order = wanted.clone();
        rng.shuffle(&mut order);
        let mut root = edit(&vault, &build(&vault, &[]), |editor| {
            (0..count / 2 + 300).for_each(|n| add(editor, 1_000_000 + n));
        });
        for part in order.chunks(order.len() / 3 + 1) {
            root = edit(&vault, &root, |editor| part.iter().for_each(|n| add(editor, *n)));
        }
        root = edit(&vault, &root, |editor| {
            (0..count / 2 + 300).for_each(|n| {
                drop(editor.remove(&path(&format!("/d/{}", 1_000_000 + n))).unwrap());
            });
        });
        assert_eq!(root, all_at_once, "{count} entries");
        let tree = vault.tree(&root).unwrap();
        let dir = *tree.find(&path("/d")).unwrap().directory().unwrap();
        assert_eq!((dir.entries, dir.bytes), (count, count * 8));
        assert_eq!(tree.list(&dir).unwrap().len() as u64, count);
        for n in [0, count / 2, count - 1] {
            let found = vault.objects().unwrap().entry(&dir, n.to_string().as_bytes()).unwrap();
            assert_eq!(found.unwrap().name, n.to_string().as_bytes());
        }
        assert!(vault.objects().unwrap().entry(&dir, b"1000000").unwrap().is_none());
        assert!(vault.objects().unwrap().entry(&dir, b"!").unwrap().is_none());
    }
}

fn build(vault: &Vault, wanted: &[u64]) -> RootId {
    edit(vault, &head(vault), |editor| {
        editor.make_directories(&path("/d"), &meta(0o755)).unwrap();
        wanted.iter().for_each(|n| add(editor, *n));
    })
}

fn add(editor: &mut TreeEditor<'_>, n: u64) {
    editor.put(&path(&format!("/d/{n}")), file(n, 0o644)).unwrap();
}

#[test]
fn of_equal_files_those_of_one_name_belong_together() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let same = || Some(Arc::new(file(1, 0o644)));
    let gone = ["/a/x", "/a/y", "/b/z"].map(|at| Change {
        path: path(at),
        before: same(),
        after: None,
        moved: None,
    });
    let new = ["/c/q", "/c/y", "/c/z", "/d/z"].map(|at| Change {
        path: path(at),
        before: None,
        after: same(),
        moved: None,
    });
    let all = [gone.as_slice(), &new].concat();
    let objects = vault.objects().unwrap();
    let found = diff::detect_renames(objects, all, &diff::DiffOptions::default()).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|change| {
            let from = change.moved.as_ref().map(|(from, alike)| (from.to_string(), *alike));
            (change.path.to_string(), from)
        })
        .collect();
    let moved = |to: &str, from: &str| (to.to_owned(), Some((from.to_owned(), 100)));
    let expected = [
        moved("/c/q", "/a/x"),
        moved("/c/y", "/a/y"),
        moved("/c/z", "/b/z"),
        ("/d/z".into(), None),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_tree_that_was_asked_before_answers_as_a_new_one() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let deep = ["/a/b/c/d/1", "/a/b/c/2", "/a/b/e/3", "/a/4", "/f/b/c/5", "/6"];
    let root = edit(&vault, &head(&vault), |editor| {
        for (number, at) in deep.iter().enumerate() {
            let at = path(at);
            editor.make_directories(&at.parent().unwrap(), &meta(0o755)).unwrap();
            editor.put(&at, file(number as u64, 0o644)).unwrap();
        }
    });
    let others =
        ["/", "/a", "/a/b/c", "/a/b/c/none", "/a/b/none/x", "/6/x", "/a/b/c/2/x/y", "/f/b"];
    let asked: Vec<VaultPath> = deep.iter().chain(&others).map(|at| path(at)).collect();
    let tree = vault.tree(&root).unwrap();
    let mut rng = Rng::new(seed_from_env_or(7));
    for _ in 0..500 {
        let at = rng.pick(&asked).unwrap();
        let fresh = vault.tree(&root).unwrap();
        assert_eq!(tree.get(at).unwrap(), fresh.get(at).unwrap(), "{at}");
    }
}
