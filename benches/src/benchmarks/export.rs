//! Writing a tree out.

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};
use crate::run::{copy, timed};

pub(super) const NAME: &str = "export";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(200, 10_000);
    let tree = bench.tree(files)?;
    let home = bench.vault_of(&tree)?;
    let mut contest = Contest::default();
    let export = contest.add(|_| {
        bench.settle()?;
        let mut command = bench.offshoot(&home, &tree, &["fs", "export", "/"]);
        timed(command.arg(bench.fresh("export")))
    });
    let cp = contest.add(|_| {
        bench.settle()?;
        timed(&mut copy(&tree, &bench.fresh("copy")))
    });
    let found = contest.run(bench.options.pairs())?;

    let about = format!("{files} files, verified on the way; neither side waits for the disk");
    let mut report = Report::new(NAME, about);
    report.add("offshoot fs export /", Unit::Time, found.seconds(export));
    report.add("cp -a", Unit::Time, found.seconds(cp));
    report.add("offshoot / cp", Unit::Ratio, found.ratio(export, cp));
    Ok(report)
}
