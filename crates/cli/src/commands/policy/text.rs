//! Verdicts for people.

use std::path::Path;

use offshoot_engine::policy::{PolicyDecision, Verdict, suggestion};
use offshoot_protocol::{CommandPart, JudgedDoc, PolicyVerdictDoc, RuleDoc};

use crate::render::{self, BAD, DIM, GOOD, NAME, paint};

/// One line: the decision, the categories, why. What nobody can approve is denied.
pub(super) fn line(verdict: &Verdict, document: &PolicyVerdictDoc) -> String {
    let categories = paint(DIM, &format!("({})", verdict.categories));
    let decision = decision(match verdict.decision {
        PolicyDecision::RequireApproval if !document.waits => PolicyDecision::Deny,
        decision => decision,
    });
    format!("{decision} {categories} {}\n", render::line(&verdict.reason))
}

/// Everything that is known.
pub(super) fn explanation(
    verdict: &Verdict,
    document: &PolicyVerdictDoc,
    rules: Option<&Path>,
) -> String {
    let mut text = line(verdict, document);
    for judged in &document.verdict.commands {
        text.push_str(&command(judged));
    }
    if let Some(rule) = &document.verdict.rule {
        text.push_str(&format!("\n{} {}\n", paint(DIM, "decided by"), rule_text(rule)));
    }
    if let Some(remedy) = suggestion(verdict) {
        let what = if remedy.rule.is_some() { "to allow it:" } else { "what to do:" };
        text.push_str(&format!("{} {}\n", paint(DIM, what), render::line(&remedy.advice)));
        if let Some(rule) = &remedy.rule {
            text.push('\n');
            text.push_str(&render::rule_to_add(rule, rules));
        }
    }
    if !document.files.is_empty() {
        text.push_str(&format!("\n{}\n", paint(DIM, "files that were read:")));
        for file in &document.files {
            text.push_str(&format!("  {} ({})\n", render::line(&file.path), file.layer));
        }
    }
    text
}

fn command(judged: &JudgedDoc) -> String {
    let through = match judged.wrappers.is_empty() {
        true => String::new(),
        false => paint(DIM, &format!("  (through {})", render::line(&judged.wrappers.join(", ")))),
    };
    let shown = match judged.part {
        CommandPart::Program => paint(NAME, &render::line(&judged.command)),
        part => {
            format!("{} {}", paint(DIM, part.as_str()), paint(NAME, &render::line(&judged.command)))
        }
    };
    let mut text = format!("\n  {shown}{through}\n");
    for why in &judged.why {
        text.push_str(&format!("    {:<17}{}\n", why.category, render::line(&why.reason)));
    }
    if judged.why.is_empty() {
        let words: Vec<&str> = judged.categories.iter().map(|category| category.as_str()).collect();
        text.push_str(&format!("    {}\n", words.join(" ")));
    }
    let rule = paint(DIM, &format!("by {}", rule_text(&judged.rule)));
    text.push_str(&format!("    {} {rule}\n", judged.decision));
    text
}

fn rule_text(rule: &RuleDoc) -> String {
    let file = rule.file.as_ref().map(|file| format!(", {}", render::line(file)));
    let name = render::line(&rule.name);
    format!("{name} ({}{})", rule.layer, file.unwrap_or_default())
}

/// A decision in its colour.
pub(super) fn decision(decision: PolicyDecision) -> String {
    let colour = if decision.runs() { GOOD } else { BAD };
    paint(colour, decision.as_str())
}
