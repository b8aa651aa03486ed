//! Bringing the work of a workspace into the folder.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::run::{all_timed, copy, git, sync, timed};
use crate::{Result, tree};

pub(super) const NAME: &str = "merge-commit";

/// How many files somebody changes in the folder while the workspace is at work.
const MEANWHILE: usize = 10;

/// What is committed.
#[derive(Clone, Copy)]
struct Work {
    files: usize,
    edits: usize,
    /// Whether the folder was changed meanwhile, so that both have to be merged.
    is_merge: bool,
}

impl Work {
    /// The files that the workspace changes, spread over the tree.
    fn edited(self) -> Vec<PathBuf> {
        let step = self.files / self.edits;
        (0..self.edits).map(|n| tree::file(n * step)).collect()
    }

    /// The files that somebody changes in the folder. Half of them the workspace changes too, elsewhere in the file.
    fn meanwhile(self) -> Vec<PathBuf> {
        if !self.is_merge {
            return Vec::new();
        }
        let step = self.files / self.edits;
        let other = |n: usize| n % 2 * (step / 2).max(1);
        let all = (0..self.edits.min(MEANWHILE)).map(|n| tree::file(n * step + other(n)));
        all.collect()
    }

    fn label(self) -> String {
        let Self { files, edits, is_merge } = self;
        let how = if is_merge { "merged" } else { "alone" };
        format!("{edits} of {files}, {how}")
    }
}

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let about = "files changed in a workspace come into the folder; alone, or merged with what changed there \
                 meanwhile. Offshoot waits for the disk, git only with `sync -f` after it";
    let mut report = Report::new(NAME, about.to_owned());
    for files in [bench.options.scaled(200, 10_000), bench.options.scaled(400, 100_000)] {
        let tree = bench.tree(files)?;
        let ours = OurSide::new(bench, &tree)?;
        let theirs = GitSide::new(bench, &tree)?;
        for edits in [bench.options.scaled(5, 10), bench.options.scaled(50, 1_000)] {
            for is_merge in [false, true] {
                compare(bench, Work { files, edits, is_merge }, &ours, &theirs, &mut report)?;
            }
        }
    }
    Ok(report)
}

fn compare(
    bench: &Bench,
    work: Work,
    ours: &OurSide<'_>,
    theirs: &GitSide<'_>,
    report: &mut Report,
) -> Result<()> {
    bench.settle()?;
    let mut contest = Contest::default();
    let commit = contest.add(|_| ours.commit(work));
    let merge = contest.add(|_| theirs.merge(work, false));
    let synced = contest.add(|_| theirs.merge(work, true));
    let found = contest.run(bench.options.pairs())?;
    let label = work.label();
    report.add(format!("offshoot commit, {label}"), Unit::Time, found.seconds(commit));
    report.add(format!("git merge, {label}"), Unit::Time, found.seconds(merge));
    report.add(format!("git merge and sync, {label}"), Unit::Time, found.seconds(synced));
    let ratio = found.ratio(commit, merge);
    report.add(format!("offshoot / git merge, {label}"), Unit::Ratio, ratio);
    let ratio = found.ratio(commit, synced);
    let row = format!("offshoot / git merge and sync, {label}");
    report.add_with_goal(row, Unit::Ratio, ratio, Goal::AtMost(1.0));
    Ok(())
}

/// Adds a line to each file, at its beginning or at its end.
fn edit(top: &Path, files: &[PathBuf], line: &str, is_first: bool) -> Result<()> {
    for file in files {
        let path = top.join(file);
        if is_first {
            let text = fs::read(&path)?;
            fs::write(&path, [line.as_bytes(), b"\n", &text].concat())?;
        } else {
            let mut file = File::options().append(true).open(&path)?;
            writeln!(file, "\n{line}")?;
        }
    }
    Ok(())
}

/// A folder with a vault.
struct OurSide<'a> {
    bench: &'a Bench,
    folder: PathBuf,
    home: PathBuf,
    turns: Cell<usize>,
}

impl<'a> OurSide<'a> {
    fn new(bench: &'a Bench, tree: &Path) -> Result<Self> {
        let folder = bench.fresh("folder");
        timed(&mut copy(tree, &folder))?;
        let home = bench.vault_of(&folder)?;
        Ok(Self { bench, folder, home, turns: Cell::new(0) })
    }

    /// Lets a command in a new workspace change files, and commits them.
    fn commit(&self, work: Work) -> Result<Duration> {
        let turn = self.turns.replace(self.turns.get() + 1);
        let (name, line) = (format!("w{turn}"), format!("turn {turn}"));
        self.prepare(&["workspace", "create", &name, "--from", "head"])?;
        let script = format!("for file; do printf '\\n{line}\\n' >> \"$file\"; done");
        let edited: Vec<String> =
            work.edited().iter().map(|file| file.display().to_string()).collect();
        let words = ["-c", "compact.auto=false", "exec", "-w", &name, "--", "sh", "-c", &script];
        let words = words.into_iter().chain(["sh"]).chain(edited.iter().map(String::as_str));
        self.prepare(&words.collect::<Vec<_>>())?;
        edit(&self.folder, &work.meanwhile(), &line, true)?;
        self.bench.settle()?;
        let words = ["commit", "-w", &name, "--quiet"];
        timed(&mut self.bench.offshoot(&self.home, &self.folder, &words))
    }

    fn prepare(&self, words: &[&str]) -> Result<()> {
        self.bench.prepare(&self.home, &self.folder, words)
    }
}

/// A repository with its checkout.
struct GitSide<'a> {
    bench: &'a Bench,
    data: PathBuf,
    files: PathBuf,
    turns: Cell<usize>,
}

impl<'a> GitSide<'a> {
    fn new(bench: &'a Bench, tree: &Path) -> Result<Self> {
        let (data, files) = (bench.fresh("git"), bench.fresh("checkout"));
        timed(&mut copy(tree, &files))?;
        let side = Self { bench, data, files, turns: Cell::new(0) };
        side.prepare(&["init", "--quiet", "--initial-branch", "main"])?;
        side.commit_all()?;
        side.prepare(&["repack", "-adq"])?;
        Ok(side)
    }

    /// Makes a branch with changes, and merges it into the checkout.
    fn merge(&self, work: Work, is_synced: bool) -> Result<Duration> {
        let turn = self.turns.replace(self.turns.get() + 1);
        let (name, line) = (format!("w{turn}"), format!("turn {turn}"));
        self.prepare(&["checkout", "--quiet", "-b", &name])?;
        edit(&self.files, &work.edited(), &line, false)?;
        self.commit_all()?;
        self.prepare(&["checkout", "--quiet", "main"])?;
        if work.is_merge {
            edit(&self.files, &work.meanwhile(), &line, true)?;
            self.commit_all()?;
        }
        self.bench.settle()?;
        let mut commands = vec![self.git(&["merge", "--quiet", "-m", "x", &name])];
        if is_synced {
            commands.push(sync(&self.files));
        }
        all_timed(&mut commands)
    }

    fn commit_all(&self) -> Result<()> {
        self.prepare(&["add", "--all"])?;
        self.prepare(&["commit", "--quiet", "-m", "x"])
    }

    fn prepare(&self, words: &[&str]) -> Result<()> {
        timed(&mut self.git(words)).map(drop)
    }

    fn git(&self, words: &[&str]) -> std::process::Command {
        git(&self.data, &self.files, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_meanwhile_is_partly_what_the_workspace_changes() {
        for (files, edits) in [(200, 5), (200, 50), (10_000, 1_000), (100_000, 10)] {
            let work = Work { files, edits, is_merge: true };
            let (edited, meanwhile) = (work.edited(), work.meanwhile());
            assert_eq!(edited.len(), edits);
            let shared = meanwhile.iter().filter(|file| edited.contains(file)).count();
            assert!(shared > 0 && shared < meanwhile.len(), "{shared} of {}", meanwhile.len());
            assert!(Work { is_merge: false, ..work }.meanwhile().is_empty());
        }
    }
}
