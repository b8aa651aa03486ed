//! The figures as a document that can be kept.

use std::fmt::Write;

use crate::machine::Machine;
use crate::options::Options;
use crate::report::{Report, Row};
use crate::sample::Spread;

/// One Markdown document of everything.
pub(crate) fn document(machine: &Machine, options: &Options, reports: &[Report]) -> String {
    let command = options.command();
    let mut out = format!("# What was measured\n\n`{command}`\n\n| machine | |\n|---|---|\n");
    for (name, value) in machine.lasting_facts() {
        line(&mut out, &[name, value]);
    }
    if options.smoke {
        out.push_str(
            "\nA smoke run: it shows that the benchmarks work, and its figures mean nothing.\n",
        );
    }
    for report in reports {
        writeln!(out, "\n## {}\n\n{}.\n", report.name, report.about)
            .expect("strings take everything");
        line(&mut out, &["what", "median", "p10", "p90", "runs", "goal", ""]);
        out.push_str("|---|--:|--:|--:|--:|---|---|\n");
        report.rows.iter().for_each(|found| row(&mut out, found, options.smoke));
    }
    out
}

fn row(out: &mut String, row: &Row, smoke: bool) {
    let spread = Spread::of(&row.values);
    let [median, p10, p90] = [spread.median, spread.p10, spread.p90].map(|v| row.unit.show(v));
    let goal = row.goal.map_or_else(String::new, |goal| goal.show(row.unit));
    let verdict = match row.goal.filter(|_| !smoke).map(|goal| goal.is_met(spread.median)) {
        None => "",
        Some(true) => "pass",
        Some(false) => "**miss**",
    };
    line(out, &[&row.label, &median, &p10, &p90, &row.values.len().to_string(), &goal, verdict]);
}

fn line(out: &mut String, cells: &[&str]) {
    writeln!(out, "| {} |", cells.join(" | ")).expect("strings take everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Goal, Unit};

    #[test]
    fn rows_say_whether_goals_are_met() {
        let mut found = Row {
            label: "a / b".to_owned(),
            unit: Unit::Ratio,
            values: vec![1.5, 1.5],
            goal: Some(Goal::AtMost(1.5)),
        };
        let shown = |found: &Row| {
            let mut out = String::new();
            row(&mut out, found, false);
            out
        };
        assert_eq!(shown(&found), "| a / b | 1.50x | 1.50x | 1.50x | 2 | <= 1.50x | pass |\n");
        found.values = vec![1.6];
        assert!(shown(&found).ends_with("| **miss** |\n"));
    }
}
