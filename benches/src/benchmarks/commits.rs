//! Changes a second.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;
use crate::bench::Bench;
use crate::commit::RawLog;
use crate::contest::Contest;
use crate::report::{Report, Unit};
use crate::run::timed;

pub(super) const NAME: &str = "commits";

const PROCESSES: usize = 4;

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let calls = bench.options.scaled(4, 40);
    let tree = bench.tree(bench.options.scaled(50, 100))?;
    // Each turn has a vault of its own, so that later turns do not find more workspaces than earlier ones.
    let with_home = |work: &dyn Fn(&Path) -> Result<Duration>| -> Result<Duration> {
        let home = bench.vault_of(&tree)?;
        bench.settle()?;
        work(&home)
    };
    let mut contest = Contest::default();
    let one = contest.add(|_| with_home(&|home| in_turn(bench, home, &tree, calls)));
    let many = contest.add(|_| with_home(&|home| side_by_side(bench, home, &tree, calls)));
    let raw = contest.add(|_| {
        with_home(&|home| {
            let mut log = RawLog::create(&home.join("raw.log"))?;
            (0..calls).map(|_| log.commit()).sum()
        })
    });
    let found = contest.run(bench.options.pairs())?;

    let about = format!("{calls} times `offshoot workspace create`, each a process and a commit");
    let mut report = Report::new(NAME, about);
    let rate = |seconds: Vec<f64>| seconds.iter().map(|s| calls as f64 / s).collect();
    report.add("one process after the other", Unit::Rate, rate(found.seconds(one)));
    report.add(format!("{PROCESSES} at a time"), Unit::Rate, rate(found.seconds(many)));
    report.add("raw: write and fdatasync 16 KiB", Unit::Rate, rate(found.seconds(raw)));
    // Rates are compared, so the times are divided the other way round.
    report.add("one after the other / raw", Unit::Ratio, found.ratio(raw, one));
    report.add(format!("{PROCESSES} at a time / raw"), Unit::Ratio, found.ratio(raw, many));
    Ok(report)
}

fn in_turn(bench: &Bench, home: &Path, tree: &Path, calls: usize) -> Result<Duration> {
    let create = |call| {
        bench.offshoot(home, tree, &["workspace", "create", &format!("w-{call}"), "--from", "head"])
    };
    (0..calls).map(|call| timed(&mut create(call))).sum()
}

fn side_by_side(bench: &Bench, home: &Path, tree: &Path, calls: usize) -> Result<Duration> {
    let command = |call| {
        bench.offshoot(home, tree, &["workspace", "create", &format!("w-{call}"), "--from", "head"])
    };
    let mut commands: Vec<Vec<_>> = (0..PROCESSES).map(|_| Vec::new()).collect();
    (0..calls).for_each(|call| commands[call % PROCESSES].push(command(call)));
    let start = Instant::now();
    let failed = std::thread::scope(|scope| {
        let workers = commands.into_iter().map(|mut commands| {
            scope.spawn(move || {
                let failed = commands.iter_mut().find_map(|command| timed(command).err());
                failed.map(|error| error.to_string())
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().find_map(|worker| worker.join().expect("workers do not panic"))
    });
    let took = start.elapsed();
    failed.map_or(Ok(took), |message| Err(message.into()))
}
