//! Skipping is said and recorded.

use std::fs;
use std::process::Command;

use offshoot_tests::skip::{Feature, LOG_VARIABLE, probe};

use crate::children;

#[test]
fn what_is_missing_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (variable, value) = children::environment(dir.path());
    command.args(children::arguments("skipping")).env(variable, value).env(LOG_VARIABLE, &log);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let line = "SKIPPED: children::skipping: needs the program no-such-program\n";
    assert_eq!(fs::read_to_string(&log).unwrap(), line);
    assert!(String::from_utf8_lossy(&output.stderr).contains(line), "{output:?}");

    command.env(LOG_VARIABLE, dir.path().join("no/such/directory"));
    assert!(!command.output().unwrap().status.success(), "a lost record must not pass");
}

#[test]
fn probes_agree_with_the_machine() {
    let root = rustix::process::geteuid().is_root();
    assert_eq!(probe(Feature::Root).is_ok(), root);
    assert_eq!(probe(Feature::NotRoot).is_ok(), !root);
    for feature in [Feature::Overlay, Feature::UserXattr, Feature::UserNamespace] {
        // Whether a machine has these is not ours to say, but a refusal has a reason.
        assert!(probe(feature).is_ok() || probe(feature).unwrap_err().starts_with("no "));
    }
}
