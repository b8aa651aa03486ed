//! Values that a name with a word for a credential has, and that are none: `COOKIE_DOMAIN`, `PASSWORD_MIN_LENGTH`.

use super::line::{KINDS, parts};

/// Longer words are no names of anything.
const LONGEST_WORD: usize = 32;
/// Longer parts of an address or a path may be tokens.
const LONGEST_PART: usize = 24;
/// Longer names of algorithms may be passwords.
const LONGEST_ALGORITHM: usize = 12;
/// Addresses that are credentials themselves.
const SECRET_ADDRESSES: [&str; 3] = ["webhook", "dsn", "connection"];

/// Whether the last word of a name says what kind of value it has, and the value is of that kind.
pub(crate) fn is_harmless(name: &str, value: &str) -> bool {
    let parts = parts(name);
    let Some(last) = parts.last() else { return false };
    let kind = KINDS.iter().find(|(_, words)| words.contains(&last.as_str()));
    let value = value.trim().trim_end_matches([',', ';']);
    kind.is_some_and(|(kind, _)| match *kind {
        "host" => is_host(value),
        "path" => value.starts_with('/') && is_path(value),
        "address" => {
            let lower = name.to_ascii_lowercase();
            !SECRET_ADDRESSES.iter().any(|word| lower.contains(word)) && is_address(value)
        }
        "number" => is_number(value),
        "word" => is_word(value),
        "algorithm" => {
            value.len() <= LONGEST_ALGORITHM
                && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        }
        _ => false,
    })
}

/// A host has a dot in it, and ends like one: `hunter.2` does not.
fn is_host(value: &str) -> bool {
    let host = value.trim_start_matches('.').split(':').next().unwrap_or_default();
    let port = value.split_once(':').map_or("", |(_, port)| port);
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= LONGEST_PART
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let ends = last.len() >= 2 && last.chars().all(|c| c.is_ascii_lowercase());
    let is_name =
        host == "localhost" || (host.contains('.') && ends && host.split('.').all(is_label));
    is_name && port.chars().all(|c| c.is_ascii_digit())
}

fn is_path(value: &str) -> bool {
    let of_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    // A part with letters and digits in it may be a token, unless it is as short as a version.
    let is_part = |part: &str| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        part.len() <= LONGEST_PART && part.chars().all(of_part) && (digits == 0 || part.len() <= 6)
    };
    value.split('/').all(is_part)
}

fn is_address(value: &str) -> bool {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let Some(rest) = rest else { return false };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    is_host(host) && is_path(path)
}

/// A number that is shorter than most passwords, with a unit of time or without.
fn is_number(value: &str) -> bool {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = &value[digits.len()..];
    (1..=7).contains(&digits.len())
        && digits.chars().all(|c| c.is_ascii_digit())
        && ["", "ms", "s", "m", "h", "d", "w"].contains(&unit)
}

fn is_word(value: &str) -> bool {
    value.len() <= LONGEST_WORD
        && value.chars().all(|c| c.is_ascii_alphabetic() || "-_.".contains(c))
}
