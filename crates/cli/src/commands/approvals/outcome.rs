//! What came of deciding, in words.

use offshoot_engine::git::GitReport;
use offshoot_protocol::{ApprovalFailureDoc, ApprovalOutcomeDoc, ApprovalState};

use crate::invocation::next_in;
use crate::render::{self, BAD, DIM, NAME, paint};

/// A line or some about an approval that was decided. `git` says what became of repositories.
pub(super) fn text(outcome: &ApprovalOutcomeDoc, git: &GitReport) -> String {
    let approval = &outcome.approval;
    let command = render::line(&approval.command);
    let mut text = match approval.state {
        ApprovalState::Approved if outcome.exec.is_some() => format!("ran {command}"),
        ApprovalState::Approved => {
            let workspace = outcome.workspace.as_deref().unwrap_or_default();
            let changed = render::changes(outcome.changed_files.len() as u64);
            let how = if outcome.merged { "merged into" } else { "in" };
            format!("approved: {command}: {changed} {how} {}", paint(NAME, workspace))
        }
        ApprovalState::Granted => format!("approved: {command}: whoever waits for it runs it"),
        state => format!("{state}: {command}"),
    };
    text.push('\n');
    let whose = format!("{}'s", outcome.workspace.as_deref().unwrap_or_default());
    text.push_str(&render::git::notes(git, &whose));
    if let Some(rule) = &outcome.rule {
        text.push_str(&format!("{}\n", paint(DIM, "added to your policy:")));
        rule.lines().for_each(|line| text.push_str(&format!("  {}\n", render::line(line))));
    }
    if let Some(workspace) =
        outcome.workspace.as_ref().filter(|_| !outcome.changed_files.is_empty())
    {
        let undo = next_in(workspace, "offshoot undo");
        text.push_str(&format!("{}\n", paint(DIM, &format!("undo: {undo}"))));
    }
    text
}

/// One of several that could not be decided about.
pub(super) fn failure(failed: &ApprovalFailureDoc) -> String {
    let (command, message) = (render::line(&failed.command), render::line(&failed.error.message));
    let mut text = format!("{} {command}: {message}\n", paint(BAD, "not decided:"));
    if let Some(hint) = &failed.error.hint {
        text.push_str(&format!("  {} {}\n", paint(DIM, "hint:"), render::line(hint)));
    }
    text
}
