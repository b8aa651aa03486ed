//! Sealing must go with what changed, not with what is there.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::helper;
use crate::report::{Goal, Report, Unit};

pub(in crate::benchmarks) const NAME: &str = "exec-scale";

/// A vault of a tree of some size.
struct Place<'a> {
    bench: &'a Bench,
    files: usize,
    tree: PathBuf,
    home: PathBuf,
    /// What the command took of each call, turn by turn.
    inside: RefCell<Vec<Duration>>,
}

impl<'a> Place<'a> {
    fn new(bench: &'a Bench, files: usize) -> Result<Self> {
        let tree = bench.tree(files)?;
        let home = bench.vault_of(&tree)?;
        Ok(Self { bench, files, tree, home, inside: RefCell::default() })
    }

    /// One call that changes ten files, in a workspace of its own: layers would pile up otherwise.
    fn measure(&self, turn: usize) -> Result<Duration> {
        let name = format!("n-{turn}");
        self.bench.prepare(
            &self.home,
            &self.tree,
            &["workspace", "create", &name, "--from", "head"],
        )?;
        let changes = super::ten_changes(self.files);
        let script = format!("{} changes sh -c '{changes}'", helper::lap_prefix()?);
        let arguments = ["exec", "-w", &name, "--json", "--", "sh", "-c", &script];
        let mut command = self.bench.offshoot(&self.home, &self.tree, &arguments);
        let start = Instant::now();
        let output = command.output()?;
        let took = start.elapsed();
        let printed = String::from_utf8_lossy(&output.stdout);
        let envelope: Value = serde_json::from_str(&printed).map_err(|error| {
            format!("{error}: {printed}{}", String::from_utf8_lossy(&output.stderr))
        })?;
        let laps = helper::laps(envelope["result"]["stdout"].as_str().unwrap_or_default());
        let changed = envelope["result"]["changed_files"].as_array().map_or(0, Vec::len);
        let lap = laps.first().filter(|_| changed == 10);
        let lap = lap.ok_or_else(|| format!("ten files were to be changed: {printed}"))?;
        if turn > 0 {
            self.inside.borrow_mut().push(lap.took);
        }
        Ok(took)
    }

    /// What is left of each call without the command.
    fn around(&self, whole: &[f64]) -> Vec<f64> {
        let inside = self.inside.borrow();
        whole.iter().zip(inside.iter()).map(|(whole, lap)| whole - lap.as_secs_f64()).collect()
    }
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let sizes = if bench.options.smoke { [50, 100, 200] } else { [1_000, 10_000, 100_000] };
    let mut places = Vec::new();
    for files in sizes {
        places.push(Place::new(bench, files)?);
    }
    bench.settle()?;
    let mut contest = Contest::default();
    let sides: Vec<_> =
        places.iter().map(|place| contest.add(move |turn| place.measure(turn))).collect();
    let found = contest.run(bench.options.pairs() * bench.options.scaled(1, 2))?;

    let mut report = Report::new(NAME, "exec of a command that changes ten files");
    let whole: Vec<Vec<f64>> = sides.iter().map(|side| found.seconds(*side)).collect();
    let around = places.iter().zip(&whole).map(|(place, whole)| place.around(whole));
    let kinds = [("whole call", whole.clone()), ("without the command", around.collect())];
    for (label, of_sizes) in &kinds {
        for (files, seconds) in sizes.iter().zip(of_sizes) {
            report.add(format!("{label}: {files} files"), Unit::Time, seconds.clone());
        }
    }
    for (label, of_sizes) in &kinds {
        for (files, seconds) in sizes.iter().zip(of_sizes).skip(1) {
            let ratio = seconds.iter().zip(&of_sizes[0]).map(|(large, small)| large / small);
            let label = format!("{label}: {files} / {} files", sizes[0]);
            report.add_with_goal(label, Unit::Ratio, ratio.collect(), Goal::AtMost(2.0));
        }
    }
    Ok(report)
}
