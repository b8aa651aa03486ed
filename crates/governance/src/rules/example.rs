//! Rules are held to their own examples.

use offshoot_policy::Problem;
use toml::Spanned;

use crate::request::{DataSensitivity, GovernanceRequest, GovernedAction};
use crate::rules::file::{RawExample, RawRule, Source};
use crate::rules::rule::Rule;

/// What is wrong with the examples of a rule.
pub(crate) fn check(rule: &Rule, raw: &RawRule, source: Source<'_>, problems: &mut Vec<Problem>) {
    let should = raw.matches.iter().map(|example| (example, true));
    let should_not = raw.not_matches.iter().map(|example| (example, false));
    for (example, wanted) in should.chain(should_not) {
        let request = match request(example) {
            Ok(request) => request,
            Err((message, hint)) => {
                problems.push(source.problem(Some(example.span()), message, Some(&hint)));
                continue;
            }
        };
        if rule.fits(&request) == wanted {
            continue;
        }
        let (verb, key) =
            if wanted { ("does not fit", "not_matches") } else { ("fits", "matches") };
        let message = format!("the rule `{}` {verb} this example", rule.info.name);
        let mut hint = format!("mend the rule, or move the example to `{key}`");
        if wanted && rule.decision.is_allowed() && request.sensitivity > DataSensitivity::COVERED {
            hint += "; what is allowed is at most `internal` unless `max_sensitivity` says more";
        }
        problems.push(source.problem(Some(example.span()), message, Some(&hint)));
    }
}

/// The request of an example; or what is wrong with it and what to write.
fn request(example: &Spanned<RawExample>) -> Result<GovernanceRequest, (String, String)> {
    let RawExample { action, agent, intent, target, sensitivity, labels, cost } =
        example.get_ref().clone();
    let actions = || format!("write one of {}", GovernedAction::names());
    let Some(action) = action else {
        return Err(("an example needs an `action`".to_owned(), actions()));
    };
    let Some(action) = GovernedAction::parse(&action) else {
        return Err((format!("`{action}` is no action"), actions()));
    };
    let sensitivity = match sensitivity {
        None => DataSensitivity::Public,
        Some(word) => DataSensitivity::parse(&word).ok_or_else(|| {
            let hint = format!("write one of {}", DataSensitivity::names());
            (format!("`{word}` is no sensitivity"), hint)
        })?,
    };
    let cost = match &cost {
        None => Some(0),
        Some(toml::Value::String(word)) if word == "unknown" => None,
        Some(toml::Value::Integer(cost)) if *cost >= 0 => u64::try_from(*cost).ok(),
        Some(other) => {
            let hint = "write millionths of a dollar, or \"unknown\"".to_owned();
            return Err((format!("`{other}` is no cost"), hint));
        }
    };
    let labels = labels.into_iter().collect();
    let request = GovernanceRequest { agent, intent, action, target, sensitivity, labels, cost };
    match request.excess() {
        Some(excess) => Err((format!("no request is so long: {excess}"), "shorten it".to_owned())),
        None => Ok(request),
    }
}
