//! Programs in a workspace, on bare overlayfs and on the plain file system.

use std::cell::RefCell;

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
type Found = [Vec<Run>; Kind::ALL.len()];

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
        // The places run the same script, so they have the same parts.
        let parts = found[Kind::Plain as usize].first().map_or(&[][..], |run| &run.laps);
        for (at, lap) in parts.iter().enumerate() {
            add_times(&mut report, &mut ratios, &lap.label, at, &found);
        }
        whole.push((workload.name, found));
    }
    add_ratios(&mut report, ratios);
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
    let kinds = Kind::ALL.into_iter();
    for kind in kinds.filter(|kind| workload.compared || *kind == Kind::Workspace) {
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

/// What is divided by what, and how large the mean may be. The last says how much of the others is overlayfs itself.
const COMPARED: [(Kind, Kind, Option<Goal>); 4] = [
    (Kind::Workspace, Kind::Unwalled, Some(Goal::AtMost(1.03))),
    (Kind::Workspace, Kind::Overlay, Some(Goal::AtMost(1.05))),
    (Kind::Workspace, Kind::Plain, Some(Goal::AtMost(1.15))),
    (Kind::Overlay, Kind::Plain, None),
];

/// For each comparison, the ratios of one part after the other.
type Ratios = [Vec<(String, Vec<f64>)>; COMPARED.len()];

fn add_times(report: &mut Report, ratios: &mut Ratios, label: &str, at: usize, found: &Found) {
    let seconds = Kind::ALL.map(|kind| {
        let laps = found[kind as usize].iter().filter_map(|run| run.laps.get(at));
        laps.map(|lap| lap.took.as_secs_f64()).collect::<Vec<f64>>()
    });
    for (kind, seconds) in Kind::ALL.into_iter().zip(&seconds) {
        report.add(format!("{label}: {}", kind.word()), Unit::Time, seconds.clone());
    }
    for ((kind, other, _), ratios) in COMPARED.into_iter().zip(ratios) {
        let both = seconds[kind as usize].iter().zip(&seconds[other as usize]);
        ratios.push((label.to_owned(), both.map(|(a, b)| a / b).collect()));
    }
}

fn add_ratios(report: &mut Report, ratios: Ratios) {
    for ((kind, other, goal), parts) in COMPARED.into_iter().zip(ratios) {
        let divided = format!("{} / {}", kind.word(), other.word());
        let mean = geometric_mean(parts.iter().map(|(_, values)| Spread::of(values).median));
        for (label, values) in parts {
            report.add(format!("{label}: {divided}"), Unit::Ratio, values);
        }
        let label = format!("geometric mean: {divided}");
        match goal {
            Some(goal) => report.add_with_goal(label, Unit::Ratio, vec![mean], goal),
            None => report.add(label, Unit::Ratio, vec![mean]),
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
