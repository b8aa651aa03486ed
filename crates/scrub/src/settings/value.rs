//! Whether a value is a credential itself, or says where one is.

use std::ops::Range;

use super::line::{DIRECTORIES, REFERENCES, SHAPES, Shape};

/// Words before a credential in a header.
pub(crate) const SCHEMES: [&str; 4] = ["bearer ", "basic ", "token ", "digest "];
/// Values that are switches.
const SWITCHES: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "none", "nil"];
/// Programs that print what they are given.
const PRINTERS: [&str; 4] = ["echo ", "printf ", "<<<", "base64 "];
/// Shorter values are no random ones.
const LEAST_RANDOM: usize = 32;
/// A random value has so many different characters.
const LEAST_DIFFERENT: usize = 12;

/// Whether a value of a name is written out, rather than referred to.
pub(crate) fn is_literal(value: &str, is_password: bool) -> bool {
    let value = value.trim().trim_end_matches(['"', '\'', ',', ';']);
    let lower = value.to_ascii_lowercase();
    let value = SCHEMES
        .iter()
        .find(|scheme| lower.starts_with(*scheme))
        .map_or(value, |scheme| value[scheme.len()..].trim_start());
    let is_switch = SWITCHES.contains(&lower.as_str());
    let is_number = !is_password && value.chars().all(|c| c.is_ascii_digit() || ".-".contains(c));
    let is_known = REFERENCES.iter().any(|start| value.starts_with(start));
    value.contains(|c: char| c.is_alphanumeric())
        && !(is_switch || is_number || is_known || is_path(value) || is_reference(value))
}

fn is_path(value: &str) -> bool {
    let starts = |start: &&str| value.starts_with(*start);
    (["~/", "./", "../"].iter().any(starts) || DIRECTORIES.iter().any(starts))
        && !value.contains(char::is_whitespace)
}

/// Whether a value is a variable, what a command prints, or a path below a variable.
fn is_reference(value: &str) -> bool {
    if value.starts_with("$(") || value.starts_with('`') {
        return !PRINTERS.iter().any(|printer| value.contains(printer));
    }
    let Some(named) = value.strip_prefix('$') else { return false };
    let of_name = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let rest = match named.strip_prefix('{') {
        Some(braced) => {
            let Some((inner, rest)) = braced.split_once('}') else { return false };
            let otherwise =
                inner.trim_start_matches(of_name).trim_start_matches([':', '-', '=', '?', '+']);
            if is_literal(otherwise, true) {
                return false;
            }
            rest
        }
        None => named.trim_start_matches(of_name),
    };
    rest.is_empty() || rest.starts_with('/')
}

/// Whether a value is long and looks random.
pub(crate) fn is_random(value: &str) -> bool {
    let of_random = |c: char| c.is_ascii_alphanumeric() || "+/=_-".contains(c);
    let value = value.trim().trim_end_matches(['"', '\'', ',', ';']);
    let mut different: Vec<char> = value.chars().collect();
    different.sort_unstable();
    different.dedup();
    value.len() >= LEAST_RANDOM
        && value.chars().all(of_random)
        && different.len() >= LEAST_DIFFERENT
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic())
        && !is_path(value)
}

/// Whether a line has a token that is known by its shape.
pub(crate) fn has_known_shape(line: &str) -> bool {
    SHAPES.iter().any(|shape| has_shape(line, shape))
}

pub(crate) fn has_shape(line: &str, shape: &Shape) -> bool {
    spans_of_shape(line, shape).next().is_some()
}

/// Where a text has tokens of a shape.
pub(crate) fn spans_of_shape(line: &str, shape: &Shape) -> impl Iterator<Item = Range<usize>> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(shape.start).filter_map(move |(at, start)| {
        // A beginning that is no letter begins wherever it is.
        let begins = !shape.start.starts_with(in_word) || !line[..at].ends_with(in_word);
        let more = |c: &char| match shape.hex {
            true => matches!(c, '0'..='9' | 'a'..='f' | '-'),
            false => c.is_ascii_alphanumeric() || (!shape.plain && "_-.".contains(*c)),
        };
        let rest = &line[at + start.len()..];
        let length: usize = rest.chars().take_while(more).map(char::len_utf8).sum();
        let has_digit = || rest[..length].contains(|c: char| c.is_ascii_digit());
        let is_one = begins && length >= shape.least && (!shape.digit || has_digit());
        is_one.then(|| at..at + start.len() + length)
    })
}

/// Where addresses in a line have a login before their hosts, with the sign that ends it: `https://NAME:PASSWORD@HOST`, `https://TOKEN@HOST`.
pub(crate) fn logins(line: &str) -> impl Iterator<Item = Range<usize>> {
    let ends = |c: char| c.is_whitespace() || "/\"'?#".contains(c);
    line.match_indices("://").filter_map(move |(at, scheme)| {
        let start = at + scheme.len();
        let host = line[start..].split(ends).next().unwrap_or_default();
        let (login, _) = host.rsplit_once('@')?;
        let is_secret = match login.split_once(':').unwrap_or((login, "")) {
            // The user of a host that is reached by ssh is no secret, nor is the one that all have.
            (user, "") => !line[..at].ends_with("ssh") && user != "git" && is_literal(user, true),
            (user, password) => is_literal(password, true) || is_random(user),
        };
        is_secret.then(|| start..start + login.len() + 1)
    })
}

/// Whether an address in a line has a login before its host, also one without a scheme: `NAME:PASSWORD@HOST`.
pub(crate) fn has_login(line: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "/\"'=,".contains(c);
    logins(line).next().is_some()
        || line.split(ends).any(|word| {
            let Some((login, host)) = word.split_once('@') else { return false };
            let Some((user, password)) = login.split_once(':') else { return false };
            let is_other = user.is_empty() || user == "mailto" || host.starts_with("sha");
            !is_other
                && host.starts_with(|c: char| c.is_alphanumeric())
                && is_literal(password, true)
        })
}

/// Whether a value is `NAME:WORD`, and no ids of a user and a group.
pub(crate) fn is_pair(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    let Some((name, word)) = value.split_once(':') else { return false };
    let is_id = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let is_word = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "/:".contains(c))
    };
    is_word(name) && is_word(word) && !(is_id(name) && is_id(word)) && is_literal(word, true)
}
