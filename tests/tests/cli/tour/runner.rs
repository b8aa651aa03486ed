//! Runs the commands of a document and compares.

use std::fs;
use std::process::{Command, Stdio};

use offshoot_tests::product::{Place, binary};

use super::document::Step;
use crate::redact::Redactor;

/// Printed after each command, with its exit code.
const MARK: &str = "=== end of a step ===";

/// What the document says that is not so.
pub(super) fn problems(steps: &[Step]) -> Vec<String> {
    let place = Place::new();
    let printed = run(&place, steps);
    let mut redactor = Redactor::of_document(&place);
    let mut problems = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let head = format!("line {}: $ {}", step.line, step.command);
        let Some((output, code)) = printed.get(index) else {
            problems.push(format!("{head}\n  did not come to an end"));
            break;
        };
        let actual = redactor.text(output);
        let actual: Vec<&str> = actual.trim_end().lines().collect();
        let expected = redactor.text(&step.expected.join("\n"));
        let expected: Vec<&str> = expected.trim_end().lines().collect();
        if !fits(&actual, &expected) {
            problems.push(format!("{head}\n  printed {:?}", actual.join("\n")));
        }
        let announced = expected.iter().any(|line| line.starts_with("error:"));
        if *code != 0 && !announced {
            problems.push(format!("{head}\n  failed with {code}: {:?}", actual.join("\n")));
        }
    }
    problems
}

/// Runs all steps in one shell; gives what each printed and its exit code.
fn run(place: &Place, steps: &[Step]) -> Vec<(String, i32)> {
    let script = place.path().join("script");
    let end = format!("code=$?; echo; echo '{MARK}' $code");
    let commands = steps.iter().map(|step| format!("{}\n{end}\n", step.command));
    fs::write(&script, commands.collect::<String>()).expect("the script can be written");
    let folder = binary().parent().expect("the binary lies in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("folders without colons");
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 2>&1; . \"$0\""]).arg(&script);
    shell.env_clear().envs(place.environment()).env("PATH", path);
    shell.current_dir(place.project()).stdin(Stdio::null());
    let output = shell.output().expect("the shell runs");
    parse(&String::from_utf8_lossy(&output.stdout))
}

fn parse(text: &str) -> Vec<(String, i32)> {
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some((output, after)) = rest.split_once(&format!("\n{MARK} ")) {
        let (code, after) = after.split_once('\n').unwrap_or((after, ""));
        steps.push((output.to_owned(), code.parse().unwrap_or(-1)));
        rest = after;
    }
    steps
}

/// Whether lines are as expected, where `...` stands for any number of lines.
fn fits(actual: &[&str], expected: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"...", rest)) => (0..=actual.len()).any(|skip| fits(&actual[skip..], rest)),
        Some((line, rest)) => {
            actual.first().is_some_and(|first| line_fits(first.trim_end(), line.trim_end()))
                && fits(&actual[1..], rest)
        }
    }
}

/// Whether a line is as expected, where `[..]` stands for any text.
fn line_fits(actual: &str, expected: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return actual == expected };
    let Some(after) = actual.strip_prefix(start) else { return false };
    let ends = after.char_indices().map(|(at, _)| at).chain([after.len()]);
    ends.into_iter().any(|at| line_fits(&after[at..], rest))
}
