//! What people are told.

use super::{context, judged};
use crate::parse::parse_text;

/// The reasons of a text, each with its category in front.
fn reasons(text: &str) -> Vec<String> {
    let judged = judged(text);
    let all = judged.iter().flat_map(|one| &one.reasons);
    all.map(|reason| format!("{}: {}", reason.category, reason.why)).collect()
}

#[test]
fn one_line_for_one_fact() {
    let deletes =
        ["mutating: deletes /home/dev/project/x", "destructive: deletes /home/dev/project/x"];
    assert_eq!(reasons("rm -rf x"), deletes);
    let all = reasons("env -C / touch x");
    let beyond: Vec<_> = all.iter().filter(|told| told.starts_with("host_escape_risk")).collect();
    assert_eq!(beyond, ["host_escape_risk: writes to /x, outside the workspace"]);
}

#[test]
fn what_a_path_does_not_say_stays_told() {
    assert_eq!(
        reasons("chmod +x f"),
        ["mutating: chmod changes the rights of files", "mutating: writes to /home/dev/project/f"]
    );
    assert_eq!(
        reasons("shred f")[..2],
        [
            "mutating: shred overwrites files so that nothing can be read",
            "destructive: shred overwrites files so that nothing can be read"
        ]
    );
    assert_eq!(
        reasons("sudo rm x").last().map(String::as_str),
        Some("host_escape_risk: sudo runs a program as somebody else")
    );
}

#[test]
fn subcommands_say_what_they_do() {
    assert_eq!(
        reasons("apt-get install jq").last().map(String::as_str),
        Some(
            "host_escape_risk: apt-get install adds packages to the system, or brings them up to date"
        )
    );
    assert_eq!(
        reasons("meson wrap install x"),
        [
            "mutating: meson wrap makes or changes something",
            "networked: meson wrap reaches for the network"
        ]
    );
}

#[test]
fn no_reason_is_told_twice() {
    for text in
        ["rm a a", "cp a b /etc", "git push --force", "find . -delete", "tar -xf a.tar -C /usr"]
    {
        let mut told = reasons(text);
        let count = told.len();
        told.sort();
        told.dedup();
        assert_eq!(told.len(), count, "{text}: {told:?}");
    }
}

#[test]
fn what_is_decided_names_the_path() {
    let policy = crate::Policy::new(&crate::PolicyOptions::default()).expect("no rules, no errors");
    let verdict = policy.decide(&parse_text(b"rm x"), &context());
    assert_eq!(verdict.reason, "deletes /home/dev/project/x");
}
