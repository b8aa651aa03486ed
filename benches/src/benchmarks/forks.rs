//! The disk space of forks.

use crate::Result;
use crate::bench::Bench;
use crate::report::{Goal, Report, Unit};
use crate::run::disk_use;
use crate::tree;

pub(super) const NAME: &str = "forks";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(200, 10_000);
    let forks = bench.options.scaled(2, 20);
    let tree = bench.tree(files)?;
    let (mut sizes, mut bare, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    // Sizes do not vary as times do.
    for _ in 0..bench.options.pairs().min(3) {
        let home = bench.vault_of(&tree)?;
        let measure = || -> Result<f64> {
            bench.settle()?;
            Ok(disk_use(&home)? as f64)
        };
        let before = measure()?;
        for fork in 0..forks {
            bench.prepare(
                &home,
                &tree,
                &["workspace", "create", &format!("fork-{fork}"), "--from", "head"],
            )?;
        }
        let forked = measure()?;
        for fork in 0..forks {
            let (name, path) = (format!("fork-{fork}"), format!("/{}", tree::file(fork).display()));
            let source = tree.join(tree::file(fork + 1));
            let from = source.to_str().expect("the place of benchmarks has a plain name");
            bench.prepare(&home, &tree, &["fs", "write", "-w", &name, "--from", from, &path])?;
        }
        sizes.push(before);
        bare.push((forked - before) * 100.0 / before);
        changed.push((measure()? - before) * 100.0 / before);
    }
    let about = format!("{forks} forks of a vault of {files} files, with the write-ahead log");
    let mut report = Report::new(NAME, about);
    report.add("the vault before", Unit::Size, sizes);
    report.add_with_goal("added by forks", Unit::Percent, bare, Goal::Below(2.0));
    report.add("and by a change in each", Unit::Percent, changed);
    Ok(report)
}
