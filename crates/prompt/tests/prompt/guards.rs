//! What may be sent.

use offshoot_prompt::{
    BlockedKind, BuildError, ContextSection, GuardAction, GuardFinding, Guardrails, PersonalKind,
    PersonalPatterns, PromptEngine,
};
use offshoot_scrub::Redactor;

use crate::personal::{corpus, patterns};
use crate::support::{all, engine, task, template, wanted};

const SECRET: &str = "GITHUB_TOKEN=ghp_abcdefghijklmnopqrst0123456789";

fn with(guardrails: Guardrails, text: &str) -> Result<(String, Vec<GuardFinding>), BuildError> {
    let engine = engine(&task("t", "")).with_guardrails(guardrails);
    let built = engine.build(&wanted().with_context(ContextSection::new("c", text).unfenced()))?;
    let text = built.text().strip_prefix("t\n\n").unwrap_or_default().to_owned();
    Ok((text, built.record.findings))
}

fn finding(kind: &str, action: GuardAction, count: usize) -> GuardFinding {
    GuardFinding { section: "c".to_owned(), kind: kind.to_owned(), action, count }
}

#[test]
fn each_kind_has_an_action() {
    for (kind, value) in [
        (PersonalKind::EmailAddress, "ann@example.org"),
        (PersonalKind::PhoneNumber, "+44 20 7946 0958"),
        (PersonalKind::Iban, "DE89 3704 0044 0532 0130 00"),
        (PersonalKind::CardNumber, "4242 4242 4242 4242"),
        (PersonalKind::IpAddress, "203.0.113.7"),
        (PersonalKind::NationalId, "078-05-1120"),
    ] {
        let text = format!("first line\nsecond {value}, third");
        let of = |action| {
            with(all(GuardAction::Ignore).with_patterns(patterns()).with(kind, action), &text)
        };
        assert_eq!(of(GuardAction::Ignore).unwrap(), (text.clone(), Vec::new()));
        assert_eq!(
            of(GuardAction::Warn).unwrap(),
            (text.clone(), vec![finding(kind.as_str(), GuardAction::Warn, 1)])
        );
        let redacted = format!("first line\nsecond [{kind}-1], third");
        assert_eq!(
            of(GuardAction::Redact).unwrap(),
            (redacted, vec![finding(kind.as_str(), GuardAction::Redact, 1)])
        );
        let error = of(GuardAction::Block).unwrap_err();
        let blocked = BuildError::Blocked {
            section: "c".to_owned(),
            line: 2,
            kind: BlockedKind::Personal(kind),
        };
        assert_eq!(error, blocked);
        assert!(!error.to_string().contains(value));
    }
}

#[test]
fn credentials_have_an_action() {
    let text = format!("first\n{SECRET}\nlast");
    let of = |action| with(all(GuardAction::Ignore).with_secrets(action), &text);
    assert_eq!(of(GuardAction::Ignore).unwrap(), (text.clone(), Vec::new()));
    assert_eq!(
        of(GuardAction::Warn).unwrap(),
        (text.clone(), vec![finding("secret", GuardAction::Warn, 1)])
    );
    let redacted = "first\nGITHUB_TOKEN=[redacted]\nlast".to_owned();
    assert_eq!(
        of(GuardAction::Redact).unwrap(),
        (redacted, vec![finding("secret", GuardAction::Redact, 1)])
    );
    let blocked =
        BuildError::Blocked { section: "c".to_owned(), line: 2, kind: BlockedKind::Secret };
    assert_eq!(of(GuardAction::Block), Err(blocked));
    // Values that the caller knows are credentials, too.
    let known = all(GuardAction::Redact).with_redactor(Redactor::new(["correct horse"]));
    assert_eq!(with(known, "say correct horse").unwrap().0, "say [redacted]");
}

#[test]
fn what_is_usual_is_careful() {
    assert!(matches!(
        with(Guardrails::default(), SECRET),
        Err(BuildError::Blocked { kind: BlockedKind::Secret, .. })
    ));
    let (text, findings) = with(
        Guardrails::default(),
        "ann@example.org, +44 20 7946 0958, DE89370400440532013000, 4242424242424242, 203.0.113.7",
    )
    .unwrap();
    assert_eq!(text, "ann@example.org, +44 20 7946 0958, [iban-1], [card-1], 203.0.113.7");
    let kinds: Vec<(&str, GuardAction)> =
        findings.iter().map(|finding| (finding.kind.as_str(), finding.action)).collect();
    let (warn, redact) = (GuardAction::Warn, GuardAction::Redact);
    assert_eq!(kinds, [("email", warn), ("phone", warn), ("iban", redact), ("card", redact)]);
}

#[test]
fn a_value_has_one_placeholder_in_a_whole_prompt() {
    let engine =
        engine(&task("{{a}}", "a = { type = \"text\" }")).with_guardrails(all(GuardAction::Redact));
    let request = wanted().with("a", "ann@example.org 4242 4242 4242 4242").with_context(
        ContextSection::new(
            "c",
            "bob@example.org ANN@example.org 4242-4242-4242-4242 5555555555554444",
        )
        .unfenced(),
    );
    let text = engine.build(&request).unwrap().text();
    assert_eq!(text, "[email-1] [card-1]\n\n[email-2] [email-1] [card-1] [card-2]");
}

/// Of everything in the corpus that is found nothing is left, however it is mixed; and a second look finds nothing.
#[test]
fn redaction_leaves_nothing_of_the_corpus() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let corpus = corpus();
    let hits: Vec<_> = corpus.hit.iter().filter(|hit| hit.missed.is_none()).collect();
    // What is no value there may have one as a part, such as a longer number.
    let has_value = |text: &str| hits.iter().any(|hit| text.contains(&hit.value));
    let plain: Vec<_> = corpus.plain.iter().filter(|plain| !has_value(&plain.text)).collect();
    for _ in 0..150 {
        let mut text = String::new();
        let mut values = Vec::new();
        for _ in 0..rng.usize(1..8) {
            let between = ["\n", "\n\n", " | ", "\n> "][rng.usize(..4)];
            if rng.bool() {
                let hit = hits[rng.usize(..hits.len())];
                text += &hit.text;
                values.push(&hit.value);
            } else {
                text += &plain[rng.usize(..plain.len())].text;
            }
            text += between;
        }
        let guardrails = all(GuardAction::Redact).with_patterns(patterns());
        let (left, _) = with(guardrails.clone(), &text).unwrap();
        for value in values {
            assert!(!left.contains(value.as_str()), "seed {seed}: {value} in {left}");
        }
        assert_eq!(with(guardrails, &left).unwrap(), (left, Vec::new()), "seed {seed}");
    }
}

/// What overlaps is one, with the stricter action: the account of an address is no way around it.
#[test]
fn the_stricter_action_counts_where_two_overlap() {
    let text = "DE89370400440532013000@example.org";
    let guardrails = all(GuardAction::Ignore).with(PersonalKind::EmailAddress, GuardAction::Warn);
    assert_eq!(with(guardrails.clone(), text).unwrap().0, text);
    let redacted = with(guardrails.with(PersonalKind::Iban, GuardAction::Redact), text).unwrap().0;
    assert_eq!(redacted, "[iban-1]");
}

#[test]
fn only_what_is_allowed_speaks_in_the_system_layer() {
    let texts = template("s", "system", "{{> p}}", "")
        + &template("p", "part", "be good", "")
        + &task("t", "");
    let plain = engine(&texts);
    let digest = plain.digest("s").unwrap();
    let build = |engine: &PromptEngine, guardrails: Guardrails| {
        engine.clone().with_guardrails(guardrails).build(&wanted()).map(|built| built.text())
    };
    assert!(build(&plain, Guardrails::default()).is_ok());
    assert!(build(&plain, Guardrails::default().allow_system([digest])).is_ok());
    let refused = build(&plain, Guardrails::default().allow_system([]));
    assert_eq!(refused, Err(BuildError::NotAllowed { name: "s".to_owned(), digest }));
    // What a template includes is a part of what was allowed.
    let changed = engine(&texts.replace("be good", "be bad"));
    assert!(build(&changed, Guardrails::default().allow_system([digest])).is_err());
    // The task does not speak there.
    let task = engine(&task("t", ""));
    assert!(build(&task, Guardrails::default().allow_system([])).is_ok());
}

/// A cut must not hide a half: what is looked at is the whole section.
#[test]
fn sections_are_looked_at_before_they_are_cut() {
    let engine = engine(&task("t", "")).with_guardrails(all(GuardAction::Block));
    let text = format!("one\n{}\n{SECRET}", "two\n".repeat(100));
    let request = wanted().with_context(ContextSection::new("c", &text)).with_budget(40);
    assert!(matches!(engine.build(&request), Err(BuildError::Blocked { .. })));
}

#[test]
fn patterns_are_those_that_were_given() {
    let none = all(GuardAction::Redact).with_patterns(PersonalPatterns::default());
    assert_eq!(with(none, "203.0.113.7 078-05-1120").unwrap().0, "203.0.113.7 078-05-1120");
}
