//! Writing a file into a workspace.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use offshoot_tests::rng::Rng;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};
use crate::run::timed;

pub(super) const NAME: &str = "write";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let about = "one new file into a workspace and onto the disk";
    let mut report = Report::new(NAME, about);
    let largest = bench.options.scaled(2 << 20, 64 << 20);
    for size in [1 << 10, 1 << 20, largest] {
        measure(bench, size, &mut report)?;
    }
    Ok(report)
}

fn measure(bench: &Bench, size: usize, report: &mut Report) -> Result<()> {
    let project = bench.tree(bench.options.scaled(50, 100))?;
    let source = bench.fresh("source");
    std::fs::write(&source, Rng::new(size as u64).bytes(size))?;
    let mut contest = Contest::default();
    // A vault that knew the bytes already would not write them again.
    let write = contest.add(|_| {
        let home = bench.vault_of(&project)?;
        bench.prepare(&home, &project, &["workspace", "create", "w", "--from", "head"])?;
        bench.settle()?;
        let mut command = bench.offshoot(&home, &project, &["fs", "write", "-w", "w", "--from"]);
        timed(command.arg(&source).arg("/new"))
    });
    let dd = contest.add(|_| {
        bench.settle()?;
        copy_synced(&source, &bench.fresh("copy"))
    });
    let found = contest.run(bench.options.pairs())?;
    let shown =
        if size < 1 << 20 { format!("{} KiB", size >> 10) } else { format!("{} MiB", size >> 20) };
    report.add(format!("{shown}: offshoot fs write"), Unit::Time, found.seconds(write));
    report.add(format!("{shown}: dd conv=fsync"), Unit::Time, found.seconds(dd));
    report.add(format!("{shown}: offshoot / dd"), Unit::Ratio, found.ratio(write, dd));
    Ok(())
}

fn copy_synced(from: &Path, to: &Path) -> Result<Duration> {
    let file = |option: &str, path: &Path| format!("{option}={}", path.display());
    let mut command = Command::new("dd");
    command.args(["bs=1M", "conv=fsync", "status=none"]);
    timed(command.args([file("if", from), file("of", to)]))
}
