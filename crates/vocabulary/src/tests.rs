//! One test over every set: what is printed, what is read and what the schema lists are the same words.

use std::collections::BTreeSet;
use std::fmt::Debug;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::*;

/// The values that a schema lists.
fn listed(schema: &schemars::Schema) -> Vec<String> {
    let one_of = schema.get("oneOf").and_then(|of| of.as_array()).cloned().unwrap_or_default();
    let constants = one_of.iter().filter_map(|one| one.get("const"));
    let several = schema.get("enum").and_then(|of| of.as_array()).into_iter().flatten();
    let texts = constants.chain(several).map(|value| value.as_str().expect("a word is text"));
    texts.map(str::to_owned).collect()
}

/// Every file that defines sets.
const SOURCES: [&str; 14] = [
    include_str!("approval.rs"),
    include_str!("change.rs"),
    include_str!("exec.rs"),
    include_str!("exit_code.rs"),
    include_str!("integration.rs"),
    include_str!("merge.rs"),
    include_str!("model.rs"),
    include_str!("own_agent.rs"),
    include_str!("policy.rs"),
    include_str!("preset.rs"),
    include_str!("program.rs"),
    include_str!("session.rs"),
    include_str!("storage.rs"),
    include_str!("tool.rs"),
];

#[test]
fn no_set_goes_unchecked() {
    let defined: usize = SOURCES.iter().map(|source| source.matches("\nwords! {").count()).sum();
    let checked = include_str!("tests.rs").matches("\n    check::<").count();
    assert_eq!(checked, defined);
}

fn check<W: Word + Debug + Serialize + DeserializeOwned + JsonSchema>() {
    let name = std::any::type_name::<W>();
    let words: Vec<&str> = W::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{name}");
    assert_eq!(listed(&schema_for!(W)), words, "the schema of {name}");
    for (value, word) in W::ALL.iter().zip(words) {
        assert_eq!(word.parse::<W>().as_ref(), Ok(value), "{name}");
        assert_eq!(value.to_string(), word, "{name}");
        let json = serde_json::to_value(value).expect("a word is JSON");
        assert_eq!(json, word, "{name}");
        assert_eq!(serde_json::from_value::<W>(json).ok(), Some(*value), "{name}");
        assert!(!value.meaning().is_empty() && !value.meaning().ends_with('.'), "{name} {word}");
    }
    assert!("no such word".parse::<W>().is_err(), "{name}");
    assert!(serde_json::from_value::<W>("no such word".into()).is_err(), "{name}");
}

#[test]
fn words_are_the_same_everywhere() {
    check::<AbandonedWork>();
    check::<AgentEnding>();
    check::<ApprovalFallback>();
    check::<ApprovalScope>();
    check::<ApprovalState>();
    check::<ArgumentKindDoc>();
    check::<ChangeKindDoc>();
    check::<CallKind>();
    check::<CallState>();
    check::<CheckpointMode>();
    check::<CommandPart>();
    check::<CommitTimes>();
    check::<CompactWayDoc>();
    check::<Confinement>();
    check::<ConflictKindDoc>();
    check::<CredentialFormat>();
    check::<CredentialMode>();
    check::<Demand>();
    check::<DoctorState>();
    check::<DriverChoice>();
    check::<DriverName>();
    check::<Durability>();
    check::<EffectCategory>();
    check::<EntryKindDoc>();
    check::<ExecState>();
    check::<ExitCode>();
    check::<FileAccess>();
    check::<GarbageKind>();
    check::<Goal>();
    check::<HeldReasonDoc>();
    check::<HomeKeep>();
    check::<HomeView>();
    check::<IntegratedAgent>();
    check::<IntegrationPart>();
    check::<IntegrationScope>();
    check::<IntegrationState>();
    check::<KeyOrigin>();
    check::<LineSign>();
    check::<MetadataFieldDoc>();
    check::<ModelInterface>();
    check::<Network>();
    check::<OwnSandbox>();
    check::<PathAccess>();
    check::<PieceKindDoc>();
    check::<PolicyDecision>();
    check::<PolicyLanguage>();
    check::<PolicyLayer>();
    check::<PresetOrigin>();
    check::<ProjectRule>();
    check::<ProviderState>();
    check::<RepositoryEvent>();
    check::<RerunReason>();
    check::<ResourceLimit>();
    check::<RevertVerb>();
    check::<SessionState>();
    check::<SettleOutcome>();
    check::<Shell>();
    check::<SkipCode>();
    check::<StorageClass>();
    check::<ToolState>();
    check::<TrustKind>();
    check::<Visibility>();
    check::<Wall>();
    check::<When>();
}

#[test]
fn an_unknown_word_is_told_with_those_that_are_known() {
    let error = "hots".parse::<Network>().expect_err("no network");
    assert_eq!(error.to_string(), "\"hots\" is not one of none, proxy, host");
}
