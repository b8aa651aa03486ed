//! Folders of many entries, and deep ones: what becomes of time and memory when there is twice as much.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_tests::memory::{Cost, cost};

use crate::Result;
use crate::bench::Bench;
use crate::report::{Goal, Report, Unit};
use crate::run::{copy, sync, timed};

pub(super) const NAME: &str = "size";

/// Twice as much may take twice as long, and some more: directories of the file system grow too.
const LINEAR: Goal = Goal::AtMost(2.6);
/// The same of a deep folder, whose paths grow with it.
const DEEP: Goal = Goal::AtMost(4.0);

/// What is measured, in this order.
const STEPS: [&str; 6] =
    ["init", "mv in a new workspace", "status", "commit of it", "exec true", "commit of 10 files"];

/// How a folder is made.
#[derive(Clone, Copy)]
enum Shape {
    /// All in one directory.
    Flat,
    /// Each directory in the one before, with a file in it.
    Deep,
}

/// One folder with everything that was measured of it.
struct Measured {
    entries: usize,
    /// By [`STEPS`].
    costs: Vec<Cost>,
    /// What others take with the same files.
    copied: Duration,
    found: Duration,
}

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let flat = bench.options.scaled(300, 50_000);
    let deep = bench.options.scaled(20, 200);
    let about = format!(
        "a folder of {flat} files and of twice as many, and {deep} nested folders and twice as many; the folder is moved by a command \
         and committed. Memory is the most that the process itself had resident"
    );
    let mut report = Report::new(NAME, about);
    for (shape, entries, goal) in [(Shape::Flat, flat, LINEAR), (Shape::Deep, deep, DEEP)] {
        let [one, two] = [measure(bench, shape, entries)?, measure(bench, shape, 2 * entries)?];
        add(&mut report, shape, &one, &two, goal);
    }
    Ok(report)
}

fn add(report: &mut Report, shape: Shape, one: &Measured, two: &Measured, goal: Goal) {
    let kind = match shape {
        Shape::Flat => "flat",
        Shape::Deep => "nested",
    };
    for (number, step) in STEPS.iter().enumerate() {
        let costs = [one.costs[number], two.costs[number]];
        let [a, b] = costs.map(|cost| cost.took.as_secs_f64());
        let label = |what: &str, of: &Measured| format!("{step}, {} {kind}{what}", of.entries);
        report.add(label("", one), Unit::Time, vec![a]);
        report.add(label("", two), Unit::Time, vec![b]);
        report.add_with_goal(
            format!("{step}, twice the {kind} folder"),
            Unit::Ratio,
            vec![b / a],
            goal,
        );
        report.add(label(", memory", two), Unit::Size, vec![costs[1].memory]);
        let memory = vec![costs[1].memory / costs[0].memory];
        report.add_with_goal(
            format!("{step}, memory of twice the {kind} folder"),
            Unit::Ratio,
            memory,
            goal,
        );
        let (other, took) = match number {
            2 | 4 => ("find", two.found),
            _ => ("cp -a and sync", two.copied),
        };
        report.add(label(&format!(" / {other}"), two), Unit::Ratio, vec![b / took.as_secs_f64()]);
    }
}

fn measure(bench: &Bench, shape: Shape, entries: usize) -> Result<Measured> {
    let (folder, home) = (bench.fresh("sized"), bench.fresh("home"));
    make(&folder, shape, entries)?;
    bench.settle()?;
    let target = bench.fresh("copy");
    let copied = timed(&mut copy(&folder, &target))? + timed(&mut sync(&target))?;
    let mut find = std::process::Command::new("find");
    let found = timed(find.arg(&folder).args(["-newermt", "2100-01-01"]))?;
    let step = |arguments: &[&str]| -> Result<Cost> {
        bench.settle()?;
        cost(bench.offshoot(&home, &folder, arguments))
    };
    let ten = "for n in 0 1 2 3 4 5 6 7 8 9; do echo $n > new-$n; done";
    let mut costs = vec![
        step(&["init"])?,
        step(&["exec", "-w", "moved", "--", "mv", "top", "other"])?,
        step(&["status", "-w", "moved"])?,
        step(&["commit", "-w", "moved"])?,
        step(&["exec", "-w", "small", "--", "true"])?,
    ];
    bench.prepare(&home, &folder, &["exec", "-w", "small", "--", "sh", "-c", ten])?;
    costs.push(step(&["commit", "-w", "small"])?);
    Ok(Measured { entries, costs, copied, found })
}

/// Makes a directory with one directory `top` in it, and so many entries in that.
fn make(dir: &Path, shape: Shape, entries: usize) -> Result<()> {
    let mut at: PathBuf = dir.join("top");
    fs::create_dir_all(&at)?;
    for number in 0..entries {
        fs::write(at.join(format!("file-{number:06}")), format!("content {number}\n"))?;
        if matches!(shape, Shape::Deep) {
            at.push("d");
            fs::create_dir(&at)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_as_many_entries_as_were_asked_for() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let names = |dir: &Path| fs::read_dir(dir).expect("it can be read").count();
        make(&folder.path().join("flat"), Shape::Flat, 7).expect("a folder");
        assert_eq!(names(&folder.path().join("flat/top")), 7);
        make(&folder.path().join("deep"), Shape::Deep, 3).expect("a folder");
        assert!(folder.path().join("deep/top/d/d/file-000002").is_file());
        assert!(folder.path().join("deep/top/d/d/d").is_dir());
    }
}
