//! Text from elsewhere, made harmless for whoever shows it.

mod terminal;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_text::characters::is_direction_mark;
pub use offshoot_text::characters::is_invisible;
pub use offshoot_tree::display_bytes;
pub use terminal::{Passes, TerminalText};

/// More spaces in a row are counted where a command is shown.
const MOST_SPACES: usize = 8;

/// Text with characters that a terminal obeys made visible; tabs stay.
///
/// ```
/// use offshoot_engine::text::harmless;
///
/// assert_eq!(harmless(b"a\x1b[2Jb\tc"), "a^[[2Jb\tc");
/// ```
pub fn harmless(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match shown(c) {
            Some(text) if c != '\t' => out.push_str(&text),
            _ => out.push(c),
        }
        out
    })
}

/// How a character is shown that a terminal obeys, or that makes it show text in another order; nothing for all others.
fn shown(c: char) -> Option<String> {
    match c {
        '\x7f' => Some("^?".to_owned()),
        c if c.is_control() && (c as u32) < 0x20 => {
            Some(format!("^{}", char::from(c as u8 + 0x40)))
        }
        c if c.is_control() || is_direction_mark(c) => Some(format!("<{:02x}>", c as u32)),
        _ => None,
    }
}

/// Text that somebody gave, such as a reason or a user's name, on one line and harmless.
///
/// ```
/// use offshoot_engine::text::line;
///
/// assert_eq!(line("one\ntwo"), "one^Jtwo");
/// ```
pub fn line(text: &str) -> String {
    harmless(text.as_bytes()).replace('\t', "^I")
}

/// A command that somebody decides about, on one line and harmless. Much space in it is counted, since what stands behind it would be overlooked,
/// line ends are shown, since a command may end there, and so is what nobody sees.
///
/// ```
/// use offshoot_engine::text::command;
///
/// assert_eq!(command("make  all"), "make  all");
/// assert_eq!(command(&format!("ls{}; rm -r .", " ".repeat(300))), "ls [300 spaces] ; rm -r .");
/// assert_eq!(command(&format!("ls #{}\nrm -r .", " ".repeat(300))), "ls # [300 spaces] ^Jrm -r .");
/// assert_eq!(command("rm a\u{200b}b"), "rm a<200b>b");
/// ```
pub fn command(text: &str) -> String {
    let is_space = |c: char| c.is_whitespace() && !is_line_end(c);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let like = |c: char| is_space(c) == is_space(first) && is_line_end(c) == is_line_end(first);
        let end = rest.find(|c: char| !like(c)).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        let count = part.chars().count();
        if count > MOST_SPACES && is_space(first) {
            shown.push_str(&format!(" [{count} spaces] "));
        } else if count > MOST_SPACES && is_line_end(first) {
            shown.push_str(&format!(" [{count} line ends] "));
        } else {
            shown.push_str(&visible(&line(part)));
        }
        rest = behind;
    }
    shown
}

/// Text with the characters that nobody sees as their numbers.
///
/// ```
/// use offshoot_engine::text::visible;
///
/// assert_eq!(visible("a\u{200b}b"), "a<200b>b");
/// ```
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match is_unseen(c) {
            true => out.push_str(&format!("<{:02x}>", c as u32)),
            false => out.push(c),
        }
        out
    })
}

/// Whether a shell or a person may take a line to end here.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The blank of Braille has a shape, of no dots.
fn is_unseen(c: char) -> bool {
    is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2800}')
}

/// What a program printed, as a text that no terminal obeys: of characters that are none to read, line ends and tabs stay.
///
/// ```
/// use offshoot_engine::text::plain;
///
/// assert_eq!(plain(b"a\tb\r\n\x1b[31mc\x07\xff"), "a\tb\n[31mc\u{fffd}");
/// ```
pub fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let stays = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(stays).collect()
}

/// The first bytes of a text, cut between letters, and how many more there are.
///
/// ```
/// use offshoot_engine::text::head;
///
/// assert_eq!(head("abc", 3), "abc");
/// assert_eq!(head("äöü", 3), "ä\n[4 more bytes]");
/// ```
pub fn head(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.to_owned(),
        false => {
            let end = text.floor_char_boundary(most);
            format!("{}\n[{} more bytes]", &text[..end], text.len() - end)
        }
    }
}

/// The last bytes of a text, cut between letters, and how many there are before.
///
/// ```
/// use offshoot_engine::text::tail;
///
/// assert_eq!(tail("abc", 3), "abc");
/// assert_eq!(tail("äöü", 3), "[4 bytes before]\nü");
/// ```
pub fn tail(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.to_owned(),
        false => {
            let start = text.ceil_char_boundary(text.len() - most);
            format!("[{start} bytes before]\n{}", &text[start..])
        }
    }
}

/// A path of the host, quoted where it holds characters that a terminal obeys.
///
/// ```
/// use offshoot_engine::text::host_path;
///
/// assert_eq!(host_path("/srv/me".as_ref()), "/srv/me");
/// ```
pub fn host_path(path: &Path) -> String {
    display_bytes(path.as_os_str().as_bytes())
}

/// A number of bytes, as people read it.
///
/// ```
/// use offshoot_engine::text::bytes;
///
/// assert_eq!(bytes(1023), "1023 B");
/// assert_eq!(bytes(1536), "1.5 KiB");
/// ```
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// "1 file", "2 files".
///
/// ```
/// use offshoot_engine::text::count;
///
/// assert_eq!(count(1, "directory"), "1 directory");
/// assert_eq!(count(2, "directory"), "2 directories");
/// ```
pub fn count(number: u64, one: &str) -> String {
    match (number, one.strip_suffix('y')) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) if !one.ends_with("ey") => format!("{number} {stem}ies"),
        _ => format!("{number} {one}s"),
    }
}
