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
    bench.settle()?;
    let mut contest = Contest::default();
    let export = contest.add(|_| {
        let to = bench.fresh("export");
        let mut command = bench.offshoot(&home, &tree, &["fs", "export", "/"]);
        let took = timed(command.arg(&to))?;
        bench.remove(&to)?;
        Ok(took)
    });
    let cp = contest.add(|_| {
        let to = bench.fresh("copy");
        let took = timed(&mut copy(&tree, &to))?;
        bench.remove(&to)?;
        Ok(took)
    });
    let found = contest.run(bench.options.pairs())?;
    bench.remove(&home)?;

    let about = format!("{files} files, verified on the way; neither side waits for the disk");
    let mut report = Report::new(NAME, about);
    report.add("offshoot fs export /", Unit::Time, found.seconds(export));
    report.add("cp -a", Unit::Time, found.seconds(cp));
    report.add("offshoot / cp", Unit::Ratio, found.ratio(export, cp));
    Ok(report)
}
