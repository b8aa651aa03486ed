//! Programs in a workspace, on bare overlayfs and on the plain file system.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::place::{Ground, Kind, Run};
use super::project::Project;
use super::workload::Workload;
use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::sample::Spread;

pub(in crate::benchmarks) const NAME: &str = "exec-native";

/// What a workload took: for each kind of place, one run a turn.
type Found = [Vec<Run>; 3];

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let grounds = [Ground::new(bench, Project::Tree)?, Ground::new(bench, Project::Crate)?];
    let about = "parts of scripts, timed where they run, without making the place and sealing it";
    let mut report = Report::new(NAME, about);
    let mut ratios = Ratios::default();
    let mut whole = Vec::new();
    for workload in Workload::all() {
        let ground = grounds.iter().find(|ground| ground.project == workload.project);
        let ground = ground.ok_or("a workload has no project")?;
        let found = measure(bench, ground, &workload)?;
        for (at, lap) in found[0][0].laps.iter().enumerate() {
            add_times(&mut report, &mut ratios, &lap.label, at, &found);
        }
        whole.push((workload.name, found));
    }
    ratios.add_to(&mut report);
    for (name, found) in whole {
        let seconds = |pick: fn(&Run) -> std::time::Duration| {
            found[Kind::Workspace as usize].iter().map(|run| pick(run).as_secs_f64()).collect()
        };
        report.add(format!("{name}: whole call of exec"), Unit::Time, seconds(|run| run.whole));
        report.add(format!("{name}: mount and seal"), Unit::Time, seconds(|run| run.around));
    }
    Ok(report)
}

fn measure(bench: &Bench, ground: &Ground<'_>, workload: &Workload) -> Result<Found> {
    let prepared = ground.prepare(workload)?;
    let found: RefCell<Found> = RefCell::default();
    let mut contest = Contest::default();
    for kind in Kind::ALL {
        let (found, prepared) = (&found, &prepared);
        contest.add(move |turn| {
            let run = ground.run(kind, prepared, turn)?;
            let whole = run.whole;
            if turn > 0 {
                found.borrow_mut()[kind as usize].push(run);
            }
            Ok(whole)
        });
    }
    contest.run(workload.turns(&bench.options))?;
    Ok(found.into_inner())
}

/// Ratios of one part after the other.
#[derive(Default)]
struct Ratios {
    /// By what a workspace is divided by.
    by: BTreeMap<&'static str, Vec<(String, Vec<f64>)>>,
}

fn add_times(report: &mut Report, ratios: &mut Ratios, label: &str, at: usize, found: &Found) {
    let seconds = Kind::ALL.map(|kind| {
        let laps = found[kind as usize].iter().filter_map(|run| run.laps.get(at));
        laps.map(|lap| lap.took.as_secs_f64()).collect::<Vec<f64>>()
    });
    for (kind, seconds) in Kind::ALL.into_iter().zip(&seconds) {
        report.add(format!("{label}: {}", kind.word()), Unit::Time, seconds.clone());
    }
    for other in [Kind::Overlay, Kind::Plain] {
        let both = seconds[Kind::Workspace as usize].iter().zip(&seconds[other as usize]);
        let values = both.map(|(workspace, other)| workspace / other).collect();
        ratios.by.entry(other.word()).or_default().push((label.to_owned(), values));
    }
}

impl Ratios {
    fn add_to(self, report: &mut Report) {
        for (other, parts) in self.by {
            let limit = if other == Kind::Overlay.word() { 1.05 } else { 1.15 };
            let mean = geometric_mean(parts.iter().map(|(_, values)| Spread::of(values).median));
            for (label, values) in parts {
                report.add(format!("{label}: workspace / {other}"), Unit::Ratio, values);
            }
            let label = format!("geometric mean: workspace / {other}");
            report.add_with_goal(label, Unit::Ratio, vec![mean], Goal::AtMost(limit));
        }
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) =
        values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + f64::ln(value)));
    if count > 0.0 { f64::exp(sum / count) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_and_halving_cancel_out() {
        assert!((geometric_mean([2.0, 0.5].into_iter()) - 1.0).abs() < 1e-9);
        assert_eq!(geometric_mean(std::iter::empty()), 0.0);
    }
}
