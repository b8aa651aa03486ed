//! Braces that make several words of one, as bash expands them.

use crate::script::{ShellWord, WordPiece};

use super::word::Part;

/// One word may become so many.
const MAX_WORDS: usize = 128;
/// Longer sequences, which hold nothing but numbers, are one piece that is not known.
const MAX_SEQUENCE: usize = 32;
/// All words of a text together may become so many more.
const MAX_ALL: usize = 1024;
/// A word with more parts than this is not expanded.
const MAX_PARTS: usize = 512;

/// The words that a word with braces becomes, which may have quotes outside of them; nothing where they are too many.
pub(super) fn expand(parts: &[Part], quoted: bool, so_far: &mut usize) -> Option<Vec<ShellWord>> {
    if parts.len() > MAX_PARTS {
        return None;
    }
    let words = alternatives(parts, 0)?;
    *so_far += words.len() - 1;
    // What is empty without quotes is no word.
    let words = words.into_iter().filter(|parts| quoted || !parts.is_empty()).map(joined);
    (*so_far <= MAX_ALL).then(|| words.collect())
}

/// The word that parts make, braces taken for letters.
pub(super) fn joined(parts: Vec<Part>) -> ShellWord {
    let mut word = ShellWord::default();
    for part in parts {
        let text = match part {
            Part::Piece(WordPiece::Literal(text)) => text,
            Part::Brace(brace) => brace.to_string(),
            Part::Piece(piece) => {
                word.pieces.push(piece);
                continue;
            }
        };
        match word.pieces.last_mut() {
            Some(WordPiece::Literal(before)) => before.push_str(&text),
            _ => word.pieces.push(WordPiece::Literal(text)),
        }
    }
    if word.pieces.is_empty() {
        word.pieces.push(WordPiece::Literal(String::new()));
    }
    word
}

/// All that parts may become; nothing if it is too much.
fn alternatives(parts: &[Part], depth: usize) -> Option<Vec<Vec<Part>>> {
    if depth > 8 {
        return None;
    }
    let mut words: Vec<Vec<Part>> = vec![Vec::new()];
    let mut at = 0;
    while at < parts.len() {
        let group = match parts[at] {
            Part::Brace('{') => group(&parts[at..]),
            _ => None,
        };
        let Some(group) = group else {
            words.iter_mut().for_each(|word| word.push(parts[at].clone()));
            at += 1;
            continue;
        };
        if group.is_odd {
            return None;
        }
        let choices = match choices(&parts[at..=at + group.end], &group, depth) {
            // What is no sequence may still end with a later brace.
            None if group.commas.is_empty() && !is_range(&parts[at + 1..at + group.end]) => {
                let closes_later = |part: &Part| matches!(part, Part::Brace(','));
                if parts[at + group.end..].iter().any(closes_later) {
                    return None;
                }
                open()
            }
            None if group.commas.is_empty() => open(),
            choices => choices?,
        };
        at += group.end + 1;
        if words.len() * choices.len() > MAX_WORDS {
            return None;
        }
        let with = |word: &Vec<Part>| {
            let word = word.clone();
            choices.iter().map(move |choice| [word.as_slice(), choice].concat()).collect::<Vec<_>>()
        };
        words = words.iter().flat_map(with).collect();
    }
    Some(words)
}

/// One piece that is not known, for many words.
fn open() -> Vec<Vec<Part>> {
    vec![vec![Part::Piece(WordPiece::Unknown { splits: true })]]
}

/// A pair of braces: where it ends, and the commas in it.
struct Group {
    end: usize,
    commas: Vec<usize>,
    /// There is a brace in it that closes nothing, as in `{a}b,c}`, of which bash makes `a}b` and `c`.
    is_odd: bool,
}

/// The pair that begins with the first part, if it has commas or is a sequence.
fn group(parts: &[Part]) -> Option<Group> {
    let (mut depth, mut commas, mut is_odd) = (0_usize, Vec::new(), false);
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Brace('{') => depth += 1,
            Part::Brace('}') if depth > 1 => depth -= 1,
            // One ahead of all commas is a letter to bash.
            Part::Brace('}') if commas.is_empty() && !is_sequence(&parts[1..at]) => is_odd = true,
            Part::Brace('}') => return Some(Group { end: at, commas, is_odd }),
            Part::Brace(_) if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

fn choices(parts: &[Part], group: &Group, depth: usize) -> Option<Vec<Vec<Part>>> {
    if group.commas.is_empty() {
        let numbers = sequence(&parts[1..group.end])?;
        return Some(
            numbers.into_iter().map(|text| vec![Part::Piece(WordPiece::Literal(text))]).collect(),
        );
    }
    let mut all = Vec::new();
    let mut start = 1;
    for end in group.commas.iter().copied().chain([group.end]) {
        all.append(&mut alternatives(&parts[start..end], depth + 1)?);
        start = end + 1;
    }
    Some(all)
}

/// Whether this may be a sequence: what is not understood of it is a word that is not known.
fn is_sequence(parts: &[Part]) -> bool {
    parts
        .iter()
        .any(|part| matches!(part, Part::Piece(WordPiece::Literal(text)) if text.contains("..")))
}

/// Whether bash surely reads this as a sequence: numbers or letters, and how far apart they are.
fn is_range(parts: &[Part]) -> bool {
    let [Part::Piece(WordPiece::Literal(text))] = parts else { return false };
    let is_bound =
        |bound: &str| bound.parse::<i64>().is_ok() || matches!(bound.as_bytes(), [b'A'..=b'z']);
    let bounds: Vec<&str> = text.split("..").collect();
    matches!(bounds.len(), 2 | 3) && bounds.into_iter().all(is_bound)
}

/// The members of `{1..5}` or `{a..e}`.
fn sequence(parts: &[Part]) -> Option<Vec<String>> {
    let [Part::Piece(WordPiece::Literal(text))] = parts else { return None };
    let (from, to) = text.split_once("..")?;
    let number = |text: &str| {
        let value: i32 = text.parse().ok()?;
        (value.to_string() == text).then_some(value)
    };
    if let (Some(from), Some(to)) = (number(from), number(to)) {
        let count = usize::try_from(from.abs_diff(to)).ok()?;
        let all: Vec<String> = if from <= to {
            (from..=to).take(MAX_SEQUENCE + 1).map(|value| value.to_string()).collect()
        } else {
            (to..=from).rev().take(MAX_SEQUENCE + 1).map(|value| value.to_string()).collect()
        };
        return (count < MAX_SEQUENCE).then_some(all);
    }
    letters(from, to)
}

fn letters(from: &str, to: &str) -> Option<Vec<String>> {
    let ([from], [to]) = (from.as_bytes(), to.as_bytes()) else { return None };
    let same = (from.is_ascii_lowercase() && to.is_ascii_lowercase())
        || (from.is_ascii_uppercase() && to.is_ascii_uppercase());
    let text = |byte: u8| char::from(byte).to_string();
    same.then(|| {
        if from <= to {
            (*from..=*to).map(text).collect()
        } else {
            (*to..=*from).rev().map(text).collect()
        }
    })
}
