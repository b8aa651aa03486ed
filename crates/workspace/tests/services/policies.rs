//! Rules are read again when their files change, and nothing is decided by files that are wrong.

use std::fs;
use std::path::Path;
use std::time::Duration;

use offshoot_policy::{Context, PolicyDecision, PolicyLayer};
use offshoot_workspace::{CommandLine, PolicyFile, PolicyFiles, judge};
use tempfile::tempdir;

fn files(path: &Path, required: bool) -> PolicyFiles {
    let file = PolicyFile { layer: PolicyLayer::User, path: path.to_owned(), required };
    PolicyFiles::new(vec![file], Duration::from_millis(100))
}

fn decided(files: &PolicyFiles) -> Option<PolicyDecision> {
    let command = CommandLine::Argv(vec!["cat".into(), "a".into()]);
    let context = Context { workspace: "/w".into(), cwd: "/w".into(), ..Context::default() };
    files.current().ok().map(|policy| judge(&policy, &command, &context).decision)
}

fn rule(decision: &str) -> String {
    format!("version = 1\n[[rule]]\nname = \"x\"\ndecision = \"{decision}\"\nprefix = [\"cat\"]\n")
}

#[test]
fn rules_are_read_again_when_they_change() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let files = files(&path, false);
    assert_eq!(decided(&files), Some(PolicyDecision::Allow), "no file is no rule");
    fs::write(&path, rule("deny")).unwrap();
    assert_eq!(decided(&files), Some(PolicyDecision::Deny));
    // Another file in its place, as editors save.
    let beside = folder.path().join("beside");
    fs::write(&beside, rule("require_approval")).unwrap();
    fs::rename(&beside, &path).unwrap();
    assert_eq!(decided(&files), Some(PolicyDecision::RequireApproval));
    fs::write(&path, "version = 1\nnonsense").unwrap();
    assert_eq!(decided(&files), None, "nothing is decided by the rules from before");
    assert_eq!(decided(&files), None);
    fs::write(&path, rule("deny")).unwrap();
    assert_eq!(decided(&files), Some(PolicyDecision::Deny));
    fs::remove_file(&path).unwrap();
    assert_eq!(decided(&files), Some(PolicyDecision::Allow));
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let files = files(&path, true);
    assert_eq!(decided(&files), None);
    fs::write(&path, rule("deny")).unwrap();
    assert_eq!(decided(&files), Some(PolicyDecision::Deny));
    fs::remove_file(&path).unwrap();
    assert_eq!(decided(&files), None);
}

#[test]
fn what_is_unchanged_is_not_read_again() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    fs::write(&path, rule("deny")).unwrap();
    let files = files(&path, true);
    let first = files.current().unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &files.current().unwrap()));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let rules = format!("{}\n#", rule("deny"));
    fs::write(&path, &rules).unwrap();
    let files = files(&path, true);
    assert_eq!(decided(&files), Some(PolicyDecision::Deny));
    // A comment of spaces: nothing is wrong with it but its size.
    fs::write(&path, rules + &" ".repeat(17 << 20)).unwrap();
    let error = files.current().unwrap_err().to_string();
    assert!(error.contains("larger than"), "{error}");
}
