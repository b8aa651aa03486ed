use std::collections::BTreeSet;

use serde::Deserialize;

use super::*;

/// What is to be found, and what is to stay.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    secret: Vec<SecretCase>,
    plain: Vec<PlainCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretCase {
    text: String,
    /// What must not be left of it.
    secret: String,
    /// Why it is missed.
    missed: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCase {
    text: String,
    /// Why it is changed all the same.
    alarm: Option<String>,
}

fn corpus() -> Corpus {
    toml::from_str(include_str!("../../data/corpus.toml")).unwrap()
}

#[test]
fn every_credential_of_the_corpus_is_found() {
    let redactor = Redactor::default();
    let mut wrong = Vec::new();
    for SecretCase { text, secret, missed } in corpus().secret {
        assert!(text.contains(&secret), "{text}");
        let left = redactor.redact(&text).contains(&secret);
        if left != missed.is_some() {
            wrong.push(format!("{text} -> {}", redactor.redact(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_else_of_the_corpus_is_changed() {
    let redactor = Redactor::default();
    let mut wrong = Vec::new();
    for PlainCase { text, alarm } in corpus().plain {
        if redactor.is_clean(&text) == alarm.is_some() {
            wrong.push(format!("{text} -> {}", redactor.redact(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// So that a row which is said twice hides none that is missing, and the corpus stays large enough to mean something.
#[test]
fn the_corpus_is_large_and_has_no_row_twice() {
    let Corpus { secret, plain } = corpus();
    let texts = secret.iter().map(|case| &case.text).chain(plain.iter().map(|case| &case.text));
    let different: BTreeSet<&String> = texts.clone().collect();
    assert_eq!(different.len(), texts.count());
    assert!(secret.len() >= 60 && plain.len() >= 60, "{} and {}", secret.len(), plain.len());
}

#[test]
fn what_was_redacted_stays_as_it_is() {
    let redactor = Redactor::new(["correct horse"]);
    for SecretCase { text, .. } in corpus().secret {
        let once = redactor.redact(&text).into_owned();
        assert_eq!(redactor.redact(&once), once);
    }
}

#[test]
fn known_values_are_found_wherever_they_are() {
    let redactor = Redactor::new(["hunter2", "hunter2-and-more", "short"]);
    assert_eq!(redactor.redact("xhunter2x short"), "x[redacted]x short");
    assert_eq!(redactor.redact("hunter2-and-more"), "[redacted]");
    assert_eq!(format!("{redactor:?}"), "Redactor { known: 2 }");
}

#[test]
fn a_key_goes_with_all_its_lines() {
    let text = "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1\nrZXk=\n-----END OPENSSH PRIVATE KEY-----\nb";
    assert_eq!(Redactor::default().redact(text), "a\n[redacted]\nb");
    let cut = "a\n-----BEGIN PRIVATE KEY-----\nb3BlbnNzaC1\n";
    assert_eq!(Redactor::default().redact(cut), "a\n[redacted]");
    let end = "-----BEGIN RSA PRIVATE KEY-----\\nMIIabc\\n-----END RSA PRIVATE KEY-----";
    assert_eq!(Redactor::default().redact(end), "[redacted]");
    let public = "-----BEGIN PUBLIC KEY-----\nMIIabcdef\n-----END PUBLIC KEY-----";
    assert!(Redactor::default().is_clean(public));
}

/// No text, however it is cut, makes the search stop at the middle of a character.
#[test]
fn any_text_can_be_read() {
    let texts =
        ["ü=ü:ü@ü://ü", "password=ü", "token: \"ü\\", "-----BEGIN ü", "https://ü:ü@ü", "Bearer ü"];
    for text in texts
        .iter()
        .map(|text| (*text).to_owned())
        .chain(corpus().secret.into_iter().map(|case| case.text))
    {
        for (at, _) in text.char_indices() {
            let redactor = Redactor::default();
            assert!(!redactor.redact(&text[at..]).contains("password=hunter2hunter2"));
            assert!(!redactor.redact(&text[..at]).contains("password=hunter2hunter2"));
        }
    }
}
