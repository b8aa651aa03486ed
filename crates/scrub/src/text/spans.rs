//! Where credentials are in a text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::settings::kind::is_harmless;
use crate::settings::line::{
    LIKELY, NAMES, PARTS, SHAPES, has_part, is_credential, is_password, names,
};
use crate::settings::value::{SCHEMES, is_literal, is_pair, is_random, logins, spans_of_shape};

/// Shorter values are no credentials: types, numbers, switches.
const LEAST: usize = 6;

/// A login of one word is a token, rather than a name, from this length on.
const LEAST_ALONE: usize = 16;

/// What people write where a credential belongs.
const PLACEHOLDERS: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "changeme",
    "change-me",
    "change_me",
    "example",
    "placeholder",
    "your",
    "xxx",
    "***",
    "...",
    "todo",
    "dummy",
    "redacted",
    "string",
    "undefined",
    "optional",
    "required",
    "username",
    "credential",
    "apikey",
    "api_key",
    "api-key",
    "insert",
];

/// What a text has to have, in capitals or not, for the slower looks to find anything.
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = [NAMES, PARTS, LIKELY, &["_key"]].concat();
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
});

/// The beginnings of all shapes that are looked for in texts.
static STARTS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(SHAPES.iter().map(|shape| shape.start)).ok());

/// All credentials, in order, none within another.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = private_keys(text);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let spans = in_line(line.trim_end_matches(['\r', '\n']));
        found.extend(spans.into_iter().map(|span| span.start + at..span.end + at));
        at += line.len();
    }
    merged(found)
}

fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in found {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Keys between their first and last line; to the end of the text if the last line is missing.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    const DASHES: &str = "-----";
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(BEGIN).map(|start| at + start) {
        at = start + BEGIN.len();
        let Some(length) = text[at..].find(DASHES) else { break };
        let title = &text[at..at + length];
        if title.len() > 64 || !title.contains("PRIVATE KEY") {
            continue;
        }
        at += length + DASHES.len();
        // What says how a key looks, such as a pattern in source code, holds no key.
        let body: usize = text[at..].find(END).map_or(text.len() - at, |end| end);
        let is_key = text[at..at + body].bytes().filter(u8::is_ascii_alphanumeric).count() >= LEAST;
        let end = text[at + body..]
            .find(END)
            .and_then(|end| {
                let after = at + body + end + END.len();
                Some(after + text[after..].find(DASHES)? + DASHES.len())
            })
            .unwrap_or(text.len());
        if is_key {
            found.push(start..end);
            at = end;
        }
    }
    found
}

fn in_line(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if STARTS.as_ref().is_none_or(|starts| starts.is_match(line)) {
        let shapes = SHAPES.iter().filter(|shape| !shape.settings);
        found.extend(shapes.flat_map(|shape| spans_of_shape(line, shape)));
    }
    if line.contains("://") {
        found.extend(logins(line).filter_map(|span| login(line, span)));
    }
    found.extend(given_login(line));
    if WORDS.as_ref().is_none_or(|words| words.is_match(line)) {
        found.extend(names(line).filter_map(|(start, end)| value_of_name(line, start, end)));
    }
    found
}

/// The secret of a login in an address, unless a program puts it together: the user's name may stay.
fn login(line: &str, span: Range<usize>) -> Option<Range<usize>> {
    // The sign behind it says that it is a login.
    let login = &line[span.start..span.end - 1];
    let is_made = login.contains(|c: char| "$`\\()[]{}<>|;&*%".contains(c));
    let start = login.find(':').map_or(span.start, |at| span.start + at + 1);
    let secret = &line[start..span.end - 1];
    // A name without a password is most often just that.
    if start == span.start && secret.len() < LEAST_ALONE {
        return None;
    }
    (!is_made && !is_placeholder(secret)).then_some(start..span.end - 1)
}

/// The login that a program which fetches is given: `curl -u NAME:PASSWORD`.
fn given_login(line: &str) -> Option<Range<usize>> {
    const OPTIONS: [&str; 4] = [" -u ", " --user ", " --proxy-user ", " -U "];
    let fetches = ["curl", "wget", "http"].iter().any(|program| line.contains(program));
    let option = OPTIONS
        .iter()
        .filter(|_| fetches)
        .find_map(|option| Some(line.find(option)? + option.len()))?;
    let word = line[option..].split_whitespace().next()?;
    let (_, password) = word.split_once(':')?;
    let start = option + line[option..].find(word)? + word.len() - password.len();
    let end = start + password.trim_end_matches(['"', '\'']).len();
    let is_secret =
        is_pair(word) && !is_made_up(&line[start..end]) && !is_placeholder(&line[start..end]);
    is_secret.then_some(start..end)
}

/// The value that stands behind a name, if the name is one for credentials and the value looks like one.
fn value_of_name(line: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let name = &line[start..end];
    let (is_name, is_likely) = (is_credential(name), has_part(name, LIKELY));
    if !is_name && (!is_likely || is_public(line, start, name)) {
        return None;
    }
    let value = assigned(line, start, end)?;
    let text = &line[value.span.clone()];
    let is_secret = if is_name {
        text.len() >= LEAST
            && is_literal(text, is_password(name))
            && !is_harmless(name, text)
            && !is_placeholder(text)
            && !is_made_up(text)
            && (value.is_certain || looks_secret(text))
    } else {
        is_random(text) && !is_made_up(text)
    };
    is_secret.then_some(value.span)
}

/// Whether it is a public key, which is no secret.
fn is_public(line: &str, start: usize, name: &str) -> bool {
    let before = line[..start].trim_end();
    let has = |text: &str| text.to_ascii_lowercase().ends_with("public");
    has(before) || name.to_ascii_lowercase().contains("public")
}

struct Assigned {
    span: Range<usize>,
    /// It has quotes, or is that of a variable of the environment: then a word may be one.
    is_certain: bool,
}

/// The value that is assigned to the name at a place.
fn assigned(line: &str, start: usize, end: usize) -> Option<Assigned> {
    let is_option = line[start..end].starts_with("--");
    let name = &line[start..end];
    let mut at = end;
    let skip = |at: usize, set: &str| {
        at + line[at..].len() - line[at..].trim_start_matches(|c: char| set.contains(c)).len()
    };
    let closed = skip(at, "\\\"'])");
    let spaced = skip(closed, " \t");
    let rest = &line[spaced..];
    let sign = [":=", "=>", "=", ":"].into_iter().find(|sign| rest.starts_with(sign));
    match sign {
        // A comparison assigns nothing, and a path in a language is no value.
        Some(_) if ["==", "=~", "::"].iter().any(|other| rest.starts_with(other)) => return None,
        Some(sign) => at = spaced + sign.len(),
        // An option behind an option is no value.
        None if is_option && spaced > end && !rest.starts_with('-') => at = spaced,
        None => return None,
    }
    let before_value = at;
    at = skip(at, " \t");
    let is_tight = at == before_value;
    let quoted = skip(at, "\\\"'`");
    let quote = line[at..quoted].chars().rev().find(|c| *c != '\\');
    at = quoted;
    let scheme = SCHEMES.iter().find(|scheme| {
        line[at..].get(..scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme))
    });
    at += scheme.map_or(0, |scheme| scheme.len());
    let length = match quote {
        // What has quotes may hold spaces, but then it is a sentence more often than a password.
        Some(quote) => line[at..].find([quote, '\\']).unwrap_or(line.len() - at),
        None => line[at..]
            .find(|c: char| c.is_whitespace() || "\"'`,;<>&|".contains(c))
            .unwrap_or(line.len() - at),
    };
    // In source code and JSON, a line within a text ends with an escape.
    let escape =
        ["\\n", "\\r", "\\t"].iter().filter_map(|escape| line[at..at + length].find(escape));
    let length = escape.min().unwrap_or(length);
    let text = &line[at..at + length];
    if text.contains(char::is_whitespace) || text.is_empty() {
        return None;
    }
    let is_variable = is_tight && !name.contains(|c: char| c.is_ascii_lowercase());
    Some(Assigned {
        span: at..at + length,
        is_certain: quote.is_some() || is_variable || scheme.is_some(),
    })
}

/// Whether a word without quotes is no part of a program: `password: hunter2`, and not `password: String`.
fn looks_secret(text: &str) -> bool {
    let of_secret = |c: char| c.is_ascii_alphanumeric() || "_-+/=.!@#%^~".contains(c);
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_call =
        text.contains('.') && !text.contains(|c: char| "+/=!@#%^~".contains(c)) && text.len() < 24;
    let has_letter = text.contains(|c: char| c.is_ascii_alphabetic());
    text.chars().all(of_secret) && digits > 0 && has_letter && !is_call && !text.contains("_t")
}

/// Whether a value is put together by a program: variables, calls, patterns.
fn is_made_up(text: &str) -> bool {
    text.starts_with('[')
        || text.contains("${")
        || text.contains("$(")
        || text.contains("{{")
        || text.starts_with(['$', '{', '<', '%', '&', '*', '('])
        || text.contains(['(', '{', '<'])
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_one_character = lower.chars().all(|c| lower.starts_with(c));
    is_one_character || (text.len() < 32 && PLACEHOLDERS.iter().any(|word| lower.contains(word)))
}
