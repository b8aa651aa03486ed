//! Whether a line of settings holds a credential.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::kind::is_harmless;
use super::value::{has_known_shape, has_login, is_literal, is_pair, is_random, logins};

include!(concat!(env!("OUT_DIR"), "/credentials.rs"));

/// The beginning of a token that is known by its shape.
pub(crate) struct Shape {
    pub(crate) start: &'static str,
    /// How many characters follow at least.
    pub(crate) least: usize,
    /// They are letters and digits.
    pub(crate) plain: bool,
    /// One of them is a digit.
    pub(crate) digit: bool,
    /// They are lower-case hexadecimal digits and hyphens.
    pub(crate) hex: bool,
    /// It is looked for in settings alone: in other texts it is too common.
    pub(crate) settings: bool,
    /// A line that has one.
    #[cfg(test)]
    pub(crate) example: &'static str,
}

/// What names a credential in a file with some ending.
pub(crate) struct NamesOfFile {
    pub(crate) ends: &'static str,
    pub(crate) names: &'static [&'static str],
    /// Any value `NAME:WORD` is one.
    pub(crate) pairs: bool,
    #[cfg(test)]
    pub(crate) example: &'static str,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// A name and a value in each line.
    Plain,
    /// Commands of a shell.
    Shell,
    /// A language in which a value that is written out has quotes.
    Code,
    /// Names and values that lie in one another.
    Markup,
}

impl Syntax {
    pub(crate) fn of(name: &str) -> Self {
        const CODE: [&str; 8] =
            [".lua", ".vim", "vimrc", ".jl", ".gradle", ".Rprofile", ".irbrc", ".ghci"];
        const MARKUP: [&str; 4] = [".xml", "NuGet.Config", ".json", ".prettierrc"];
        const SHELL: [&str; 7] =
            ["bashrc", "zshrc", "profile", ".zshenv", "_aliases", ".fish", ".zsh"];
        let is_one = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        match () {
            () if is_one(&CODE) => Self::Code,
            () if is_one(&MARKUP) => Self::Markup,
            () if is_one(&SHELL) => Self::Shell,
            () => Self::Plain,
        }
    }
}

/// What was found in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    /// A name of a credential without a value, which may be in the next line.
    Empty,
    /// A credential.
    Line,
    /// A credential that goes on in the next line.
    Open,
}

/// A line without the logins of its addresses; none where there is no login that can be taken out.
pub(crate) fn without_logins(syntax: Syntax, line: &str) -> Option<String> {
    let is_program = matches!(syntax, Syntax::Shell | Syntax::Code);
    let mut rest = line.to_owned();
    let mut places: Vec<_> = logins(line).collect();
    // What a program puts together, or looks for, is no login; and a name alone may be anything in a language.
    places.retain(|place| {
        let login = &line[place.clone()];
        let is_made = login.contains("%s") || login.contains(|c| "$`\\()[]{}<>|;&*+^".contains(c));
        !is_program || !(is_made || syntax == Syntax::Code && !login.contains(':'))
    });
    for place in places.iter().rev() {
        rest.replace_range(place.clone(), "");
    }
    (!places.is_empty()).then_some(rest)
}

/// What a line has to have, in capitals or not, for a token of a known shape or a name of a credential to be in it. None if they
/// cannot be looked for at once.
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|shape| shape.start);
    let names = [NAMES, PARTS, LIKELY, &[KEY_OF_SERVICE]].concat();
    AhoCorasick::builder().ascii_case_insensitive(true).build(shapes.chain(names)).ok()
});

/// The end of a variable's name that is one for a key.
const KEY_OF_SERVICE: &str = "_KEY";

/// Looks for a credential in a line of a file.
pub(crate) fn find(file: &str, syntax: Syntax, line: &str) -> Found {
    if line.contains("-----BEGIN ") && line.contains("PRIVATE KEY") {
        return if line.contains("-----END ") { Found::Line } else { Found::Open };
    }
    let is_login = syntax != Syntax::Code && (has_login(line) || gives_login(line));
    if is_login || is_of_file(file, line) {
        return Found::Line;
    }
    // Most lines have nothing of all that follows.
    if WORDS.as_ref().is_some_and(|words| !words.is_match(line)) {
        return Found::Nothing;
    }
    if has_known_shape(line) {
        return Found::Line;
    }
    let mut empty = false;
    for (start, end) in names(line) {
        let name = &line[start..end];
        let (is_name, is_likely) = (is_credential(name), has_part(name, LIKELY));
        if !is_name && !is_likely {
            continue;
        }
        let Some(value) = value_after(syntax, line, (start, end)) else { continue };
        match value {
            Value::Open if is_name => return Found::Open,
            Value::Of(text) if is_name && text.is_empty() => empty = true,
            Value::Of(text)
                if is_name && is_literal(text, is_password(name)) && !is_harmless(name, text) =>
            {
                return Found::Line;
            }
            Value::Of(text) if is_likely && is_random(text) => return Found::Line,
            Value::Of(_) | Value::Open => {}
        }
    }
    match (empty, syntax) {
        (true, Syntax::Plain) => Found::Empty,
        // What an element holds may be in the next line.
        (true, Syntax::Markup) if line.trim_end().ends_with(['>', '|']) && !line.contains("</") => {
            Found::Open
        }
        _ => Found::Nothing,
    }
}

/// Whether a title of a section is about credentials.
pub(crate) fn names_credential(title: &str) -> bool {
    let title = title.split(']').next().unwrap_or_default().to_ascii_lowercase();
    NAMES.iter().any(|name| title.contains(name))
}

/// Where names are in a line, or what could be some.
pub(crate) fn names(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].find(of_name)?;
        let length = line[start..].find(|c| !of_name(c)).unwrap_or(line.len() - start);
        at = start + length;
        Some((start, at))
    })
}

pub(crate) fn is_credential(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    NAMES.iter().any(|word| lower.contains(word))
        || has_part(name, PARTS)
        || is_key_of_service(name)
}

/// Whether a name is that of a variable for a key: `STRIPE_KEY`.
fn is_key_of_service(name: &str) -> bool {
    name.ends_with(KEY_OF_SERVICE) && !name.contains(|c: char| c.is_ascii_lowercase())
}

pub(crate) fn is_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("pass") || lower.contains("pw")
}

/// Whether a part of a name, as capitals and punctuation divide it, is one of these words.
pub(crate) fn has_part(name: &str, words: &[&str]) -> bool {
    let lower = name.to_ascii_lowercase();
    // The directory that a shell is in has a name of its own.
    let is = |harmless: &str| {
        lower == harmless || !harmless.ends_with("pwd") && lower.ends_with(harmless)
    };
    if HARMLESS.iter().any(|harmless| is(harmless)) {
        return false;
    }
    parts(name).iter().any(|part| words.contains(&part.as_str()))
}

/// The parts of a name, as capitals and punctuation divide it.
pub(crate) fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before.is_ascii_lowercase()) {
            parts.push(String::new());
        }
        if let (true, Some(part)) = (c.is_ascii_alphanumeric(), parts.last_mut()) {
            part.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    parts
}

/// What ends an element that names the value in the next one: `<name>Private-Token</name>`.
const TITLES: [&str; 2] = ["</name>", "</key>"];

enum Value<'l> {
    Of(&'l str),
    /// It does not end in this line.
    Open,
}

/// The value that a name has in a line; none where it has none there.
fn value_after(syntax: Syntax, line: &str, (start, end): (usize, usize)) -> Option<Value<'_>> {
    let (before, name, rest) = (&line[..start], &line[start..end], &line[end..]);
    let is_alias = before.trim() == "alias";
    if is_alias && syntax == Syntax::Shell {
        return None;
    }
    if syntax == Syntax::Markup && TITLES.iter().any(|title| rest.starts_with(title)) {
        return Some(Value::Open);
    }
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let rest = rest.strip_prefix(']').unwrap_or(rest);
    let spaced = rest.trim_start();
    let has_space = spaced.len() < rest.len();
    let assigned = match syntax {
        Syntax::Shell => in_shell(before, name, rest),
        _ => spaced.strip_prefix(":=").or_else(|| spaced.strip_prefix("=>")).or_else(|| {
            let is_value = |rest: &&str| !rest.starts_with(['=', ':']);
            // What follows a colon may be an address.
            let is_no_address = |rest: &&str| is_value(rest) && !rest.starts_with('/');
            let assigned = spaced.strip_prefix('=').filter(is_value);
            assigned.or_else(|| spaced.strip_prefix([':', '>']).filter(is_no_address))
        }),
    };
    let is_comment = before.trim_start().starts_with(['#', ';']);
    let is_first = !before.contains('=') && !before.contains(": ") && !is_comment;
    let takes_space = has_space && is_first && matches!(syntax, Syntax::Plain | Syntax::Markup);
    let value = match assigned.or_else(|| spaced.strip_prefix("value=")) {
        Some(value) => value.trim_start(),
        None if takes_space => spaced,
        None => return None,
    };
    let Some(quote) = value.chars().next().filter(|c| "\"'".contains(*c)) else {
        // What is in brackets may be many lines long.
        if value.starts_with(['{', '[']) && syntax != Syntax::Shell {
            return Some(Value::Open);
        }
        if syntax == Syntax::Code {
            return None;
        }
        let ends = |c: char| "\"'<".contains(c);
        let value = value.split(ends).next().unwrap_or_default();
        let value = value.split(" #").next().unwrap_or_default().trim();
        let is_block = syntax != Syntax::Shell && value.starts_with(['|', '>']);
        return Some(if is_block { Value::Open } else { Value::Of(value) });
    };
    if value.starts_with("\"\"\"") || value.starts_with("'''") {
        return Some(Value::Open);
    }
    let inner = &value[1..];
    match inner.find(quote) {
        Some(at) => Some(Value::Of(&inner[..at])),
        None => Some(Value::Open),
    }
}

/// The value of a variable, an option or a header in a command of a shell.
fn in_shell<'l>(before: &str, name: &str, rest: &'l str) -> Option<&'l str> {
    const SETTERS: [&str; 2] = ["set ", "setenv "];
    if let Some(value) = rest.strip_prefix('=').or_else(|| rest.strip_prefix("+=")) {
        return Some(value).filter(|value| !value.starts_with('='));
    }
    let is_header =
        name.trim_start_matches('-').contains('-') || name.eq_ignore_ascii_case("authorization");
    if let Some(value) = rest.strip_prefix(':').filter(|_| is_header) {
        return Some(value);
    }
    let value = rest.strip_prefix(char::is_whitespace)?;
    let is_set = SETTERS.iter().any(|setter| before.trim_start().starts_with(setter));
    (is_set || name.starts_with("--")).then_some(value)
}

/// Whether a program that fetches is given a login: `curl -u NAME:PASSWORD`.
fn gives_login(line: &str) -> bool {
    const PROGRAMS: [&str; 3] = ["curl", "wget", "http"];
    const OPTIONS: [&str; 4] = ["-u", "--user", "-U", "--proxy-user"];
    let words: Vec<&str> = line.split([' ', '\t', '=']).filter(|word| !word.is_empty()).collect();
    let fetches = PROGRAMS.iter().any(|program| line.contains(program));
    let is_given = |pair: &[&str]| OPTIONS.contains(&pair[0]) && is_pair(pair[1]);
    fetches && words.windows(2).any(is_given)
}

/// Whether a line of a file with names of its own has one of them.
fn is_of_file(file: &str, line: &str) -> bool {
    let line = line.trim();
    FILES.iter().filter(|known| file.ends_with(known.ends)).any(|known| {
        let ends = |c: char| c.is_whitespace() || "=:".contains(c);
        let name = line.split(ends).next().unwrap_or_default();
        let value = line[name.len()..].trim_start_matches(ends);
        let is_named = known
            .names
            .iter()
            .any(|known| *known == name.trim_start_matches("--") || *known == name);
        let is_literal = is_literal(value.trim_matches(['"', '\'']), true);
        !name.starts_with('#') && ((is_named && is_literal) || (known.pairs && is_pair(value)))
    })
}
