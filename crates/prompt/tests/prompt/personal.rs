//! The corpus, both ways.

use offshoot_prompt::{IdChecksum, NationalIdShape, PersonalKind, PersonalPatterns, PersonalSpan};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Corpus {
    pub(crate) hit: Vec<Hit>,
    pub(crate) plain: Vec<Plain>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hit {
    pub(crate) kind: PersonalKind,
    pub(crate) text: String,
    /// What is found, no more and no less.
    pub(crate) value: String,
    /// Why it is missed.
    pub(crate) missed: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plain {
    pub(crate) text: String,
    /// Why something is found all the same.
    pub(crate) alarm: Option<String>,
}

pub(crate) fn corpus() -> Corpus {
    toml::from_str(include_str!("../../data/corpus.toml")).unwrap()
}

pub(crate) fn patterns() -> PersonalPatterns {
    PersonalPatterns::default()
        .with_ip_addresses()
        .with_national_id(NationalIdShape::new("999-99-9999", IdChecksum::None).unwrap())
        .with_national_id(NationalIdShape::new("999 999 999", IdChecksum::Luhn).unwrap())
}

fn found(text: &str) -> Vec<(PersonalKind, &str)> {
    let spans = patterns().find(text).into_iter();
    spans.map(|PersonalSpan { kind, start, end }| (kind, &text[start..end])).collect()
}

#[test]
fn everything_in_the_corpus_is_found_as_it_is_meant() {
    let mut wrong = Vec::new();
    for Hit { kind, text, value, missed } in corpus().hit {
        assert!(text.contains(&value), "{text}");
        let is_right = found(&text) == [(kind, value.as_str())];
        if is_right == missed.is_some() {
            wrong.push(format!("{text} -> {:?}", found(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_else_in_the_corpus_is_found() {
    let mut wrong = Vec::new();
    for Plain { text, alarm } in corpus().plain {
        if found(&text).is_empty() == alarm.is_some() {
            wrong.push(format!("{text} -> {:?}", found(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A changed digit makes a number wrong: one of ten at most may be right by chance.
#[test]
fn checksums_are_looked_at() {
    for number in ["4111111111111111", "DE89370400440532013000"] {
        let at = number.len() - 1;
        let right = (0..10)
            .map(|digit| format!("{}{digit}", &number[..at]))
            .filter(|number| !PersonalPatterns::default().find(number).is_empty());
        assert_eq!(right.count(), 1, "{number}");
    }
    let shape = |checksum| {
        PersonalPatterns::default()
            .with_national_id(NationalIdShape::new("AA-999999", checksum).unwrap())
    };
    // 1234 leaves 70 of 97, and 97 - 70 = 27.
    for (checksum, right) in [(IdChecksum::None, 10), (IdChecksum::Luhn, 1), (IdChecksum::Mod97, 1)]
    {
        let ids = (0..10).map(|digit| format!("XY-12342{digit}"));
        let found = ids.filter(|id| !shape(checksum).find(id).is_empty()).count();
        assert_eq!(found, right, "{checksum}");
    }
    assert!(!shape(IdChecksum::Mod97).find("XY-123427").is_empty());
}

#[test]
fn what_is_not_asked_for_is_not_looked_for() {
    let usual = PersonalPatterns::default();
    assert!(usual.find("from 203.0.113.7 or 078-05-1120").is_empty());
    assert_eq!(NationalIdShape::new("9999", IdChecksum::None), None);
    assert!(NationalIdShape::new(&"9".repeat(64), IdChecksum::None).is_some());
    assert_eq!(NationalIdShape::new(&"9".repeat(65), IdChecksum::None), None);
}

/// Whatever text comes, places are places between characters, in order.
#[test]
fn any_text_may_come() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let pieces = [
        "4242", " ", "-", "+", "(", ")", "@", ".", "example", "org", "DE89", "3704", "é",
        "\u{200b}", "\n", "::", "203", "0", "٣", "一", "https://",
    ];
    for _ in 0..5_000 {
        let length = rng.usize(..24);
        let text: String = (0..length).map(|_| pieces[rng.usize(..pieces.len())]).collect();
        let mut last = 0;
        for span in patterns().find(&text) {
            assert!(span.start >= last && span.start < span.end, "seed {seed}: {text:?} {span:?}");
            assert!(text.get(span.start..span.end).is_some(), "seed {seed}: {text:?} {span:?}");
            last = span.start;
        }
    }
}

#[test]
fn long_texts_take_no_time() {
    let started = std::time::Instant::now();
    for piece in ["1", "1 ", "+1", "a@", "a.", "DE89", ":", "(1", "4242-"] {
        patterns().find(&piece.repeat(20_000 / piece.len()));
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}
