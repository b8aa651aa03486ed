//! The figures for programs.

use std::fmt::Write;

use crate::machine::Machine;
use crate::options::Options;
use crate::report::{Report, Row};
use crate::sample::Spread;

/// One JSON document of everything.
pub(crate) fn document(machine: &Machine, options: &Options, reports: &[Report]) -> String {
    let facts =
        machine.lasting_facts().map(|(name, value)| format!("{}:{}", string(name), string(value)));
    let facts: Vec<String> = facts.collect();
    let reports: Vec<String> = reports.iter().map(report).collect();
    format!(
        "{{\"command\":{},\"machine\":{{{}}},\"smoke\":{},\"benchmarks\":[{}]}}\n",
        string(&options.command()),
        facts.join(","),
        options.smoke,
        reports.join(",")
    )
}

fn report(report: &Report) -> String {
    let rows: Vec<String> = report.rows.iter().map(row).collect();
    let (name, about) = (string(report.name), string(&report.about));
    format!("{{\"name\":{name},\"about\":{about},\"rows\":[{}]}}", rows.join(","))
}

fn row(row: &Row) -> String {
    let Spread { median, p10, p90 } = Spread::of(&row.values);
    let mut out = format!(
        "{{\"label\":{},\"unit\":{},\"median\":{median},\"p10\":{p10},\"p90\":{p90},\"runs\":{}",
        string(&row.label),
        string(row.unit.word()),
        row.values.len()
    );
    if let Some(goal) = row.goal {
        let shown = string(&goal.show(row.unit));
        out.push_str(&format!(",\"goal\":{shown},\"met\":{}", goal.is_met(median)));
    }
    out.push('}');
    out
}

fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control < ' ' => {
                write!(out, "\\u{:04x}", u32::from(control)).expect("strings take everything");
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Goal, Unit};

    #[test]
    fn rows_carry_their_goal() {
        let found = Row {
            label: "a \"b\"\n".to_owned(),
            unit: Unit::Ratio,
            values: vec![1.5],
            goal: Some(Goal::AtMost(1.5)),
        };
        let expected = "{\"label\":\"a \\\"b\\\"\\u000a\",\"unit\":\"ratio\",\"median\":1.5,\"p10\":1.5,\
                        \"p90\":1.5,\"runs\":1,\"goal\":\"<= 1.50x\",\"met\":true}";
        assert_eq!(row(&found), expected);
    }
}
