//! What a policy defines, and whether somebody asks for it.

use std::collections::BTreeMap;

use regorus::unstable::{Expr, Module, Ref, Rule, RuleHead};

use super::questions::RegoQuestions;

/// The names of all rules, and how often each is defined.
pub(super) fn defined(modules: &[Ref<Module>]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for rule in modules.iter().flat_map(|module| &module.policy) {
        let head = match rule.as_ref() {
            Rule::Default { refr, .. } => refr,
            Rule::Spec { head, .. } => match head {
                RuleHead::Compr { refr, .. }
                | RuleHead::Set { refr, .. }
                | RuleHead::Func { refr, .. } => refr,
            },
        };
        if let Some(name) = name(head) {
            *names.entry(name).or_default() += 1;
        }
    }
    names
}

/// The name that a head begins with: `deny` of `deny[x]`.
fn name(mut head: &Expr) -> Option<String> {
    loop {
        match head {
            Expr::Var { span, .. } => return Some(span.text().to_owned()),
            Expr::RefDot { refr, .. } | Expr::RefBrack { refr, .. } => head = refr,
            _ => return None,
        }
    }
}

/// What nobody asks for: a policy that can decide nothing, and names that look like a slip and that the policy itself does not use.
pub(super) fn in_vain(
    defined: &BTreeMap<String, usize>,
    text: &str,
    questions: RegoQuestions,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let asked = questions.names();
    if !questions.deciding.iter().any(|name| defined.contains_key(*name)) {
        let names: Vec<String> =
            questions.deciding.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        warnings.push(format!("it decides nothing: it defines none of {names}"));
    }
    for (name, times) in defined.iter().filter(|(name, _)| !asked.contains(&name.as_str())) {
        let is_used = mentions(name, text) > *times;
        if let Some(meant) = slip_of(name, &asked).filter(|_| !is_used) {
            warnings.push(format!("nobody asks for the rule `{name}`: is `{meant}` meant?"));
        }
    }
    warnings
}

fn slip_of(name: &str, asked: &[&'static str]) -> Option<&'static str> {
    let is_slip = |known: &&str| {
        let letters = name.len().min(known.len());
        strsim::osa_distance(name, known) <= (letters / 4).max(1)
    };
    asked.iter().copied().find(is_slip)
}

/// How often a name stands in a text, as a whole word.
fn mentions(name: &str, text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == name).count()
}
