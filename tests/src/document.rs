//! Commands and their output in a document, and whether they are so.

use std::path::Path;

use crate::product::Place;
use crate::redact::Redactor;

/// The pages that people type into one terminal, from top to bottom.
pub const TOURS: [&str; 2] = ["README.md", "docs/tour.md"];

/// The steps of a page, named by its path in the repository.
pub fn page(path: &str) -> Vec<Step> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = std::fs::read_to_string(file).expect("a page can be read");
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{path} shows no command");
    steps
}

/// A command and what it is said to print.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// The command, with its further lines.
    pub command: String,
    /// The lines it is said to print.
    pub expected: Vec<String>,
    /// The line of the text that it starts in.
    pub line: usize,
}

/// All commands in the `console` blocks of a text, in order.
pub fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    let mut other = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            let opens = !inside && !other;
            inside = opens && line == "```console";
            other = opens && !inside;
            continue;
        }
        if !inside {
            continue;
        }
        let unfinished = steps.last_mut().filter(|step| step.goes_on());
        if let Some(command) = line.strip_prefix("$ ") {
            let expected = Vec::new();
            steps.push(Step { command: command.to_owned(), expected, line: index + 1 });
        } else if let Some(step) = unfinished {
            let line = line.strip_prefix("> ").unwrap_or(line);
            step.command.push_str(&format!("\n{line}"));
        } else if let Some(step) = steps.last_mut() {
            step.expected.push(line.to_owned());
        }
    }
    steps
}

impl Step {
    /// Whether the next line still belongs to the command.
    fn goes_on(&self) -> bool {
        self.command.ends_with('\\') || (self.expected.is_empty() && self.awaits_end())
    }

    /// Whether a here-document is open.
    fn awaits_end(&self) -> bool {
        let mut lines = self.command.lines();
        let first = lines.next().unwrap_or_default();
        let Some((_, mark)) = first.split_once("<<") else { return false };
        let mark = mark.split_whitespace().next().unwrap_or_default();
        let mark = mark.trim_matches(|c| matches!(c, '\'' | '"' | '-'));
        !mark.is_empty() && lines.all(|line| line != mark)
    }
}

/// What the document says that is not so, where its commands printed this and ended with these codes, in a place.
pub fn problems(place: &Place, steps: &[Step], printed: &[(String, i32)]) -> Vec<String> {
    let mut redactor = Redactor::of_document(place);
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
