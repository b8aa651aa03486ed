//! Commands and their output in a document.

/// A command and what it is said to print.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The command, with its further lines.
    pub(super) command: String,
    /// The lines it is said to print.
    pub(super) expected: Vec<String>,
    /// The line of the text that it starts in.
    pub(super) line: usize,
}

/// The text below a heading, up to the next of the same or a higher level.
pub(super) fn section<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let level = heading.bytes().take_while(|byte| *byte == b'#').count();
    let mut start = None;
    let mut at = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        fenced ^= line.starts_with("```");
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = !fenced && hashes > 0 && line[hashes..].starts_with(' ');
        match start {
            None if is_heading && line.trim_end() == heading => start = Some(at + line.len()),
            Some(start) if is_heading && hashes <= level => return Some(&text[start..at]),
            _ => {}
        }
        at += line.len();
    }
    start.map(|start| &text[start..])
}

/// All commands in the `console` blocks of a text, in order.
pub(super) fn steps(text: &str) -> Vec<Step> {
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
