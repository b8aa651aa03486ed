//! Merging a history by Offshoot and by git, and comparing the two.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use offshoot_host::Mtime;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions, Merged, Side};
use offshoot_tree::{Batch, Body, Entry, Meta, RootId, TreeEditor, VaultPath};
use offshoot_vault::Vault;

use crate::git_repo::{Commit, Files, Outcome, Repository, Verdict, judge};

/// A place to merge in.
pub(crate) struct Merger {
    pub(crate) vault: Vault,
    pub(crate) scratch: PathBuf,
}

/// What came of a merge.
pub(crate) struct Compared {
    pub(crate) verdict: Verdict,
    pub(crate) conflicts: usize,
    /// Where the two differ.
    pub(crate) differences: Vec<Difference>,
    /// Files in conflict for both, and how many of these have the same text.
    pub(crate) marked: (usize, usize),
}

/// A path that came out differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    /// The kinds of our conflicts there.
    pub(crate) ours: Vec<&'static str>,
    /// The kinds of git's.
    pub(crate) git: Vec<String>,
    /// The file in our merge.
    pub(crate) our_file: Shown,
    /// The file in git's.
    pub(crate) git_file: Shown,
}

/// What a merge shows at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// The file of the newest version that was merged.
    Newest,
    Other,
}

impl Merger {
    /// Merges the last two states of a history.
    pub(crate) fn compare(&self, states: &[Files]) -> Compared {
        let merged = self.merge(states);
        let dir = tempfile::tempdir_in(&self.scratch).unwrap();
        let repository = Repository::new(dir.path(), &commits(states));
        let (ours, theirs) = (states.len() - 2, states.len() - 1);
        let git = repository.merge(ours, theirs);
        let beside = merged.conflicts.iter().flat_map(|conflict| &conflict.beside);
        let beside: BTreeSet<Vec<u8>> = beside.map(VaultPath::relative).collect();
        let conflicts = merged.conflicts.iter().map(|conflict| conflict.path.relative()).collect();
        let found = Outcome { files: self.files(&merged), conflicts };
        let told = told(&repository, ours, theirs);
        Compared {
            verdict: judge(&found, &git, &beside),
            conflicts: found.conflicts.len(),
            differences: differences(&merged, &found, &git, &told, &beside, &states[theirs]),
            marked: marked(&found, &git),
        }
    }

    /// What git makes of two sides, with the preferred side's file where there is a conflict.
    pub(crate) fn decided(&self, [base, ours, theirs]: [&Files; 3], preferred: &Files) -> Files {
        let dir = tempfile::tempdir_in(&self.scratch).unwrap();
        let states = [base.clone(), ours.clone(), theirs.clone()];
        let Outcome { mut files, conflicts } =
            Repository::new(dir.path(), &commits(&states)).merge(1, 2);
        for path in conflicts {
            match preferred.get(&path) {
                Some(file) => drop(files.insert(path, file.clone())),
                None => drop(files.remove(&path)),
            }
        }
        files
    }

    fn merge(&self, states: &[Files]) -> Merged {
        let roots: Vec<RootId> = states.iter().map(|files| self.store(files)).collect();
        let base = match roots.as_slice() {
            [base, _, _] => Base::Root(*base),
            [base, left, right, ..] => {
                Base::Several { roots: vec![*left, *right], base: Box::new(Base::Root(*base)) }
            }
            _ => panic!("a history has three states or five"),
        };
        let label = |at: usize| format!("c{at}");
        let side = |at: usize| Side { label: label(at), root: roots[at] };
        let sides = [side(roots.len() - 2), side(roots.len() - 1)];
        let inputs = MergeInputs { base: &base, sides: &sides };
        self.vault.merge(&inputs, &MergeOptions::default()).unwrap()
    }

    fn store(&self, files: &Files) -> RootId {
        let head = self.vault.head().unwrap().root;
        let time = Mtime { seconds: 0, nanoseconds: 0 };
        let meta = |mode: u16| Meta { mode, mtime: time, ..Meta::default() };
        let mut editor = TreeEditor::open(self.vault.objects().unwrap(), &head, time).unwrap();
        for (path, (mode, bytes)) in files {
            let path = VaultPath::parse(path).unwrap();
            editor.make_directories(&path.parent().unwrap(), &meta(0o755)).unwrap();
            let content =
                self.vault.add_content(&mut bytes.as_slice(), Path::new("corpus")).unwrap();
            let body = Body::File { size: content.size, blob: content.blob };
            let meta = meta((mode & 0o777) as u16);
            editor.put(&path, Entry::new(meta, body)).unwrap();
        }
        let mut batch = Batch::default();
        let (root, _) = editor.finish(&mut batch).unwrap();
        self.vault.store(&batch).unwrap();
        root
    }

    fn files(&self, merged: &Merged) -> Files {
        let tree = self.vault.tree(&merged.root).unwrap();
        let mut files = Files::new();
        let mut visit = |path: &VaultPath, entry: &Entry| {
            if let Body::File { blob, .. } = &entry.body {
                let mode = if entry.is_executable() { 0o100_755 } else { 0o100_644 };
                files.insert(path.relative(), (mode, tree.objects().blob(blob)?));
            }
            Ok(())
        };
        tree.walk(&VaultPath::top(), tree.top().directory().unwrap(), &mut visit).unwrap();
        files
    }
}

/// The history for git; its shape follows from how many states there are.
fn commits(states: &[Files]) -> Vec<Commit<'_>> {
    let parents = |at: usize| match (at, states.len()) {
        (0, _) => vec![],
        (3, 5) => vec![1, 2],
        (4, 5) => vec![2, 1],
        _ => vec![0],
    };
    states.iter().enumerate().map(|(at, files)| Commit { parents: parents(at), files }).collect()
}

/// What git says about each path.
fn told(repository: &Repository, ours: usize, theirs: usize) -> BTreeMap<Vec<u8>, Vec<String>> {
    let (ours, theirs) = (format!("c{ours}"), format!("c{theirs}"));
    let words = ["merge-tree", "--write-tree", "--name-only", "-z", &ours, &theirs];
    let output = repository.run(&words, b"").stdout;
    let mut fields = output.split(|byte| *byte == 0).skip(1).skip_while(|field| !field.is_empty());
    fields.next();
    let mut told: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    // A number of paths, these, the kind, and a sentence.
    while let Some(count) =
        fields.next().and_then(|field| std::str::from_utf8(field).ok()?.parse().ok())
    {
        let paths: Vec<Vec<u8>> = fields.by_ref().take(count).map(<[u8]>::to_vec).collect();
        let kind = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
        fields.next();
        if kind.starts_with("CONFLICT") {
            for path in paths {
                let kinds = told.entry(path).or_default();
                if !kinds.contains(&kind) {
                    kinds.push(kind.clone());
                }
            }
        }
    }
    told
}

/// Which conflicts only one has, and which other files differ.
fn differences(
    merged: &Merged,
    ours: &Outcome,
    git: &Outcome,
    told: &BTreeMap<Vec<u8>, Vec<String>>,
    beside: &BTreeSet<Vec<u8>>,
    newest: &Files,
) -> Vec<Difference> {
    let paths: BTreeSet<&Vec<u8>> = ours.files.keys().chain(git.files.keys()).collect();
    let conflicts = ours.conflicts.symmetric_difference(&git.conflicts);
    let is_conflict =
        |path: &Vec<u8>| ours.conflicts.contains(path) || git.conflicts.contains(path);
    let others = paths.into_iter().filter(|path| {
        let differs = ours.files.get(*path) != git.files.get(*path);
        differs && !is_conflict(path) && !beside.contains(*path)
    });
    let shown = |files: &Files, path: &Vec<u8>| match files.get(path) {
        None => Shown::Nothing,
        file if file == newest.get(path) => Shown::Newest,
        Some(_) => Shown::Other,
    };
    let difference = |path: &Vec<u8>| {
        let here = merged.conflicts.iter().filter(|conflict| conflict.path.relative() == *path);
        Difference {
            path: String::from_utf8_lossy(path).into_owned(),
            ours: here.map(|conflict| conflict.kind.word()).collect(),
            git: told.get(path).cloned().unwrap_or_default(),
            our_file: shown(&ours.files, path),
            git_file: shown(&git.files, path),
        }
    };
    conflicts.chain(others).map(difference).collect()
}

fn marked(ours: &Outcome, git: &Outcome) -> (usize, usize) {
    let text = |outcome: &Outcome, path| outcome.files.get(path).map(|(_, bytes)| unnamed(bytes));
    let both = ours.conflicts.intersection(&git.conflicts);
    let equal = both.clone().filter(|path| text(ours, *path) == text(git, *path));
    (both.count(), equal.count())
}

/// A text without the label of the base, which is a commit for git.
fn unnamed(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let kept = |line: &'_ [u8]| {
        if line.starts_with(b"|||||||") { b"|||||||\n".to_vec() } else { line.to_vec() }
    };
    lines.flat_map(kept).collect()
}
