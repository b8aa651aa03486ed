//! Settings for people to read.

use std::fmt::Write;

use super::error::printable;
use super::keys;
use super::load::Setting;
use super::narrow;

/// The value alone, without quotes.
///
/// ```
/// use offshoot_engine::settings::{Sources, load, shown_value};
///
/// let all = load(&Sources::default())?.settings()?;
/// let context = all.iter().find(|setting| setting.key == "diff.context").map(shown_value);
/// assert_eq!(context.as_deref(), Some("3"));
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
pub fn shown_value(setting: &Setting) -> String {
    let value = keys::find(setting.key).map(|key| key.kind.to_toml(&setting.value));
    let value = value.unwrap_or_else(|| setting.value.to_string());
    match setting.value.as_str() {
        Some(text) => printable(text),
        None => value.trim_matches('"').to_owned(),
    }
}

/// One line for each setting, in TOML that a configuration file takes; with the origin behind it as a comment.
///
/// ```
/// use offshoot_engine::settings::{Sources, load, render_human};
///
/// let shown = render_human(&load(&Sources::default())?.settings()?, false);
/// assert!(shown.contains("diff.context = 3"));
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
pub fn render_human(settings: &[Setting], show_origin: bool) -> String {
    let lines: Vec<String> = settings
        .iter()
        .map(|setting| {
            let value = match keys::find(setting.key) {
                Some(key) => key.kind.to_toml(&setting.value),
                None => setting.value.to_string(),
            };
            format!("{} = {value}", setting.key)
        })
        .collect();
    let width = lines.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (line, setting) in lines.iter().zip(settings) {
        let written = if show_origin {
            // A path may hold a line break; a comment may not.
            let origin = printable(&setting.origin.to_string());
            let note = narrow::rule(setting.key).note();
            writeln!(text, "{line:width$}  # {origin}{note}")
        } else {
            writeln!(text, "{line}")
        };
        written.expect("writing to a string cannot fail");
    }
    text
}
