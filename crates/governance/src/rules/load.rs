//! From texts of files to rules that are ready.

use std::collections::HashSet;
use std::sync::Arc;

use offshoot_policy::{NamedText, Problem};

use crate::decision::EscalationTerms;
use crate::options::GovernanceLayer;
use crate::request::GovernedAction;
use crate::rules::example;
use crate::rules::file::{RawDefaults, Source};
use crate::rules::layer::LayerRules;
use crate::rules::rule::RuleReader;
use crate::verdict::GovernanceRule;

/// How many rules all files may have together.
pub const MAX_RULES: usize = 10_000;

/// Reads a file into the rules of its layer; all that is wrong with it is listed. Returns how many examples it has, and the terms of its escalations.
pub(crate) fn read_file(
    layer: GovernanceLayer,
    file: &NamedText,
    usual: &EscalationTerms,
    rules: &mut LayerRules,
    problems: &mut Vec<Problem>,
) -> (usize, EscalationTerms) {
    let source = Source { name: &file.name, text: &file.text };
    let raw = match source.parse() {
        Ok(raw) => raw,
        Err(problem) => {
            problems.push(problem);
            return (0, usual.clone());
        }
    };
    let name: Arc<str> = Arc::from(file.name.as_str());
    let mut reader = RuleReader { source, file: &name, layer, terms: usual.clone() };
    match reader.terms(&raw.escalation.terms(), usual) {
        Ok(terms) => reader.terms = terms,
        Err(problem) => problems.push(problem),
    }
    problems.extend(read_defaults(&raw.defaults, &reader, rules));
    // Files of a layer may be of different people: a rule is named by its file too.
    let mut names = HashSet::new();
    let mut examples = 0;
    for raw in &raw.rules {
        let of_rule = raw.get_ref();
        match reader.read(raw) {
            Ok(rule) => {
                example::check(&rule, of_rule, source, problems);
                examples += of_rule.matches.len() + of_rule.not_matches.len();
                rules.add(rule);
            }
            Err(problem) => problems.push(problem),
        }
        if let Some(name) = &of_rule.name
            && !names.insert(name.get_ref().clone())
        {
            let message = format!("there are two rules with the name `{}`", name.get_ref());
            problems.push(reader.wrong(name.span(), message, "give one of them another name"));
        }
    }
    (examples, reader.terms)
}

fn read_defaults(
    raw: &RawDefaults,
    reader: &RuleReader<'_>,
    rules: &mut LayerRules,
) -> Option<Problem> {
    let words = [
        &raw.use_tool,
        &raw.ask_model,
        &raw.write_memory,
        &raw.send_message,
        &raw.run_step,
        &raw.spend,
    ];
    for (action, word) in GovernedAction::ALL.iter().zip(words) {
        let Some(word) = word else { continue };
        let decision = match reader.decision(word, reader.terms.clone()) {
            Ok(decision) => decision,
            Err(problem) => return Some(problem),
        };
        let rule = GovernanceRule {
            layer: reader.layer,
            name: format!("defaults.{action}"),
            file: Some(Arc::clone(reader.file)),
            reason: None,
        };
        rules.set_default(*action, decision, Arc::new(rule));
    }
    None
}
