//! Mail addresses.

use super::character::{at, before};
use super::span::{PersonalKind, PersonalSpan};

/// Endings of files that follow an `@` in names such as `icon@2x.png`.
const FILES: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "js", "mjs", "ts", "css", "json", "html",
    "md", "rs", "py", "toml", "yaml", "yml", "txt", "lock", "service", "timer", "socket", "target",
];

pub(super) fn find(text: &str) -> impl Iterator<Item = PersonalSpan> {
    text.match_indices('@').filter_map(|(sign, _)| {
        let is_local = |c: char| c.is_alphanumeric() || "._%+-'".contains(c);
        let start = sign - length_back(text, sign, is_local);
        let local = text[start..sign].trim_start_matches(['.', '-', '\'', '%']);
        let start = sign - local.len();
        let is_domain = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
        let rest = &text[sign + 1..];
        let domain = &rest[..rest.find(|c: char| !is_domain(c)).unwrap_or(rest.len())];
        let domain = domain.trim_end_matches(['.', '-']);
        let end = sign + 1 + domain.len();
        // `git@host:path` and `@scope/name@1.2` are none.
        let is_remote = local == "git" && at(text, end) == Some(':');
        let is_double = matches!(before(text, start), Some('@')) || at(text, end) == Some('@');
        let is_address = !local.is_empty() && !local.ends_with('.') && is_host(domain);
        (is_address && !is_remote && !is_double).then_some(PersonalSpan {
            kind: PersonalKind::EmailAddress,
            start,
            end,
        })
    })
}

fn length_back(text: &str, end: usize, is_part: impl Fn(char) -> bool) -> usize {
    text[..end].chars().rev().take_while(|c| is_part(*c)).map(char::len_utf8).sum()
}

/// Two labels or more, of which the last has letters alone.
fn is_host(domain: &str) -> bool {
    let Some((labels, last)) = domain.rsplit_once('.') else { return false };
    let is_top = last.chars().count() >= 2
        && (last.chars().all(char::is_alphabetic) || last.starts_with("xn--"));
    is_top
        && !FILES.contains(&last.to_ascii_lowercase().as_str())
        && labels.split('.').all(|label| !label.is_empty() && !label.starts_with('-'))
}
