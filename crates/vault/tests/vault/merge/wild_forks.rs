//! Forks that do anything to directories, links, pipes and metadata, held against laws instead of a model.

use std::collections::BTreeSet;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;
use offshoot_tree::merge::Merged;
use offshoot_tree::{Body, Entry, RootId, TreeEditor, VaultPath};

use super::support::{Place, check_kept, found};
use crate::support::{file, meta, path};

struct Wild<'a> {
    place: &'a Place,
    rng: Rng,
    lines: u64,
}

impl Wild<'_> {
    fn text(&mut self) -> String {
        let count = 4 + self.rng.below(6);
        let line = |_| {
            self.lines += 1;
            format!("line {} of all\n", self.lines)
        };
        (0..count).map(line).collect()
    }

    fn entry(&mut self) -> Entry {
        let mode = [0o644, 0o755, 0o600, 0o4750][self.rng.below(4) as usize];
        match self.rng.below(12) {
            0 => {
                let target = format!("target-{}", self.rng.below(3)).into_bytes();
                let body = Body::Symlink { target };
                Entry::new(meta(0o777), body)
            }
            1 => Entry::new(meta(mode), Body::Fifo),
            _ => {
                let text = self.text();
                let mut entry = file(&self.place.vault, text.as_bytes());
                entry.meta.mode = mode;
                entry.group = [None, None, Some(1), Some(2)][self.rng.below(4) as usize];
                entry
            }
        }
    }

    fn folder(&mut self) -> VaultPath {
        path(["/", "/a", "/b", "/a/c", "/a/c/d", "/e"][self.rng.below(6) as usize])
    }

    fn any(&mut self) -> VaultPath {
        let name = ["x", "y", "z", "a", "c"][self.rng.below(5) as usize];
        self.folder().join(name.as_bytes())
    }

    /// Does something to a tree; what cannot be done is not.
    fn step(&mut self, editor: &mut TreeEditor<'_>) {
        let at = self.any();
        let is_folder = |editor: &mut TreeEditor<'_>, at: &VaultPath| {
            editor.get(at).unwrap().is_some_and(|entry| entry.directory().is_some())
        };
        let parent = at.parent().unwrap();
        match self.rng.below(8) {
            0 => drop(editor.remove(&at)),
            1 => drop(editor.make_directories(&at, &meta(0o755))),
            2 => {
                let to = self.any();
                if !to.is_within(&at)
                    && is_folder(editor, &to.parent().unwrap())
                    && editor.get(&to).unwrap().is_none()
                    && let Ok(entry) = editor.remove(&at)
                {
                    editor.put(&to, entry).unwrap();
                }
            }
            3 => {
                if let Some(mut entry) = editor.get(&at).unwrap()
                    && entry.directory().is_none()
                {
                    entry.meta.mode ^= 0o111;
                    entry.meta.xattrs = vec![(b"user.x".to_vec(), vec![self.rng.below(3) as u8])];
                    editor.put(&at, entry).unwrap();
                }
            }
            4 => {
                if let Some(entry) = editor.get(&at).unwrap()
                    && matches!(entry.body, Body::File { .. })
                {
                    let bytes = [self.place.bytes(&entry), self.text().into_bytes()].concat();
                    let body = file(&self.place.vault, &bytes).body;
                    editor.put(&at, Entry { body, ..entry }).unwrap();
                }
            }
            _ if is_folder(editor, &parent) => {
                let entry = self.entry();
                editor.put(&at, entry).unwrap();
            }
            _ => {}
        }
    }

    fn fork(&mut self, root: &RootId, steps: u64) -> RootId {
        let place = self.place;
        place.from(root, |editor| (0..steps).for_each(|_| self.step(editor)))
    }
}

/// The lines of all files of a state.
fn lines(place: &Place, root: &RootId) -> BTreeSet<String> {
    let files = place.leaves(root).into_values();
    files.flat_map(|entry| lines_of(place, &entry)).collect()
}

fn lines_of(place: &Place, entry: &Entry) -> Vec<String> {
    let bytes = place.bytes(entry);
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

fn kept(place: &Place, merged: &Merged) -> BTreeSet<String> {
    let mut kept = lines(place, &merged.root);
    for version in merged.conflicts.iter().flat_map(|conflict| &conflict.sides).flatten() {
        kept.extend(lines_of(place, &version.entry));
    }
    kept
}

#[test]
fn whatever_forks_do_the_laws_hold() {
    let place = Place::new();
    let seed = seed_from_env_or(21);
    for case in 0..cases(150, 5_000) {
        println!("seed {seed}, case {case}");
        let rng = Rng::new(seed ^ (case << 24));
        let mut wild = Wild { place: &place, rng, lines: 0 };
        let empty = place.state(&[]);
        let base = wild.fork(&empty, 40);
        let count = 2 + wild.rng.below(2);
        let sides: Vec<RootId> = (0..count)
            .map(|_| {
                let steps = wild.rng.below(10);
                wild.fork(&base, steps)
            })
            .collect();
        let merged = place.merge(&base, &sides);
        let (before, kept) = (lines(&place, &base), kept(&place, &merged));
        for side in &sides {
            assert_eq!(place.merge(&base, &[*side, *side]).root, *side);
            assert_eq!(place.merge(&base, &[base, *side]).root, *side);
            let lost: Vec<String> = lines(&place, side)
                .into_iter()
                .filter(|line| !before.contains(line) && !kept.contains(line))
                .collect();
            assert_eq!(lost, [""; 0], "lines of a side are lost");
        }
        let back: Vec<RootId> = sides.iter().rev().copied().collect();
        let back = place.merge(&base, &back);
        assert_eq!(found(&back), found(&merged), "the order matters");
        if merged.conflicts.is_empty() {
            assert_eq!(back.root, merged.root, "the order matters");
        }
        check_tree(&place, &merged);
        check_kept(&place, &merged);
    }
}

/// The merged tree is what it would be if somebody made it anew, and conflicts name what is there.
fn check_tree(place: &Place, merged: &Merged) {
    let all = place.everything(&merged.root);
    let top = place.vault.objects().unwrap().root(&merged.root).unwrap();
    let empty = place.state(&[]);
    let again = place.from(&empty, |editor| {
        for (name, entry) in &all {
            let at = path(name);
            match entry.directory() {
                Some(_) => {
                    let folder = editor.empty_directory(entry.meta.clone()).unwrap();
                    let conflict = entry.conflict.clone();
                    editor.put(&at, Entry { conflict, ..folder }).unwrap();
                }
                None => editor.put(&at, entry.clone()).unwrap(),
            }
        }
    });
    let again = place.vault.objects().unwrap().root(&again).unwrap();
    let sums = |entry: &Entry| {
        let dir = entry.directory().unwrap();
        (dir.content, dir.bytes, dir.entries)
    };
    assert_eq!(sums(&top), sums(&again));
    for conflict in &merged.conflicts {
        for beside in &conflict.beside {
            assert!(all.contains_key(&beside.to_string()), "{beside}");
        }
    }
}
