//! Operations that must not take longer in larger trees.

use std::path::PathBuf;
use std::time::Duration;

use crate::bench::Bench;
use crate::commit::RawLog;
use crate::contest::{Contest, Outcome, Side};
use crate::report::{Goal, Report, Unit};
use crate::run::timed;
use crate::{Result, tree};

pub(super) const NAME: &str = "scale";

/// Files that are changed where changes are looked at.
const CHANGES: usize = 10;

/// What is measured in each tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Fork,
    Checkpoint,
    Restore,
    Status,
    Diff,
}

impl Operation {
    const ALL: [Self; 5] = [Self::Fork, Self::Checkpoint, Self::Restore, Self::Status, Self::Diff];

    fn label(self) -> &'static str {
        match self {
            Self::Fork => "workspace create",
            Self::Checkpoint => "checkpoint create",
            Self::Restore => "checkpoint restore",
            Self::Status => "status, 10 changes",
            Self::Diff => "diff, 10 changes",
        }
    }

    fn commits(self) -> bool {
        !matches!(self, Self::Status | Self::Diff)
    }
}

/// A vault of a tree of some size, ready to be measured.
struct Place<'a> {
    bench: &'a Bench,
    files: usize,
    tree: PathBuf,
    home: PathBuf,
}

impl<'a> Place<'a> {
    fn new(bench: &'a Bench, files: usize) -> Result<Self> {
        let tree = bench.tree(files)?;
        let home = bench.vault_of(&tree)?;
        let place = Self { bench, files, tree, home };
        place.prepare(&["workspace", "create", "changed", "--from", "head"])?;
        for change in 0..CHANGES {
            place.change("changed", change * files / CHANGES, change)?;
        }
        place.prepare(&["workspace", "create", "restored", "--from", "head"])?;
        place.prepare(&["checkpoint", "create", "kept", "-w", "restored"])?;
        Ok(place)
    }

    fn prepare(&self, arguments: &[&str]) -> Result<()> {
        self.bench.prepare(&self.home, &self.tree, arguments)
    }

    /// Gives a file another one's content.
    fn change(&self, workspace: &str, number: usize, other: usize) -> Result<()> {
        let path = format!("/{}", tree::file(number).display());
        let source = self.tree.join(tree::file((number + other + 1) % self.files));
        let from = source.to_str().ok_or("the place of benchmarks has an odd name")?;
        self.prepare(&["fs", "write", "-w", workspace, "--from", from, &path])
    }

    fn measure(&self, operation: Operation, turn: usize) -> Result<Duration> {
        if operation == Operation::Restore {
            self.change("restored", 0, turn)?;
        }
        let name = format!("n-{turn}");
        let arguments: &[&str] = match operation {
            Operation::Fork => &["workspace", "create", &name, "--from", "head"],
            Operation::Checkpoint => &["checkpoint", "create", &name, "-w", "restored"],
            Operation::Restore => &["checkpoint", "restore", "kept", "-w", "restored"],
            Operation::Status => &["status", "-w", "changed"],
            Operation::Diff => &["diff", "-w", "changed"],
        };
        timed(&mut self.bench.offshoot(&self.home, &self.tree, arguments))
    }
}

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let sizes = if bench.options.smoke { [50, 100, 200] } else { [1_000, 10_000, 100_000] };
    let mut places = Vec::new();
    for files in sizes {
        places.push(Place::new(bench, files)?);
    }
    bench.settle()?;
    let largest = &places[places.len() - 1];
    let mut log = RawLog::create(&largest.home.join("raw.log"))?;
    let mut contest = Contest::default();
    let mut sides = Vec::new();
    for operation in Operation::ALL {
        let of_sizes =
            places.iter().map(|place| contest.add(move |turn| place.measure(operation, turn)));
        sides.push((operation, of_sizes.collect::<Vec<Side>>()));
    }
    let commit = contest.add(|_| log.commit());
    let version =
        contest.add(|_| timed(&mut bench.offshoot(&largest.home, &largest.tree, &["--version"])));
    // Each turn is short, so there can be more of them.
    let found = contest.run(bench.options.pairs() * bench.options.scaled(1, 2))?;
    let report = report(&sizes, &sides, commit, version, &found);
    Ok(report)
}

fn report(
    sizes: &[usize],
    sides: &[(Operation, Vec<Side>)],
    commit: Side,
    version: Side,
    found: &Outcome,
) -> Report {
    let mut report = Report::new(NAME, "whole calls of the binary in trees of several sizes");
    let most = sizes[sizes.len() - 1];
    for (operation, sides) in sides {
        let label = operation.label();
        for (files, side) in sizes.iter().zip(sides) {
            report.add(format!("{label}: {files} files"), Unit::Time, found.seconds(*side));
        }
    }
    report.add("start: offshoot --version", Unit::Time, found.seconds(version));
    report.add("raw: write and fdatasync 16 KiB", Unit::Time, found.seconds(commit));
    for (operation, sides) in sides {
        let (first, last) = (sides[0], sides[sides.len() - 1]);
        let label = format!("{}: {most} / {} files", operation.label(), sizes[0]);
        report.add_with_goal(label, Unit::Ratio, found.ratio(last, first), Goal::AtMost(2.0));
    }
    for (operation, sides) in sides.iter().filter(|(operation, _)| operation.commits()) {
        let label = format!("{}: {most} files - raw", operation.label());
        let above = found.minus(sides[sides.len() - 1], commit);
        report.add_with_goal(label, Unit::Time, above, Goal::AtMost(0.005));
    }
    report
}
