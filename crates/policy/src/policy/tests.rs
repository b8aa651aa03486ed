//! The rules of rules: each statement of the design has a test that fails where it is ignored.
//!
//! Commands are judged by a toy, so that these tests are about rules and not about what is known of tools.

mod defaults;
mod files;
mod layers;
mod matchers;
#[cfg(feature = "rego")]
mod rego;
mod remedies;
mod toy;

use std::path::PathBuf;

use offshoot_vocabulary::{Network, PolicyLayer};

use super::*;
use crate::options::{LayerSource, NamedText};

/// What stands around commands in tests.
fn context() -> Context {
    Context {
        workspace: PathBuf::from("/users/me/work"),
        cwd: PathBuf::from("/users/me/work"),
        home: Some(PathBuf::from("/users/me")),
        ..Context::default()
    }
}

fn online() -> Context {
    Context { network: Network::Host, ..context() }
}

fn named(name: &str, text: &str) -> NamedText {
    NamedText { name: name.to_owned(), text: text.to_owned() }
}

/// A layer of rules; the version is added.
fn layer(layer: PolicyLayer, rules: &str) -> LayerSource {
    let toml = named(&format!("{layer}.toml"), &format!("version = 1\n{rules}"));
    LayerSource { layer, toml: Some(toml), rego: None }
}

fn user(rules: &str) -> LayerSource {
    layer(PolicyLayer::User, rules)
}

fn project(rules: &str) -> LayerSource {
    layer(PolicyLayer::Project, rules)
}

fn request(rules: &str) -> LayerSource {
    layer(PolicyLayer::Request, rules)
}

/// A rule with a decision and a matcher.
fn rule(decision: &str, matcher: &str) -> String {
    let name: String = matcher.chars().filter(|c| c.is_alphanumeric()).collect();
    format!("[[rule]]\nname = \"{decision}-{name}\"\ndecision = \"{decision}\"\n{matcher}\n")
}

fn try_policy(layers: &[LayerSource]) -> Result<Policy, PolicyError> {
    // Machines that run tests are busy; where time matters, the test says how much.
    let options = PolicyOptions { layers: layers.to_vec(), rego_timeout: Duration::from_secs(60) };
    Policy::with_judging(&options, toy::judge)
}

#[track_caller]
fn policy(layers: &[LayerSource]) -> Policy {
    try_policy(layers).unwrap_or_else(|error| panic!("{error}"))
}

fn decide_in(layers: &[LayerSource], text: &str, context: &Context) -> Verdict {
    policy(layers).decide_judged(toy::judge(text, context), context)
}

fn decide(layers: &[LayerSource], text: &str) -> Verdict {
    decide_in(layers, text, &context())
}

#[track_caller]
fn check(layers: &[LayerSource], text: &str, wanted: PolicyDecision) {
    check_in(layers, text, &context(), wanted);
}

#[track_caller]
fn check_in(layers: &[LayerSource], text: &str, context: &Context, wanted: PolicyDecision) {
    let verdict = decide_in(layers, text, context);
    assert_eq!(verdict.decision, wanted, "{text}: {verdict:#?}");
}
