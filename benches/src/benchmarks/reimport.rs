//! Taking in a tree that did not change since.

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::run::{git, timed};

pub(super) const NAME: &str = "reimport";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(200, 10_000);
    let tree = bench.tree(files)?;
    let home = bench.vault_of(&tree)?;
    let data = bench.fresh("git");
    let command = |words: &[&str]| git(&data, &tree, words);
    for words in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "x"]] {
        timed(&mut command(words))?;
    }
    bench.settle()?;
    timed(&mut command(&["update-index", "--refresh"]))?;
    let mut contest = Contest::default();
    let init = contest.add(|_| timed(&mut bench.offshoot(&home, &tree, &["init"])));
    let status = contest.add(|_| timed(&mut command(&["status"])));
    let found = contest.run(bench.options.pairs() * 2)?;

    let mut report = Report::new(NAME, format!("{files} files, none of them changed"));
    report.add("offshoot init", Unit::Time, found.seconds(init));
    report.add("git status", Unit::Time, found.seconds(status));
    let ratio = found.ratio(init, status);
    report.add_with_goal("offshoot / git", Unit::Ratio, ratio, Goal::AtMost(1.5));
    Ok(report)
}
