//! Merging two forks of a large tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offshoot_store::Id;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions, Side};
use offshoot_tree::{Batch, Body, RootId, TreeEditor, VaultPath};
use offshoot_vault::{Actor, ImportOptions, Vault, VaultOptions, VaultRegistry};

use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::run::{copy, git, timed};
use crate::{Result, tree};

pub(super) const NAME: &str = "merge";

/// One in so many edits is in a file that the other fork edits too, elsewhere in it.
const SHARED: usize = 10;

/// Which files a fork edits, and how.
#[derive(Clone, Copy)]
struct Fork {
    name: &'static str,
    edits: usize,
    files: usize,
    is_second: bool,
}

impl Fork {
    /// The numbers of its files, spread over the tree.
    fn numbers(self) -> impl Iterator<Item = usize> {
        let step = self.files / self.edits;
        let own = usize::from(self.is_second) * (step / 2);
        (0..self.edits).map(move |n| n * step + if n.is_multiple_of(SHARED) { 0 } else { own })
    }

    /// A file after the edit: one fork writes at the beginning, the other at the end.
    fn edited(self, tree: &Path, number: usize) -> Result<Vec<u8>> {
        let text = fs::read(tree.join(tree::file(number)))?;
        let line = format!("edited by {}\n", self.name).into_bytes();
        let parts =
            if self.is_second { [text, b"\n".to_vec(), line] } else { [line, text, vec![]] };
        Ok(parts.concat())
    }
}

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(400, 100_000);
    let edits = bench.options.scaled(20, 1_000);
    let tree = bench.tree(files)?;
    let fork = |name, is_second| Fork { name, edits, files, is_second };
    let forks = [fork("ours", false), fork("theirs", true)];
    let vault = OurSide::new(bench, &tree, forks)?;
    let repository = GitSide::new(bench, &tree, forks)?;
    bench.settle()?;

    let mut contest = Contest::default();
    let ours = contest.add(|_| vault.merge());
    let checkout = contest.add(|_| repository.merge());
    let in_memory = contest
        .add(|_| timed(&mut repository.git(&["merge-tree", "--write-tree", "ours", "theirs"])));
    let found = contest.run(bench.options.pairs())?;

    let text = format!("{files} files, {edits} edits in each of two forks");
    let mut report = Report::new(NAME, text);
    report.add("Vault::merge", Unit::Time, found.seconds(ours));
    report.add("git merge", Unit::Time, found.seconds(checkout));
    report.add("git merge-tree", Unit::Time, found.seconds(in_memory));
    let ratio = found.ratio(ours, checkout);
    report.add_with_goal("offshoot / git merge", Unit::Ratio, ratio, Goal::AtMost(1.0));
    let ratio = found.ratio(ours, in_memory);
    report.add_with_goal("offshoot / git merge-tree", Unit::Ratio, ratio, Goal::AtMost(1.5));
    Ok(report)
}

/// A vault with the forks.
struct OurSide {
    dir: PathBuf,
    id: Id,
    base: RootId,
    sides: Vec<Side>,
}

impl OurSide {
    fn new(bench: &Bench, tree: &Path, forks: [Fork; 2]) -> Result<Self> {
        let home = VaultRegistry::new(bench.fresh("home"), VaultOptions::default());
        let created =
            home.create("bench", Some(tree), &ImportOptions::default(), &Actor::user("bench"))?;
        let vault = created.vault;
        let base = vault.head()?.root;
        let mut sides = Vec::new();
        for fork in forks {
            let root = edit(&vault, &base, tree, fork)?;
            sides.push(Side { label: fork.name.to_owned(), root });
        }
        Ok(Self { dir: vault.dir().to_owned(), id: vault.id(), base, sides })
    }

    /// Opens the vault and merges, as a command would.
    fn merge(&self) -> Result<Duration> {
        let start = Instant::now();
        let vault = Vault::open(&self.dir, self.id, &VaultOptions::default())?;
        let inputs = MergeInputs { base: &Base::Root(self.base), sides: &self.sides };
        let merged = vault.merge(&inputs, &MergeOptions::default())?;
        let took = start.elapsed();
        if !merged.conflicts.is_empty() {
            return Err(format!("{} conflicts", merged.conflicts.len()).into());
        }
        Ok(took)
    }
}

fn edit(vault: &Vault, base: &RootId, tree: &Path, fork: Fork) -> Result<RootId> {
    let top = vault.objects()?.root(base)?;
    let mut editor = TreeEditor::open(vault.objects()?, base, top.meta.mtime)?;
    for number in fork.numbers() {
        let path = tree::file(number);
        let path = VaultPath::parse(path.as_os_str().as_encoded_bytes())?;
        let bytes = fork.edited(tree, number)?;
        let content = vault.add_content(&mut bytes.as_slice(), tree)?;
        let mut entry = editor.get(&path)?.ok_or("the tree lacks a file")?;
        entry.body = Body::File { size: content.size, blob: content.blob };
        editor.put(&path, entry)?;
    }
    let mut batch = Batch::default();
    let (root, _) = editor.finish(&mut batch)?;
    vault.store(&batch)?;
    Ok(root)
}

/// A repository with the forks as branches, and a checkout of the first.
struct GitSide {
    data: PathBuf,
    files: PathBuf,
}

impl GitSide {
    fn new(bench: &Bench, tree: &Path, forks: [Fork; 2]) -> Result<Self> {
        let side = Self { data: bench.fresh("git"), files: bench.fresh("checkout") };
        timed(&mut copy(tree, &side.files))?;
        side.prepare(&["init", "--quiet", "--initial-branch", "base"])?;
        side.commit_all()?;
        for fork in forks.into_iter().rev() {
            side.prepare(&["checkout", "--quiet", "-b", fork.name, "base"])?;
            for number in fork.numbers() {
                fs::write(side.files.join(tree::file(number)), fork.edited(tree, number)?)?;
            }
            side.commit_all()?;
        }
        side.prepare(&["repack", "-adq"])?;
        Ok(side)
    }

    fn commit_all(&self) -> Result<()> {
        self.prepare(&["add", "--all"])?;
        self.prepare(&["commit", "--quiet", "-m", "x"])
    }

    /// Merges into the checkout, and takes it back.
    fn merge(&self) -> Result<Duration> {
        let took = timed(&mut self.git(&["merge", "--quiet", "-m", "x", "theirs"]))?;
        self.prepare(&["reset", "--quiet", "--hard", "HEAD^1"])?;
        Ok(took)
    }

    fn prepare(&self, words: &[&str]) -> Result<()> {
        timed(&mut self.git(words)).map(drop)
    }

    fn git(&self, words: &[&str]) -> std::process::Command {
        git(&self.data, &self.files, words)
    }
}
