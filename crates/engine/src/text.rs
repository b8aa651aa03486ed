//! Text from elsewhere, made harmless for whoever shows it.

mod terminal;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use offshoot_text::characters::is_direction_mark;
pub use offshoot_text::characters::is_invisible;
pub use offshoot_tree::display_bytes;
pub use terminal::{Passes, TerminalText};

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
