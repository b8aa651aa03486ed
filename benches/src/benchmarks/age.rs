//! Calls on a vault that has seen many changes.

use std::path::Path;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::run::timed;

pub(super) const NAME: &str = "age";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let changes = bench.options.scaled(20, 1_000);
    let tree = bench.tree(bench.options.scaled(50, 100))?;
    let [young, old] = [bench.vault_of(&tree)?, bench.vault_of(&tree)?];
    // Each change is undone by the next, so that the vaults differ in their past only.
    for change in 0..changes / 2 {
        let name = format!("past-{change}");
        bench.prepare(&old, &tree, &["workspace", "create", &name, "--from", "head"])?;
        bench.prepare(&old, &tree, &["workspace", "delete", &name])?;
    }
    bench.settle()?;
    let mut contest = Contest::default();
    let create = |home: &Path, turn| {
        let name = format!("n-{turn}");
        timed(&mut bench.offshoot(home, &tree, &["workspace", "create", &name, "--from", "head"]))
    };
    let list = |home: &Path| timed(&mut bench.offshoot(home, &tree, &["workspace", "list"]));
    let create_young = contest.add(|turn| create(&young, turn));
    let create_old = contest.add(|turn| create(&old, turn));
    let list_young = contest.add(|_| list(&young));
    let list_old = contest.add(|_| list(&old));
    let found = contest.run(bench.options.pairs())?;

    let mut report = Report::new(NAME, format!("a new vault and one after {changes} changes"));
    report.add("workspace create: new", Unit::Time, found.seconds(create_young));
    report.add("workspace create: old", Unit::Time, found.seconds(create_old));
    report.add("workspace list: new", Unit::Time, found.seconds(list_young));
    report.add("workspace list: old", Unit::Time, found.seconds(list_old));
    let goal = Goal::AtMost(1.5);
    let ratio = found.ratio(create_old, create_young);
    report.add_with_goal("workspace create: old / new", Unit::Ratio, ratio, goal);
    let ratio = found.ratio(list_old, list_young);
    report.add_with_goal("workspace list: old / new", Unit::Ratio, ratio, goal);
    Ok(report)
}
