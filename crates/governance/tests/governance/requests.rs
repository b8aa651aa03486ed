//! Digests of requests, and how sensitive data is.

use std::collections::BTreeSet;

use offshoot_governance::{
    ContentInspector, DataSensitivity, GovernanceDigest, GovernanceRequest, GovernedAction,
    SensitivityClassifier,
};

use crate::support::tool;

#[test]
fn every_field_is_in_the_digest() {
    let base = tool("a").with_intent("b").with_label("c").with_cost(1);
    let others = [
        GovernanceRequest { agent: "x".to_owned(), ..base.clone() },
        GovernanceRequest { intent: "x".to_owned(), ..base.clone() },
        GovernanceRequest { action: GovernedAction::Spend, ..base.clone() },
        GovernanceRequest { target: "x".to_owned(), ..base.clone() },
        GovernanceRequest { cost: None, ..base.clone() },
        GovernanceRequest { labels: BTreeSet::new(), ..base.clone() },
        base.clone().with_sensitivity(DataSensitivity::Public),
        base.clone().with_label("d"),
        base.clone().with_cost(2),
        // Nothing moves from one field to the next.
        GovernanceRequest { agent: "helperb".to_owned(), intent: String::new(), ..base.clone() },
    ];
    let digests: BTreeSet<GovernanceDigest> =
        others.iter().map(GovernanceRequest::digest).collect();
    assert_eq!(digests.len(), others.len());
    assert!(!digests.contains(&base.digest()));
    let text = String::from(base.digest());
    assert_eq!(GovernanceDigest::try_from(text), Ok(base.digest()));
    assert!(GovernanceDigest::try_from("xyz".to_owned()).is_err());
}

/// The digest is a format: grants that are stored are bound to it.
#[test]
fn the_digest_stays_what_it_is() {
    let mut hasher = blake3::Hasher::new_derive_key("offshoot governance request 1");
    for text in ["helper", "", "use_tool", "t", "internal", "", "a", "b"] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let request = tool("t").with_label("b").with_label("a");
    assert_eq!(request.digest().to_string(), hasher.finalize().to_string());
}

struct Numbers;

impl ContentInspector for Numbers {
    fn inspect(&self, text: &str) -> Option<DataSensitivity> {
        text.contains(|c: char| c.is_ascii_digit()).then_some(DataSensitivity::Confidential)
    }
}

#[test]
fn the_highest_level_counts() {
    let classifier = SensitivityClassifier::new()
        .with_least(DataSensitivity::Public)
        .with_label("team", DataSensitivity::Internal)
        .with_label("open", DataSensitivity::Public)
        .with_inspector(Box::new(Numbers));
    let credential = "GITHUB_TOKEN=ghp_abcdefghijklmnopqrst0123456789";
    for (text, labels, expected) in [
        ("words", &[][..], DataSensitivity::Public),
        ("words", &["unknown"], DataSensitivity::Public),
        ("words", &["team", "open"], DataSensitivity::Internal),
        ("room 12", &["team"], DataSensitivity::Confidential),
        (credential, &["open"], DataSensitivity::Secret),
    ] {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        assert_eq!(classifier.classify(text, &labels), expected, "{text}");
    }
    let usual = SensitivityClassifier::new();
    assert_eq!(usual.classify("", &BTreeSet::new()), DataSensitivity::Internal);
}
