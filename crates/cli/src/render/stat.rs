//! The summary of a diff: one line a file, with a graph of what was added and removed.

/// What changed in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StatLine {
    /// The path as it is to be shown, for example `src/main.rs` or `old => new`.
    pub(crate) path: String,
    /// The lines added; unknown when the content was not compared by line.
    pub(crate) added: Option<u64>,
    /// The lines removed; unknown when the content was not compared by line.
    pub(crate) removed: Option<u64>,
    /// Whether either side is binary, so that sizes are shown instead of lines.
    pub(crate) binary: bool,
    /// The size of the old side in bytes, 0 when it does not exist.
    pub(crate) size_before: u64,
    /// The size of the new side in bytes, 0 when it does not exist.
    pub(crate) size_after: u64,
}

impl StatLine {
    /// Lines (added, removed), when the file was compared by line.
    fn counts(&self) -> Option<(u64, u64)> {
        if self.binary || (self.added.is_none() && self.removed.is_none()) {
            return None;
        }
        Some((self.added.unwrap_or(0), self.removed.unwrap_or(0)))
    }

    /// All changed lines, 0 when unknown.
    fn changed(&self) -> u64 {
        let (added, removed) = self.counts().unwrap_or((0, 0));
        added.saturating_add(removed)
    }

    /// The sizes of both sides; nothing when neither is given, as git shows unchanged content.
    fn sizes(&self) -> String {
        if self.size_before == 0 && self.size_after == 0 {
            return String::new();
        }
        format!("{} -> {} bytes", self.size_before, self.size_after)
    }
}

/// Renders the lines and their sum as `git diff --stat` does, fitted into `width` columns as far
/// as possible. Nothing changed renders as nothing.
///
/// A column is taken to hold one character. Control characters in paths are escaped, so that a
/// path can neither break the layout nor reach the terminal as a command.
pub(crate) fn render(lines: &[StatLine], width: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let names: Vec<String> = lines.iter().map(|line| printable(&line.path)).collect();
    let layout = Layout::fit(lines, &names, width);
    let mut text = String::new();
    for (line, name) in lines.iter().zip(&names) {
        text.push_str(&layout.line(line, name));
    }
    text.push_str(&summary(lines));
    text
}

/// The widths of the columns in ` name | number graph`.
struct Layout {
    name: usize,
    number: usize,
    graph: usize,
    /// The most lines changed in one file, which fills the graph.
    most_changed: u64,
}

/// The column before the name, ` | `, the space before the graph, and one left free at the end.
const SEPARATORS: usize = 6;
const SHORTEST_NAME: usize = 16;
const SHORTEST_GRAPH: usize = 6;
const BINARY: &str = "Bin";

impl Layout {
    /// Gives names and graph what they ask for; when that is too much, the graph yields down to
    /// three eighths of the width, and then the names.
    fn fit(lines: &[StatLine], names: &[String], width: usize) -> Self {
        let most_changed = lines.iter().map(StatLine::changed).max().unwrap_or(0);
        let number = number_width(lines, most_changed);
        let width = width.max(SHORTEST_NAME + SEPARATORS + number);
        let mut name = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let mut graph = wanted_graph(lines, most_changed);
        let available = width - SEPARATORS - number;
        if name.saturating_add(graph) > available {
            let share = (width * 3 / 8).saturating_sub(number + SEPARATORS);
            graph = graph.min(share.max(SHORTEST_GRAPH));
            if name > available - graph {
                name = available - graph;
            } else {
                graph = available - name;
            }
        }
        Self { name, number, graph, most_changed }
    }

    fn line(&self, line: &StatLine, name: &str) -> String {
        let name = shortened(name, self.name);
        let padding = " ".repeat(self.name.saturating_sub(columns(&name)));
        let width = self.number;
        let (number, rest) = match line.counts() {
            Some((added, removed)) => {
                let (plus, minus) = self.bars(added, removed);
                let graph = "+".repeat(plus) + &"-".repeat(minus);
                ((added.saturating_add(removed)).to_string(), graph)
            }
            None if line.binary => (BINARY.to_owned(), line.sizes()),
            None => (String::new(), line.sizes()),
        };
        let line = format!(" {name}{padding} | {number:>width$} {rest}");
        line.trim_end().to_owned() + "\n"
    }

    /// How many `+` and `-` stand for the changed lines; both show when both are there.
    fn bars(&self, added: u64, removed: u64) -> (usize, usize) {
        if self.graph as u64 > self.most_changed {
            return (added as usize, removed as usize);
        }
        let mut total = self.scaled(added.saturating_add(removed));
        if added > 0 && removed > 0 {
            total = total.max(2);
        }
        if added < removed {
            let plus = self.scaled(added);
            (plus, total - plus)
        } else {
            let minus = self.scaled(removed);
            (total - minus, minus)
        }
    }

    /// A count scaled to the graph, where only 0 becomes 0.
    fn scaled(&self, count: u64) -> usize {
        if count == 0 {
            return 0;
        }
        let room = self.graph.saturating_sub(1) as u128;
        1 + (u128::from(count) * room / u128::from(self.most_changed.max(1))) as usize
    }
}

fn number_width(lines: &[StatLine], most_changed: u64) -> usize {
    let digits = most_changed.to_string().len();
    let binary = lines.iter().any(|line| line.binary);
    if binary { digits.max(BINARY.len()) } else { digits }
}

/// The graph's ideal width: one column a line, or enough for the longest pair of sizes.
fn wanted_graph(lines: &[StatLine], most_changed: u64) -> usize {
    let uncounted = lines.iter().filter(|line| line.counts().is_none());
    let sizes = uncounted.map(|line| line.sizes().len()).max().unwrap_or(0);
    usize::try_from(most_changed).unwrap_or(usize::MAX).max(sizes)
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The end of a name that is too long, from a slash if there is one, after an ellipsis.
fn shortened(name: &str, width: usize) -> String {
    const ELLIPSIS: &str = "...";
    let Some(excess) = columns(name).checked_sub(width).filter(|excess| *excess > 0) else {
        return name.to_owned();
    };
    let end: String = name.chars().skip(excess + ELLIPSIS.len()).collect();
    let start = end.find('/').unwrap_or(0);
    format!("{ELLIPSIS}{}", &end[start..])
}

fn printable(path: &str) -> String {
    let escape = |character: char| -> String {
        match character.is_control() {
            true => character.escape_default().collect(),
            false => character.into(),
        }
    };
    path.chars().map(escape).collect()
}

/// Like git, names a count of zero only when there is no other.
fn summary(lines: &[StatLine]) -> String {
    let sum = |side: fn((u64, u64)) -> u64| {
        let counts = lines.iter().filter_map(StatLine::counts).map(side);
        counts.fold(0u64, u64::saturating_add)
    };
    let (added, removed) = (sum(|counts| counts.0), sum(|counts| counts.1));
    let mut text = format!(" {} {} changed", lines.len(), plural(lines.len() as u64, "file"));
    let mut append = |count, noun, sign| {
        text.push_str(&format!(", {count} {}({sign})", plural(count, noun)));
    };
    if added > 0 || removed == 0 {
        append(added, "insertion", '+');
    }
    if removed > 0 || added == 0 {
        append(removed, "deletion", '-');
    }
    text + "\n"
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn line(path: &str, added: u64, removed: u64) -> StatLine {
        StatLine {
            path: path.to_owned(),
            added: Some(added),
            removed: Some(removed),
            ..StatLine::default()
        }
    }

    fn git(directory: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "core.quotePath=false"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What git counts in a file.
    fn stat_of(counted: &str, before: &str, after: &str) -> StatLine {
        let mut parts = counted.split('\t');
        let mut number = || parts.next().unwrap().parse().ok();
        let (added, removed) = (number(), number());
        StatLine {
            path: parts.next().unwrap().to_owned(),
            added,
            removed,
            binary: added.is_none(),
            size_before: before.len() as u64,
            size_after: after.len() as u64,
        }
    }

    /// Renders the change of each (path, before, after) here and in git, at many widths.
    fn check(files: &[(&str, String, String)]) {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        git(root.path(), &["init", "-q"]);
        files.iter().for_each(|(path, before, _)| write(path, before));
        git(root.path(), &["add", "-A"]);
        files.iter().for_each(|(path, _, after)| write(path, after));
        let counted = git(root.path(), &["diff", "--histogram", "--numstat"]);
        let counted = counted.lines().zip(files);
        let lines: Vec<StatLine> =
            counted.map(|(counted, (_, before, after))| stat_of(counted, before, after)).collect();
        for width in [1, 24, 40, 60, 80, 81, 132, 1000] {
            let expected = git(root.path(), &["diff", "--histogram", &format!("--stat={width}")]);
            assert_eq!(render(&lines, width), expected, "at width {width}");
        }
    }

    fn text(lines: usize, salt: &str) -> String {
        (0..lines).map(|line| format!("{salt}{line}\n")).collect()
    }

    #[test]
    fn looks_like_git() {
        check(&[
            ("a/deep/directory/with/quite/a/long/name/indeed.rs", text(3, "a"), text(3, "b")),
            ("caf\u{e9}.txt", text(1, "a"), text(400, "b")),
            ("m", text(900, "a"), text(1, "b")),
            ("same-size", text(40, "a"), text(40, "b")),
            ("z", String::new(), text(1, "b")),
        ]);
        check(&[("file", text(9, "a"), text(10, "a"))]);
        check(&[("file", text(10, "a"), text(9, "a"))]);
        check(&[("file", text(30, "a"), text(29, "b")), ("other", text(1, "a"), text(4, "a"))]);
    }

    #[test]
    fn binary_looks_like_git() {
        let binary = |size| "\0".repeat(size);
        check(&[("image.png", binary(10), binary(1_234_567))]);
        check(&[
            ("an/image/in/a/long/directory/image.png", binary(10), text(2, "x")),
            ("text", text(3000, "a"), text(2, "b")),
        ]);
        check(&[("image", binary(10), binary(7)), ("text", text(3, "a"), text(2, "a"))]);
    }

    #[test]
    fn counts_are_singular_and_plural() {
        let last = |lines: &[StatLine]| render(lines, 80).lines().last().unwrap().to_owned();
        assert_eq!(last(&[line("a", 1, 0)]), " 1 file changed, 1 insertion(+)");
        assert_eq!(last(&[line("a", 0, 2)]), " 1 file changed, 2 deletions(-)");
        let both = [line("a", 2, 1), line("b", 0, 0)];
        assert_eq!(last(&both), " 2 files changed, 2 insertions(+), 1 deletion(-)");
        let neither = " 1 file changed, 0 insertions(+), 0 deletions(-)";
        assert_eq!(last(&[line("a", 0, 0)]), neither);
        assert_eq!(render(&[], 80), "");
    }

    #[test]
    fn uncounted_text_shows_its_sizes() {
        let uncounted = StatLine {
            path: "big".to_owned(),
            size_before: 5,
            size_after: 7,
            ..StatLine::default()
        };
        let expected = " big | 5 -> 7 bytes\n 1 file changed, 0 insertions(+), 0 deletions(-)\n";
        assert_eq!(render(&[uncounted], 80).replace("   ", " "), expected);
    }

    #[test]
    fn control_characters_do_not_reach_the_output() {
        let text = render(&[line("a\nb\u{1b}[2J", 1, 0)], 80);
        assert_eq!(text.lines().next(), Some(r" a\nb\u{1b}[2J | 1 +"));
    }

    #[test]
    fn enormous_counts_do_not_overflow() {
        let text = render(&[line("a", u64::MAX, u64::MAX), line("b", 1, 0)], 80);
        assert!(text.lines().take(2).all(|line| line.len() <= 80), "{text}");
    }
}
