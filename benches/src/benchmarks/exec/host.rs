//! A command of a program that uses Offshoot as a library: on a thread of it, and in a worker process.

use std::time::{Duration, Instant};

use offshoot_engine::{Offshoot, Options, Workspace};
use offshoot_tests::product;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "exec-host";

const MIB: usize = 1 << 20;

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let tree = bench.tree(bench.options.scaled(50, 1_000))?;
    let home = bench.fresh("home");
    bench.prepare(&home, &tree, &["init"])?;
    bench.prepare(&home, &tree, &["workspace", "create", "w", "--from", "head"])?;
    let workspace = |in_worker: bool| -> Result<Workspace> {
        let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
        let mut environment: Vec<_> = path.into_iter().collect();
        environment.push(("HOME".into(), bench.dir().into()));
        let mut options = Options::new(environment).registry(&home);
        // What is tidied after one command would be a part of the next.
        options.overrides = ["compact.auto=false", "gc.auto=false"].map(str::to_owned).into();
        options.worker = in_worker.then(|| product::binary().to_owned());
        Ok(Offshoot::open(options)?.project(&tree)?.workspace("w")?)
    };
    let (thread, worker) = (workspace(false)?, workspace(true)?);

    let about = "run `true` in a workspace, on a thread of the host and in a worker, by the memory of the host";
    let mut report = Report::new(NAME, about);
    let sizes: &[usize] =
        if bench.options.smoke { &[8 * MIB, 64 * MIB] } else { &[8 * MIB, 1024 * MIB, 4096 * MIB] };
    for size in sizes.iter().copied().filter(|size| size * 2 < available()) {
        // Every page of it is written to, and it is there as long as commands are measured.
        let memory = vec![1u8; size];
        let mut contest = Contest::default();
        let on_thread = contest.add(|_| timed(&thread));
        let in_worker = contest.add(|_| timed(&worker));
        let outcome = contest.run(bench.options.pairs())?;
        drop(std::hint::black_box(memory));
        let label = format!("host of {} MiB", size / MIB);
        report.add(format!("{label}: thread"), Unit::Time, outcome.seconds(on_thread));
        report.add(format!("{label}: worker"), Unit::Time, outcome.seconds(in_worker));
        let ratio = outcome.ratio(in_worker, on_thread);
        report.add(format!("{label}: worker / thread"), Unit::Ratio, ratio);
    }
    Ok(report)
}

/// How long a command takes that does nothing.
fn timed(workspace: &Workspace) -> Result<Duration> {
    let start = Instant::now();
    let ended = workspace.exec(["true"])?.wait();
    let took = start.elapsed();
    workspace.project().wait_idle();
    match ended.is_success() {
        true => Ok(took),
        false => Err(format!("{ended:?}").into()),
    }
}

/// The bytes that can be used without swapping; none where the kernel does not say.
fn available() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}
