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
    let mut contest = Contest::default();
    let init = contest.add(|_| {
        let home = bench.fresh("home");
        let took = timed(&mut bench.offshoot(&home, &tree, &["init"]))?;
        bench.remove(&home)?;
        Ok(took)
    });
    let cp = contest.add(|_| {
        let to = bench.fresh("copy");
        let took = all_timed(&mut [copy(&tree, &to), sync(bench.dir())])?;
        bench.remove(&to)?;
        Ok(took)
    });
    let commit = |settings: &[&str]| -> Result<Duration> {
        let data = bench.fresh("git");
        let command = |words: &[&str]| git(&data, &tree, &[settings, words].concat());
        let took = all_timed(&mut [
            command(&["init", "--quiet"]),
            command(&["add", "."]),
            command(&["commit", "--quiet", "--message", "x"]),
        ])?;
        bench.remove(&data)?;
        Ok(took)
    };
    let git_default = contest.add(|_| commit(&[]));
    let git_synced = contest.add(|_| commit(&["-c", "core.fsync=all"]));
    let found = contest.run(bench.options.pairs())?;

    let mut report = Report::new(NAME, format!("{files} files of 200 bytes to 8 KiB, in memory"));
    report.add("offshoot init", Unit::Time, found.seconds(init));
    report.add("cp -a, sync -f", Unit::Time, found.seconds(cp));
    report.add("git init, add, commit", Unit::Time, found.seconds(git_default));
    report.add("git with core.fsync=all", Unit::Time, found.seconds(git_synced));
    let goal = Goal::AtMost(1.5);
    report.add_with_goal("offshoot / cp", Unit::Ratio, found.ratio(init, cp), goal);
    let ratio = found.ratio(init, git_default);
    report.add_with_goal("offshoot / git", Unit::Ratio, ratio, Goal::AtMost(0.5));
    report.add("offshoot / git, all synced", Unit::Ratio, found.ratio(init, git_synced));
    Ok(report)
}
