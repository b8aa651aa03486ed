//! What a benchmark found, as a table.

use std::fmt::Write;

use crate::sample::Spread;

/// What a value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds.
    Time,
    /// Something divided by something of the same unit.
    Ratio,
    /// A hundredth.
    Percent,
    /// Bytes.
    Size,
    /// How many a second.
    Rate,
    /// How many.
    Count,
}

impl Unit {
    /// Its name for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Time => "seconds",
            Self::Ratio => "ratio",
            Self::Percent => "percent",
            Self::Size => "bytes",
            Self::Rate => "per second",
            Self::Count => "count",
        }
    }

    /// A value for people.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Time if value.abs() < 1e-4 => format!("{:.2} us", value * 1e6),
            Self::Time if value.abs() < 0.1 => format!("{:.2} ms", value * 1e3),
            Self::Time if value.abs() < 10.0 => format!("{:.0} ms", value * 1e3),
            Self::Time => format!("{value:.1} s"),
            Self::Ratio => format!("{value:.2}x"),
            Self::Percent => format!("{value:.2} %"),
            Self::Size if value.abs() >= f64::from(1 << 20) => {
                format!("{:.1} MiB", value / f64::from(1 << 20))
            }
            Self::Size => format!("{:.1} KiB", value / 1024.0),
            Self::Rate => format!("{value:.0} /s"),
            Self::Count => format!("{value:.0}"),
        }
    }
}

/// What a median has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// This or less.
    AtMost(f64),
    /// Less than this.
    Below(f64),
}

impl Goal {
    /// Whether a value meets it.
    pub(crate) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
        }
    }

    /// The goal for people.
    pub(crate) fn show(self, unit: Unit) -> String {
        match self {
            Self::AtMost(limit) => format!("<= {}", unit.show(limit)),
            Self::Below(limit) => format!("< {}", unit.show(limit)),
        }
    }
}

/// One line of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) label: String,
    /// What the values mean.
    pub(crate) unit: Unit,
    /// One value a run.
    pub(crate) values: Vec<f64>,
    /// What the median has to be.
    pub(crate) goal: Option<Goal>,
}

/// Whether a row met its goal.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// What was found and what the goal is.
    pub(crate) text: String,
    /// Whether it was met.
    pub(crate) met: bool,
}

/// What a benchmark found.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// The benchmark.
    pub(crate) name: &'static str,
    /// What exactly was measured.
    pub(crate) about: String,
    /// The figures.
    pub(crate) rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new(name: &'static str, about: impl Into<String>) -> Self {
        Self { name, about: about.into(), rows: Vec::new() }
    }

    /// Adds figures that have no goal.
    pub(crate) fn add(&mut self, label: impl Into<String>, unit: Unit, values: Vec<f64>) {
        self.rows.push(Row { label: label.into(), unit, values, goal: None });
    }

    /// Adds figures whose median has to meet a goal.
    pub(crate) fn add_with_goal(
        &mut self,
        label: impl Into<String>,
        unit: Unit,
        values: Vec<f64>,
        goal: Goal,
    ) {
        self.rows.push(Row { label: label.into(), unit, values, goal: Some(goal) });
    }

    /// Whether the rows that have goals met them.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.rows.iter().filter_map(|row| {
            let goal = row.goal?;
            let median = Spread::of(&row.values).median;
            let (shown, wanted) = (row.unit.show(median), goal.show(row.unit));
            let text = format!("{}: {}: {shown}, goal {wanted}", self.name, row.label);
            Some(Verdict { text, met: goal.is_met(median) })
        })
    }

    /// The figures for people. A smoke run says nothing about goals.
    pub(crate) fn table(&self, smoke: bool) -> String {
        let widths = self.rows.iter().map(|row| row.label.chars().count());
        let width = widths.max().unwrap_or(0).max(24);
        let mut out = format!("{}: {}\n", self.name, self.about);
        let mut line = |cells: [&str; 6]| {
            let [label, median, p10, p90, runs, goal] = cells;
            let text =
                format!("  {label:<width$} {median:>10} {p10:>10} {p90:>10} {runs:>5}  {goal}");
            writeln!(out, "{}", text.trim_end()).expect("writing to a string cannot fail");
        };
        line(["", "median", "p10", "p90", "runs", "goal"]);
        for row in &self.rows {
            let spread = Spread::of(&row.values);
            let [median, p10, p90] =
                [spread.median, spread.p10, spread.p90].map(|v| row.unit.show(v));
            let goal = row.goal.map_or_else(String::new, |goal| {
                let verdict = match (smoke, goal.is_met(spread.median)) {
                    (true, _) => "",
                    (false, true) => "  pass",
                    (false, false) => "  MISS",
                };
                format!("{}{verdict}", goal.show(row.unit))
            });
            line([&row.label, &median, &p10, &p90, &row.values.len().to_string(), &goal]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::new("import", "a tree");
        report.add("init", Unit::Time, vec![0.05, 0.25]);
        report.add_with_goal("init / cp", Unit::Ratio, vec![1.5], Goal::AtMost(1.5));
        report.add_with_goal("forks", Unit::Percent, vec![2.0], Goal::Below(2.0));
        report
    }

    #[test]
    fn tables_show_goals_and_whether_they_are_met() {
        let expected = "\
import: a tree
                               median        p10        p90  runs  goal
  init                         150 ms   70.00 ms     230 ms     2
  init / cp                     1.50x      1.50x      1.50x     1  <= 1.50x  pass
  forks                        2.00 %     2.00 %     2.00 %     1  < 2.00 %  MISS
";
        assert_eq!(report().table(false), expected);
        assert!(!report().table(true).contains("MISS"));
    }

    #[test]
    fn verdicts_are_about_goals_only() {
        let met: Vec<bool> = report().verdicts().map(|verdict| verdict.met).collect();
        assert_eq!(met, [true, false]);
    }
}
