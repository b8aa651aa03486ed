//! Writing a file into a workspace.

use std::fs::File;
use std::io::{Seek, Write};
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
    let write = contest.add(|turn| {
        make_new(&source, turn)?;
        let home = bench.vault_of(&project)?;
        bench.prepare(&home, &project, &["workspace", "create", "w"])?;
        bench.settle()?;
        let mut command = bench.offshoot(&home, &project, &["fs", "write", "-w", "w", "--from"]);
        let took = timed(command.arg(&source).arg("/new"))?;
        bench.remove(&home)?;
        Ok(took)
    });
    let dd = contest.add(|turn| {
        make_new(&source, turn)?;
        bench.settle()?;
        let copy = bench.fresh("copy");
        let took = copy_synced(&source, &copy)?;
        bench.remove(&copy)?;
        Ok(took)
    });
    let found = contest.run(bench.options.pairs())?;
    bench.remove(&source)?;
    let shown =
        if size < 1 << 20 { format!("{} KiB", size >> 10) } else { format!("{} MiB", size >> 20) };
    report.add(format!("{shown}: offshoot fs write"), Unit::Time, found.seconds(write));
    report.add(format!("{shown}: dd conv=fsync"), Unit::Time, found.seconds(dd));
    report.add(format!("{shown}: offshoot / dd"), Unit::Ratio, found.ratio(write, dd));
    Ok(())
}

/// Changes the source, since bytes that a vault knows already cost it nothing.
fn make_new(source: &Path, turn: usize) -> Result<()> {
    let mut file = File::options().write(true).open(source)?;
    file.rewind()?;
    Ok(file.write_all(&turn.to_le_bytes())?)
}

fn copy_synced(from: &Path, to: &Path) -> Result<Duration> {
    let file = |option: &str, path: &Path| format!("{option}={}", path.display());
    let mut command = Command::new("dd");
    command.args(["bs=1M", "conv=fsync", "status=none"]);
    timed(command.args([file("if", from), file("of", to)]))
}
