//! Merges published versions of crates and compares every result with what git makes of it.
//!
//! Of each three versions in a row the middle one is the base of the other two, so that both sides have changes of their own;
//! and the first is the base of the second and of the third, where one side has what the other did and more.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

#[path = "../tests/vault/merge/git_repo.rs"]
mod git_repo;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use git_repo::{Commit, Files, Outcome, Repository, Verdict, judge};
use offshoot_vault::merge::{Base, MergeInputs, MergeOptions, Merged, Side};
use offshoot_vault::{
    Actor, Batch, Body, Entry, Home, ImportOptions, Meta, Mtime, RootId, TreeEditor, Vault,
    VaultOptions, VaultPath,
};

/// Files that name the version, and so are in conflict in every merge.
const ALWAYS_DIFFERENT: &[&str] =
    &[".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"];

/// The numbers of a version, and where its files are.
type Versions = BTreeMap<Vec<u64>, PathBuf>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(sources) = arguments.first() else {
        println!("usage: merge-corpus SOURCES [--list]");
        return ExitCode::from(2);
    };
    let list = arguments.iter().any(|argument| argument == "--list");
    let scratch = tempfile::tempdir().unwrap();
    let home = Home::new(scratch.path().join("home"), VaultOptions::default());
    let created = home.create("corpus", None, &ImportOptions::default(), &Actor::user("corpus"));
    let corpus = Corpus { vault: created.unwrap().vault, scratch: scratch.path().to_owned(), list };
    let mut verdicts: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut marked = Marked::default();
    for (name, versions) in crates(Path::new(sources)) {
        if versions.len() >= 3 {
            corpus.compare(&name, &versions, &mut verdicts, &mut marked);
        }
    }
    let total: usize = verdicts.values().sum();
    println!("{total} merges");
    verdicts.iter().for_each(|(verdict, count)| println!("{count:6} {verdict:?}"));
    println!("{} of {} files with conflicts have git's text", marked.equal, marked.all);
    let wrong = verdicts.get(&Verdict::DifferentClean).copied().unwrap_or(0);
    if total == 0 || wrong > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The crates below a registry's folder of sources.
fn crates(sources: &Path) -> BTreeMap<String, Versions> {
    let mut found: BTreeMap<String, Versions> = BTreeMap::new();
    for registry in entries(sources) {
        for dir in entries(&registry) {
            let name = dir.file_name().unwrap().to_string_lossy().into_owned();
            let Some((name, version)) = name.rsplit_once('-') else { continue };
            let numbers: Option<Vec<u64>> = version.split('.').map(|n| n.parse().ok()).collect();
            if let Some(numbers) = numbers {
                found.entry(name.to_owned()).or_default().insert(numbers, dir);
            }
        }
    }
    found
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

struct Corpus {
    vault: Vault,
    scratch: PathBuf,
    list: bool,
}

impl Corpus {
    fn compare(
        &self,
        name: &str,
        versions: &Versions,
        verdicts: &mut BTreeMap<Verdict, usize>,
        marked: &mut Marked,
    ) {
        let states: Vec<(Files, RootId)> = versions
            .values()
            .map(|dir| {
                let mut files = Files::new();
                read(dir, dir, &mut files);
                let root = self.store(&files);
                (files, root)
            })
            .collect();
        for (at, three) in states.windows(3).enumerate() {
            for [base, ours, theirs] in [[1, 0, 2], [0, 1, 2]] {
                let verdict = self.merge([&three[base], &three[ours], &three[theirs]], marked);
                *verdicts.entry(verdict.0).or_insert(0) += 1;
                let is_equal = matches!(verdict.0, Verdict::EqualClean | Verdict::EqualConflicts);
                if self.list && !is_equal {
                    println!(
                        "{name} {at} [{base} {ours} {theirs}]: {:?}\n{}",
                        verdict.0, verdict.1
                    );
                }
            }
        }
    }

    fn merge(
        &self,
        [base, ours, theirs]: [&(Files, RootId); 3],
        marked: &mut Marked,
    ) -> (Verdict, String) {
        let side =
            |label: &str, state: &(Files, RootId)| Side { label: label.into(), root: state.1 };
        let sides = [side("c1", ours), side("c2", theirs)];
        let inputs = MergeInputs { base: &Base::Root(base.1), sides: &sides };
        let merged = self.vault.merge(&inputs, &MergeOptions::default()).unwrap();
        let dir = tempfile::tempdir_in(&self.scratch).unwrap();
        let commits = [
            Commit { parents: vec![], files: &base.0 },
            Commit { parents: vec![0], files: &ours.0 },
            Commit { parents: vec![0], files: &theirs.0 },
        ];
        let git = Repository::new(dir.path(), &commits).merge(1, 2);
        let beside = merged.conflicts.iter().flat_map(|conflict| &conflict.beside);
        let beside: BTreeSet<Vec<u8>> = beside.map(VaultPath::relative).collect();
        let conflicts = merged.conflicts.iter().map(|conflict| conflict.path.relative()).collect();
        let found = Outcome { files: self.files(&merged), conflicts };
        marked.count(&found, &git);
        (judge(&found, &git, &beside), explain(&merged, &found, &git))
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
        let (root, _) = editor.finish(&mut batch);
        self.vault.store(&batch).unwrap();
        root
    }

    fn files(&self, merged: &Merged) -> Files {
        let tree = self.vault.tree(&merged.root).unwrap();
        let mut files = Files::new();
        let mut visit = |path: &VaultPath, entry: &Entry| {
            if let Body::File { blob, .. } = &entry.body {
                let mode = if entry.is_executable() { 0o100_755 } else { 0o100_644 };
                files.insert(path.relative(), (mode, self.vault.objects()?.blob(blob)?));
            }
            Ok(())
        };
        tree.walk(&VaultPath::top(), tree.top().directory().unwrap(), &mut visit).unwrap();
        files
    }
}

/// How many files with conflicts there are, and how many have the same text in both.
#[derive(Default)]
struct Marked {
    all: usize,
    equal: usize,
}

impl Marked {
    fn count(&mut self, ours: &Outcome, git: &Outcome) {
        for path in ours.conflicts.intersection(&git.conflicts) {
            let text = |outcome: &Outcome| outcome.files.get(path).map(|(_, bytes)| unnamed(bytes));
            self.all += 1;
            self.equal += usize::from(text(ours) == text(git));
        }
    }
}

/// A text without the label of the base, which is a commit for git.
fn unnamed(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let kept = |line: &'_ [u8]| {
        if line.starts_with(b"|||||||") { b"|||||||\n".to_vec() } else { line.to_vec() }
    };
    lines.flat_map(kept).collect()
}

/// Which conflicts only one has, and which other files differ.
fn explain(merged: &Merged, ours: &Outcome, git: &Outcome) -> String {
    let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
    let mut out = String::new();
    for path in ours.conflicts.difference(&git.conflicts) {
        let kinds: Vec<&str> = merged
            .conflicts
            .iter()
            .filter(|conflict| conflict.path.relative() == *path)
            .map(|conflict| conflict.kind.word())
            .collect();
        out.push_str(&format!("    only ours: {} {kinds:?}\n", text(path)));
    }
    for path in git.conflicts.difference(&ours.conflicts) {
        out.push_str(&format!("    only git: {}\n", text(path)));
    }
    let paths: BTreeSet<&Vec<u8>> = ours.files.keys().chain(git.files.keys()).collect();
    for path in paths {
        let is_conflict = ours.conflicts.contains(path) || git.conflicts.contains(path);
        if !is_conflict && ours.files.get(path) != git.files.get(path) {
            out.push_str(&format!("    differs: {}\n", text(path)));
        }
    }
    out
}

fn read(top: &Path, dir: &Path, files: &mut Files) {
    for path in entries(dir) {
        let found = std::fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(top).unwrap();
        if found.is_dir() {
            read(top, &path, files);
        } else if found.is_file() && !ALWAYS_DIFFERENT.iter().any(|other| name == Path::new(other))
        {
            let executable = found.permissions().mode() & 0o111 != 0;
            let mode = if executable { 0o100_755 } else { 0o100_644 };
            let name = name.as_os_str().as_bytes().to_vec();
            files.insert(name, (mode, std::fs::read(&path).unwrap()));
        }
    }
}
