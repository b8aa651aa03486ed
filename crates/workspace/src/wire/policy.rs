//! What policy says, as documents.

use offshoot_policy::{Categories, Judged, PartVerdict, Remedy, RuleInfo, Verdict};
use offshoot_protocol::{
    DecisionDoc, JudgedDoc, PolicyFileDoc, PolicyReplayDoc, PolicyVerdictDoc, RemedyDoc,
    ReplayedDoc, RuleDoc, TouchedDoc, WhyDoc,
};

use super::time;
use crate::exec::refusal::suggestion;
use crate::exec::request::CommandLine;
use crate::policy::{PolicyFile, Replay, Replayed};

/// What was decided.
pub fn verdict(verdict: &Verdict) -> DecisionDoc {
    DecisionDoc {
        decision: verdict.decision.as_str().to_owned(),
        reason: verdict.reason.clone().into_owned(),
        category: verdict.category().as_str().to_owned(),
        categories: words(verdict.categories),
        rule: Some(rule(&verdict.rule)),
        commands: verdict.parts.iter().map(part).collect(),
        remedy: verdict.remedy().map(|found| remedy(found, suggestion(verdict))),
    }
}

/// What would be decided about a command.
pub fn policy_verdict<'a>(
    command: &CommandLine,
    found: &Verdict,
    files: impl Iterator<Item = &'a PolicyFile>,
) -> PolicyVerdictDoc {
    PolicyVerdictDoc {
        command: command.display(),
        runs: found.decision.runs(),
        verdict: verdict(found),
        files: files.map(policy_file).collect(),
    }
}

/// A file with rules.
pub fn policy_file(file: &PolicyFile) -> PolicyFileDoc {
    PolicyFileDoc {
        layer: file.layer.as_str().to_owned(),
        path: file.path.display().to_string(),
        language: file.language().word().to_owned(),
    }
}

/// What other rules would have said.
pub fn policy_replay(replay: &Replay) -> PolicyReplayDoc {
    PolicyReplayDoc {
        execs: replay.execs,
        same: replay.same,
        unreadable: replay.unreadable,
        different: replay.different.iter().map(replayed).collect(),
    }
}

fn replayed(replayed: &Replayed) -> ReplayedDoc {
    ReplayedDoc {
        exec: replayed.record.id.to_string(),
        started: time(replayed.record.started_ms),
        command: replayed.record.command.clone(),
        before: replayed.before.clone(),
        after: verdict(&replayed.after),
    }
}

fn rule(rule: &RuleInfo) -> RuleDoc {
    RuleDoc {
        layer: rule.layer.as_str().to_owned(),
        name: rule.name.clone(),
        file: rule.file.as_ref().map(ToString::to_string),
    }
}

fn part(part: &PartVerdict) -> JudgedDoc {
    let judged = &part.judged;
    let why = judged.reasons.iter().map(|reason| WhyDoc {
        category: reason.category.as_str().to_owned(),
        reason: reason.why.clone().into_owned(),
    });
    let paths = judged.paths.iter().map(|touched| TouchedDoc {
        access: touched.access.as_str().to_owned(),
        path: touched.path.clone(),
    });
    JudgedDoc {
        command: judged_text(judged),
        part: judged.part.as_str().to_owned(),
        wrappers: judged.wrappers.clone(),
        categories: words(judged.categories),
        why: why.collect(),
        paths: paths.collect(),
        decision: part.decision.as_str().to_owned(),
        rule: rule(&part.rule),
    }
}

fn judged_text(judged: &Judged) -> String {
    let words = judged.words.iter().map(offshoot_policy::script::Word::display);
    words.collect::<Vec<_>>().join(" ")
}

/// What a remedy is worth is said here as it is where a command was refused.
fn remedy(remedy: Remedy, suggested: Option<Remedy>) -> RemedyDoc {
    let advice = suggested.map_or(remedy.advice, |suggested| suggested.advice);
    RemedyDoc { rule: remedy.rule, advice }
}

fn words(categories: Categories) -> Vec<String> {
    categories.iter().map(|category| category.as_str().to_owned()).collect()
}
