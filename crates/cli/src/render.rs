//! Text for people.

pub(crate) mod columns;
pub(crate) mod discarded;
pub(crate) mod exec;
pub(crate) mod git;
pub(crate) mod listing;
pub(crate) mod overlap;
pub(crate) mod patch;
mod path;
pub(crate) mod stat;
pub(crate) mod styled;
pub(crate) use offshoot_engine::binding::git_directory;
pub(crate) use offshoot_engine::import::summary as import;
pub(crate) use offshoot_engine::text::{bytes, count, harmless, host_path, line};
pub(crate) mod way_on;
pub(crate) mod words;

use std::path::Path;

use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;
use offshoot_engine::change::{Change, ChangeKind};
use offshoot_engine::file::{EntryKind, VaultPath};
use offshoot_engine::id::Id;
use offshoot_engine::policy::FILE_HEADER;
use offshoot_engine::text::display_bytes;
use offshoot_engine::wire;
use offshoot_engine::workspace::ListedChanges;
use offshoot_protocol::Text;

use crate::invocation::next_in;

pub(crate) use path::{path, paths_in, set_reader};

pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();

/// A rule as it goes into a file, indented: with what a file begins with, where this one is not there yet.
pub(crate) fn rule_to_add(rule: &str, file: Option<&Path>) -> String {
    let is_new = file.is_some_and(|file| !file.exists());
    let header = if is_new { format!("{FILE_HEADER}\n") } else { String::new() };
    let indented = |text: &str| match text.is_empty() {
        true => "\n".to_owned(),
        false => format!("    {}\n", line(text)),
    };
    header.lines().chain(rule.lines()).map(indented).collect()
}

/// Text in a style; the style is dropped later where colours are not wanted.
pub(crate) fn paint(style: Style, text: &str) -> String {
    // A style around nothing would still end a line, and keep the blanks before it.
    if text.is_empty() {
        return String::new();
    }
    format!("{style}{text}{style:#}")
}

/// Text that may have several lines, such as what a program said; all but the first are indented, so none is taken for another's.
pub(crate) fn lines(text: &str, indent: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(line);
    lines.collect::<Vec<_>>().join(&format!("\n{indent}"))
}

/// Rows with aligned columns below a line that names them; nothing where there are no rows.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let header = header.iter().map(|name| paint(DIM, name)).collect();
    aligned(&[vec![header], rows].concat())
}

/// Names and values, a line each.
pub(crate) fn fields(rows: &[Vec<String>]) -> String {
    aligned(rows)
}

/// Rows with aligned columns; the last column is not padded.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| visible(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if column + 1 < row.len() {
                line.push_str(&" ".repeat(widths[column] - visible(cell) + 2));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// How many characters of a cell are seen: colours are not.
fn visible(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().chars().count()
}

/// What a document says, which may be no text.
pub(crate) fn text(text: &Text) -> String {
    display_bytes(&text.to_bytes().unwrap_or_default())
}

/// A time in the user's zone.
pub(crate) fn time(time_ms: u64) -> String {
    let stamp =
        i64::try_from(time_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    match stamp {
        Some(stamp) => stamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        None => wire::time(time_ms),
    }
}

/// How long ago something was, in a word or two.
pub(crate) fn age(time_ms: u64) -> String {
    let now = Id::random().time_ms();
    let seconds = now.saturating_sub(time_ms) / 1000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// How much was changed, in two words.
pub(crate) fn changes(changed: u64) -> String {
    if changed == 0 { "no changes".to_owned() } else { count(changed, "change") }
}

/// How many changes a workspace has, in a list.
pub(crate) fn listed_changes(listed: ListedChanges) -> String {
    match listed {
        ListedChanges { committed, held: 0 } => changes(committed),
        ListedChanges { committed: 0, held } => format!("{held} held back"),
        ListedChanges { committed, held } => format!("{}, {held} held back", changes(committed)),
    }
}

pub(crate) fn short(id: &Id) -> String {
    paint(WARN, &id.short())
}

/// One line for a change: a letter, the path, and where it came from.
pub(crate) fn change(change: &Change) -> String {
    change_line(change, path)
}

/// The same for scripts, with the paths of the vault wherever they run.
pub(crate) fn change_for_scripts(change: &Change) -> String {
    change_line(change, VaultPath::to_string)
}

fn change_line(change: &Change, path: fn(&VaultPath) -> String) -> String {
    let (letter, style) = match change.kind() {
        ChangeKind::Added => ("A", GOOD),
        ChangeKind::Modified => ("M", WARN),
        ChangeKind::Deleted => ("D", BAD),
        ChangeKind::Renamed => ("R", NAME),
        ChangeKind::Mode => ("P", WARN),
        ChangeKind::Metadata => ("T", DIM),
    };
    let slash = if change.entry().kind() == EntryKind::Directory { "/" } else { "" };
    let shown = path(&change.path);
    let shown = if shown == "/" { shown } else { format!("{shown}{slash}") };
    let detail = match (&change.moved, change.kind(), &change.before, &change.after) {
        (Some((from, similarity)), ..) => format!("  (from {}, {similarity}%)", path(from)),
        (None, ChangeKind::Mode, Some(before), Some(after)) => {
            format!("  ({:04o} -> {:04o})", before.meta.mode, after.meta.mode)
        }
        (None, ChangeKind::Modified, Some(before), Some(after))
            if before.kind() != after.kind() =>
        {
            format!("  ({} -> {})", before.kind().word(), after.kind().word())
        }
        (None, ChangeKind::Metadata, ..) => {
            let fields: Vec<&str> = change.metadata().iter().map(|field| field.word()).collect();
            if fields.is_empty() { String::new() } else { format!("  ({})", fields.join(", ")) }
        }
        _ => String::new(),
    };
    format!("{} {shown}{}", paint(style, letter), paint(DIM, &detail))
}

/// The line about listed paths that changed in the folder since that was last read, where there are any.
pub(crate) fn outdated(paths: &[VaultPath], workspace: &str) -> Option<String> {
    let first = path(paths.first()?);
    let more = match paths.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let line = format!("changed in the folder since it was last read: {first}{more}");
    let read = next_in(workspace, "offshoot commit --dry-run");
    let next = format!("; `{read}` reads it");
    Some(format!("{}{}\n", paint(WARN, &line), paint(DIM, &next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_their_colour() {
        let rows =
            [vec![paint(NAME, "a"), "1".to_owned()], vec!["longer".to_owned(), "2".to_owned()]];
        let plain = |text: &str| anstream::adapter::strip_str(text).to_string();
        assert_eq!(plain(&fields(&rows)), "a       1\nlonger  2\n");
        let table = |rows: &[Vec<String>]| plain(&table(&["NAME", "NUMBER"], rows.to_vec()));
        assert_eq!(table(&rows), "NAME    NUMBER\na       1\nlonger  2\n");
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn a_file_cannot_steer_the_terminal() {
        assert_eq!(harmless(b"a\x1b[2Jb\r\t\x7f"), "a^[[2Jb^M\t^?");
        assert_eq!(harmless("a\u{202e}b".as_bytes()), "a<202e>b");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(count(1, "directory"), "1 directory");
        assert_eq!(count(2, "directory"), "2 directories");
        assert_eq!(count(0, "file"), "0 files");
    }
}
