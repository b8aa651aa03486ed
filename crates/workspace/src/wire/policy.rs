//! What policy says, as documents.

use offshoot_policy::{Categories, FILE_HEADER, Judged, PartVerdict, Remedy, RuleInfo, Verdict};
use offshoot_protocol::{
    DecisionDoc, EffectCategory, JudgedDoc, PolicyDecision, PolicyFileDoc, PolicyReplayDoc,
    PolicyVerdictDoc, RemedyDoc, ReplayedDoc, RuleDoc, TouchedDoc, WhyDoc,
};

use super::time::time;
use crate::exec::refusal::{is_futile, suggestion};
use crate::exec::request::CommandLine;
use crate::policy::{PolicyFile, Replay, Replayed};

/// What was decided.
pub fn verdict(verdict: &Verdict) -> DecisionDoc {
    DecisionDoc {
        decision: verdict.decision,
        reason: verdict.reason.clone().into_owned(),
        category: Some(verdict.category()),
        categories: categories(verdict.categories),
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
        waits: found.decision == PolicyDecision::RequireApproval && !is_futile(found),
        verdict: verdict(found),
        files: files.map(policy_file).collect(),
    }
}

/// A file with rules.
pub fn policy_file(file: &PolicyFile) -> PolicyFileDoc {
    PolicyFileDoc {
        layer: file.layer,
        path: file.path.display().to_string(),
        language: file.language(),
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
        before: replayed.before,
        after: verdict(&replayed.after),
    }
}

fn rule(rule: &RuleInfo) -> RuleDoc {
    RuleDoc {
        layer: rule.layer,
        name: rule.name.clone(),
        file: rule.file.as_ref().map(ToString::to_string),
    }
}

fn part(part: &PartVerdict) -> JudgedDoc {
    let judged = &part.judged;
    let why = judged.reasons.iter().map(|reason| WhyDoc {
        category: reason.category,
        reason: reason.why.clone().into_owned(),
    });
    let paths = judged
        .paths
        .iter()
        .map(|touched| TouchedDoc { access: touched.access, path: touched.path.clone() });
    JudgedDoc {
        command: judged_text(judged),
        part: judged.part,
        wrappers: judged.wrappers.clone(),
        categories: categories(judged.categories),
        why: why.collect(),
        paths: paths.collect(),
        decision: part.decision,
        rule: rule(&part.rule),
    }
}

fn judged_text(judged: &Judged) -> String {
    let words = judged.words.iter().map(offshoot_policy::script::ShellWord::display);
    words.collect::<Vec<_>>().join(" ")
}

/// What a remedy is worth is said here as it is where a command was refused.
fn remedy(remedy: Remedy, suggested: Option<Remedy>) -> RemedyDoc {
    let advice = suggested.map_or(remedy.advice, |suggested| suggested.advice);
    let header = remedy.rule.as_ref().map(|_| FILE_HEADER.to_owned());
    let inexact = remedy.inexact.map(str::to_owned);
    RemedyDoc { rule: remedy.rule, exact: remedy.exact, inexact, header, advice }
}

fn categories(categories: Categories) -> Vec<EffectCategory> {
    categories.iter().collect()
}
