//! What a model wrote, for people.

use offshoot_agent::EventRecord;
use offshoot_engine::text::harmless;

/// Text of a model as a person can read it anywhere: what a terminal would obey, and what turns text around, is made visible. Line ends and tabs stay.
///
/// ```
/// use offshoot_coder::readable;
///
/// assert_eq!(readable("a\u{1b}[32mb\n\tc\u{202e}d\r\n"), "a^[[32mb\n\tc<202e>d\n");
/// ```
pub fn readable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                let line = line.strip_suffix('\r').unwrap_or(line);
                shown.push_str(&harmless(line.as_bytes()));
                shown.push('\n');
            }
            None => shown.push_str(&harmless(line.as_bytes())),
        }
    }
    shown
}

/// The conversation as Markdown, for people.
pub fn to_markdown(records: &[EventRecord]) -> String {
    readable(&offshoot_agent::to_markdown(records))
}
