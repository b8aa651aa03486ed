//! Taking a tree into a new vault.

use std::time::Duration;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::run::{all_timed, copy, git, sync, timed};

pub(super) const NAME: &str = "import";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(200, 10_000);
    let tree = bench.tree(files)?;
    let init = |_| {
        bench.settle()?;
        timed(&mut bench.offshoot(&bench.fresh("home"), &tree, &["init"]))
    };
    let git_with = |settings: &[&str]| -> Result<Duration> {
        bench.settle()?;
        let data = bench.fresh("git");
        let command = |words: &[&str]| git(&data, &tree, &[settings, words].concat());
        all_timed(&mut [
            command(&["init", "--quiet"]),
            command(&["add", "."]),
            command(&["commit", "--quiet", "--message", "x"]),
        ])
    };
    let mut contest = Contest::default();
    let offshoot = contest.add(init);
    let cp = contest.add(|_| {
        bench.settle()?;
        all_timed(&mut [copy(&tree, &bench.fresh("copy")), sync(bench.dir())])
    });
    let git = contest.add(|_| git_with(&[]));
    let found = contest.run(bench.options.pairs())?;
    // For information, and slow: git syncs each of its files.
    let mut contest = Contest::default();
    let beside_synced = contest.add(init);
    let synced = contest.add(|_| git_with(&["-c", "core.fsync=all"]));
    let found_synced = contest.run(bench.options.pairs().min(3))?;

    let mut report = Report::new(NAME, format!("{files} files of 200 bytes to 8 KiB, in memory"));
    report.add("offshoot init", Unit::Time, found.seconds(offshoot));
    report.add("cp -a, sync -f", Unit::Time, found.seconds(cp));
    report.add("git init, add, commit", Unit::Time, found.seconds(git));
    report.add("git with core.fsync=all", Unit::Time, found_synced.seconds(synced));
    let goal = Goal::AtMost(1.5);
    report.add_with_goal("offshoot / cp", Unit::Ratio, found.ratio(offshoot, cp), goal);
    let goal = Goal::AtMost(0.5);
    report.add_with_goal("offshoot / git", Unit::Ratio, found.ratio(offshoot, git), goal);
    let ratio = found_synced.ratio(beside_synced, synced);
    report.add("offshoot / git, all synced", Unit::Ratio, ratio);
    Ok(report)
}
