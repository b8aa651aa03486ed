//! What an exec did, in a few words for people.

use std::path::{Path, PathBuf};

use offshoot_engine::approval::{Approval, ApprovalScope};
use offshoot_engine::exec::{ExecutionEnvelope, ExecutionResult, ExecutionWorkspace};
use offshoot_engine::policy::{Verdict, suggestion};
use offshoot_engine::preset::Preset;
use offshoot_engine::sandbox::{Sight, Viewer};
use offshoot_protocol::{ErrorBody, ExecState, Hint, PathAccess, Visibility};

use super::closing::{Closing, has_run};
use super::form::Form;
use super::limits;
use super::network;
use super::preset::is_quiet;
use crate::invocation;
use crate::render::listing::Listing;
use crate::render::{self, BAD, DIM, NAME, discarded, paint};

/// What every command has of its own, and needs no more of.
const OWN: [&str; 2] = ["/dev", "/proc"];
/// At most so many changes are named one by one.
const MOST_NAMED: usize = 8;

/// What is said about a command that tried to write where policy expected that it only reads.
const RAN_AGAIN: &str = "policy judged this command read-only, but it tried to write: it was run again with a checkpoint";

/// All that is said at the end.
pub(super) fn text(
    envelope: &ExecutionEnvelope,
    changes: &Listing<'_>,
    form: Form,
    closing: &Closing,
) -> String {
    let result = &envelope.result;
    let mut text = problems(result, closing);
    text.extend(result.approved_by.as_deref().map(approved));
    // Who was asked and said no wants no rule that says yes.
    if let (Some(verdict), Some(_)) = (&result.decision, &result.error)
        && !verdict.decision.runs()
        && result.pending_approval().is_none_or(|approval| approval.decision.is_none())
    {
        text.push_str(&stopped(verdict, closing.rules.as_deref()));
        text.push_str(&unseen(verdict, envelope, &closing.viewer));
    }
    let Some((_, workspace)) = &result.workspace else { return text };
    if result.error.is_some() {
        return text;
    }
    if result.joined.is_some() {
        text.push_str(&left_session(result, workspace));
        return text;
    }
    let lists = form == Form::Person && !result.removed;
    let changed = if lists { changes.heading() } else { changes.summary() };
    if result.removed {
        // There is no workspace to tell about, unless one was meant that is not there; a person who worked in it wants to know that nothing
        // came of it.
        if let ExecutionWorkspace::Workspace(name) = &envelope.request.place {
            let said = format!(
                "there is no workspace {name}: this ran in a new fork, which was removed as nothing changed"
            );
            text.push_str(&format!("{}\n", paint(DIM, &said)));
        } else if form == Form::Person {
            text.push_str(&format!("{}\n", paint(DIM, &changed)));
        }
        return text;
    }
    let what = if result.forked { "new workspace" } else { "workspace" };
    let (dim, name) = (paint(DIM, what), paint(NAME, workspace));
    text.push_str(&format!("{dim} {name}{}\n", paint(DIM, &format!(": {changed}"))));
    if result.conflicts > 0 {
        let open = render::count(result.conflicts, "conflict");
        let see = Hint::command("offshoot conflicts -w").arg(workspace);
        let see = format!(" to decide: {}", invocation::next(see));
        text.push_str(&format!("{}{}\n", paint(BAD, &open), paint(DIM, &see)));
    }
    if result.changes.is_empty() {
        return text;
    }
    if form == Form::Person {
        let hint = format!("`{}` lists all files", closing.next("offshoot status --expand"));
        text.push_str(&changes.lines("  ", MOST_NAMED, &hint));
    }
    let mut next = vec!["review", "commit", "undo"];
    if form == Form::Person {
        next.push("discard");
    }
    let next =
        next.iter().map(|word| format!("{word}: {}", closing.next(&format!("offshoot {word}"))));
    let next = next.collect::<Vec<_>>().join("   ");
    text.push_str(&format!("{}\n", paint(DIM, &next)));
    text
}

/// Who let a command run that policy leaves to a person.
fn approved(approval: &Approval) -> String {
    let Some(decision) = &approval.decision else { return String::new() };
    let held = match decision.scope {
        ApprovalScope::Session => " for this session",
        ApprovalScope::Once | ApprovalScope::Always => "",
    };
    let (by, id) = (render::line(&decision.by.user), approval.id.short());
    format!("{}\n", paint(DIM, &format!("approved by {by}{held} (approval {id})")))
}

/// What is said to one who joined a session, which goes on or does not.
fn left_session(result: &ExecutionResult, workspace: &str) -> String {
    let ended = result.signal.is_some() && !result.interrupted && !result.timed_out;
    match ended {
        true => format!("{}\n", paint(BAD, &format!("the session in {workspace} was ended"))),
        false => {
            let text =
                format!("left the session in {workspace}; it shows what changed when it ends");
            format!("{}\n", paint(DIM, &text))
        }
    }
}

/// What is said about a command that may not run where there is no vault.
pub(super) fn refusal(refusal: &ErrorBody, verdict: &Verdict, rules: Option<PathBuf>) -> String {
    error(refusal) + &stopped(verdict, rules.as_deref())
}

/// What stopped a command, and the rule that would have let it run.
fn stopped(verdict: &Verdict, rules: Option<&Path>) -> String {
    let rule = &verdict.rule;
    let file = rule.file.as_deref().map(|file| format!(" in {file}")).unwrap_or_default();
    let (name, file) = (render::line(&rule.name), render::line(&file));
    let mut text = format!("  {} {name} ({}){file}\n", paint(DIM, "rule:"), rule.layer);
    let rule = suggestion(verdict).and_then(|remedy| remedy.rule);
    if let (Some(rule), Some(file)) = (rule, rules) {
        let shown = render::host_path(file);
        text.push_str(&format!("  {} {shown}\n", paint(DIM, "to allow it, add to")));
        text.push_str(&render::rule_to_add(&rule, Some(file)));
    }
    text
}

/// What a command that was stopped would not see either, once a rule lets it run, or only as a copy.
fn unseen(verdict: &Verdict, envelope: &ExecutionEnvelope, viewer: &Viewer) -> String {
    let result = &envelope.result;
    let Some(profile) = &result.profile else { return String::new() };
    let parts = verdict.parts.iter().filter(|part| !part.decision.runs());
    let touched = parts.flat_map(|part| &part.judged.paths);
    let read = touched.filter(|touched| touched.access == PathAccess::Read);
    let read = read.filter_map(|touched| Path::new(&touched.path).canonicalize().ok());
    let mut read = read.filter(|path| !OWN.iter().any(|own| path.starts_with(own))).peekable();
    if read.peek().is_none() {
        return String::new();
    }
    let sight = Sight::new(profile, viewer, &envelope.request.show);
    let home = viewer.home.as_deref().and_then(|home| home.canonicalize().ok());
    let project: Vec<PathBuf> = result.mountpoint.iter().cloned().collect();
    let mut told = read.filter_map(|path| {
        let shown = render::host_path(&path);
        match sight.explain(&path, home.as_deref(), &project).visibility {
            Visibility::Workspace | Visibility::Shown => None,
            // What is left out of it is what one should not show.
            Visibility::Copied => Some(("commands see a copy without credentials of:", shown)),
            Visibility::Withheld => Some((
                "commands do not see it, since it seems to hold a credential:",
                format!("offshoot doctor --explain {shown}"),
            )),
            Visibility::Hidden | Visibility::Absent | Visibility::Private => {
                Some(("and for the command to see it:", format!("--show {shown}")))
            }
        }
    });
    told.next().map_or_else(String::new, |(what, how)| format!("  {} {how}\n", paint(DIM, what)))
}

/// What went wrong, or is not as one may expect.
fn problems(result: &ExecutionResult, closing: &Closing) -> String {
    let warnings = result.warnings.iter().skip(closing.told);
    let mut text: String = warnings.map(|warning| warning_line(warning)).collect();
    if let Some(body) = &result.error {
        text.push_str(&error(body));
    }
    let mut line = |line: String| text.push_str(&format!("{line}\n"));
    if result.rerun.is_some() {
        line(paint(BAD, RAN_AGAIN));
    }
    // Where the time ended later, the error says that.
    if result.timed_out && result.failed_in != Some(ExecState::Sealing) {
        let limit = &closing.limit;
        let longer = closing.longer.as_ref().map(|option| format!("; for longer: {option}"));
        let longer = longer.unwrap_or_default();
        line(paint(BAD, &format!("timed out after {limit}; command killed{longer}")));
    }
    if let Some(limit) = result.limit_reached.filter(|_| result.error.is_none()) {
        line(paint(BAD, &limits::line(limit, result)));
    }
    // An error says it of a command that never ran.
    if result.interrupted && (has_run(result) || result.error.is_none()) {
        let kept = match result.changes.is_empty() {
            true if result.joined.is_some() => "what it changed is in the session",
            true => "nothing was changed",
            false => "what the command changed until then is kept",
        };
        line(paint(BAD, &format!("interrupted; {kept}")));
    }
    if result.unreached > 0 && result.exit_code != Some(0) {
        line(paint(BAD, &network::unreached(result, closing.may_reach)));
    }
    text.extend(refused_hosts(result, closing.preset.as_ref()));
    text.extend(discarded::line(&result.discarded));
    text
}

/// Hosts that the network proxy refused, with what would allow them.
fn refused_hosts(result: &ExecutionResult, preset: Option<&Preset>) -> Vec<String> {
    const SHOWN: usize = 5;
    let refused = result.egress.iter().flat_map(|report| &report.refused);
    let refused = refused.filter(|refused| !is_quiet(preset, &refused.host.to_string()));
    let mut lines: Vec<String> = refused
        .map(|refused| {
            let reason = refused.refusal.message(&refused.host.to_string());
            let option = refused.flag.as_ref().map(|flag| format!(": add {flag}"));
            let text = format!("network: {reason}{}", option.unwrap_or_default());
            format!("{}\n", paint(BAD, &render::line(&text)))
        })
        .collect();
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if more > 0 {
        let hosts = if more == 1 { "host was" } else { "hosts were" };
        let text = format!(
            "network: {more} more {hosts} refused: see network.refused in the JSON envelope"
        );
        lines.push(format!("{}\n", paint(BAD, &text)));
    }
    lines
}

/// One line for a warning.
pub(super) fn warning_line(warning: &str) -> String {
    format!("{} {}\n", paint(BAD, "warning:"), render::line(warning))
}

fn error(error: &ErrorBody) -> String {
    let mut text = format!("{} {}\n", paint(BAD, "error:"), render::line(&error.message));
    if let Some(hint) = &error.hint {
        text.push_str(&format!("  {} {}\n", paint(DIM, "hint:"), render::line(hint)));
    }
    text
}
