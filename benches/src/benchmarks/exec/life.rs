//! A workspace that has seen many commands, beside itself when it was young.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offshoot_tests::product::in_background;
use serde_json::Value;

use crate::Result;
use crate::bench::Bench;
use crate::report::{Goal, Report, Unit};
use crate::run::disk_use;
use crate::tree;

pub(in crate::benchmarks) const NAME: &str = "long-life";

/// One workspace and what became of it.
struct Life<'a> {
    bench: &'a Bench,
    tree: PathBuf,
    home: PathBuf,
    files: usize,
    /// How long each call took.
    calls: Vec<Duration>,
    /// Bytes of the files that each command wrote.
    written: u64,
    /// How long was waited for what went on in the background.
    behind: Duration,
}

/// Bytes on disk, by what they are for.
struct Disk {
    layers: f64,
    /// How many layers there are.
    count: f64,
    catalog: f64,
}

impl<'a> Life<'a> {
    fn new(bench: &'a Bench) -> Result<Self> {
        let files = bench.options.scaled(100, 2_000);
        let tree = bench.tree(files)?;
        let home = bench.vault_of(&tree)?;
        bench.prepare(&home, &tree, &["workspace", "create", "w", "--from", "head"])?;
        let (calls, written, behind) = (Vec::new(), 0, Duration::ZERO);
        Ok(Self { bench, tree, home, files, calls, written, behind })
    }

    /// A few files change, one comes, and one goes; now and then there is a bigger one.
    fn script(&self, step: usize) -> String {
        let path = |number: usize| tree::file(number % self.files).display().to_string();
        let changed: Vec<String> = (0..3).map(|file| path(step * 7 + file * 31)).collect();
        let mut script = format!(
            "for f in {}; do echo {step} >> $f; done; mkdir -p new; seq {step} > new/{step}; rm -f new/{}",
            changed.join(" "),
            step.saturating_sub(20)
        );
        if step.is_multiple_of(20) {
            script.push_str("; head -c 1048576 /dev/zero | tr '\\0' x > big");
        }
        script
    }

    fn call(&mut self, step: usize) -> Result<()> {
        let script = self.script(step);
        let arguments = ["exec", "-w", "w", "--json", "--", "sh", "-c", &script];
        let mut command = self.bench.offshoot(&self.home, &self.tree, &arguments);
        let start = Instant::now();
        let output = command.output()?;
        self.calls.push(start.elapsed());
        let envelope: Value = serde_json::from_slice(&output.stdout)?;
        let result = &envelope["result"];
        if !output.status.success() || result["driver"] != "overlay" {
            return Err(format!("call {step}: {envelope}").into());
        }
        let changes = result["changed_files"].as_array().into_iter().flatten();
        self.written += changes.filter_map(|change| change["after"]["size"].as_u64()).sum::<u64>();
        self.rest()
    }

    /// Waits for what goes on in the background, which nobody has to.
    fn rest(&mut self) -> Result<()> {
        let start = Instant::now();
        while !in_background(&self.home).is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.behind += start.elapsed();
        Ok(())
    }

    fn disk(&self) -> Result<Disk> {
        self.bench.settle()?;
        let vault = only_vault(&self.home)?;
        let folder = vault.join("layers");
        let layers = disk_use(&folder)? as f64;
        let count = std::fs::read_dir(&folder)?.count() as f64;
        Ok(Disk { layers, count, catalog: disk_use(&vault)? as f64 - layers })
    }
}

fn only_vault(home: &Path) -> Result<PathBuf> {
    let mut vaults = std::fs::read_dir(home.join("vaults"))?;
    Ok(vaults.next().ok_or("there is no vault")??.path())
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let count = bench.options.scaled(40, 2_000);
    // Calls that are compared, at each end of the life.
    let ends = bench.options.scaled(10, 100);
    let mut life = Life::new(bench)?;
    let before = life.disk()?;
    // The first call finds nothing in memory.
    for step in 0..=count {
        life.call(step)?;
    }
    let after = life.disk()?;

    let seconds: Vec<f64> = life.calls[1..].iter().map(Duration::as_secs_f64).collect();
    let (first, last) = (&seconds[..ends], &seconds[seconds.len() - ends..]);
    let ratio = last.iter().zip(first).map(|(last, first)| last / first).collect();
    let written = life.written as f64;
    let (layers, catalog) = (after.layers - before.layers, after.catalog - before.catalog);
    let about = format!(
        "{count} commands in one workspace of {} files, each changing a few; layers are merged between them",
        life.files
    );
    let mut report = Report::new(NAME, about);
    report.add(format!("the first {ends} calls"), Unit::Time, first.to_vec());
    report.add(format!("the last {ends} calls"), Unit::Time, last.to_vec());
    report.add_with_goal("last / first", Unit::Ratio, ratio, Goal::AtMost(1.2));
    report.add("merging, all told", Unit::Time, vec![life.behind.as_secs_f64()]);
    report.add("files that commands wrote", Unit::Size, vec![written]);
    report.add("layers grew by", Unit::Size, vec![layers]);
    report.add("the catalog grew by", Unit::Size, vec![catalog]);
    report.add("layers / written", Unit::Ratio, vec![layers / written]);
    report.add("layers that are left", Unit::Count, vec![after.count]);
    Ok(report)
}
