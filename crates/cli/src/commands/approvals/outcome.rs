//! What came of deciding, in words.

use offshoot_engine::git::GitReport;
use offshoot_engine::text::command;
use offshoot_protocol::{ApprovalFailureDoc, ApprovalOutcomeDoc, ApprovalState, ExecState};

use crate::invocation::next_in;
use crate::render::{self, BAD, DIM, NAME, paint};

/// A line or some about an approval that was decided. `git` says what became of repositories.
pub(super) fn text(outcome: &ApprovalOutcomeDoc, git: &GitReport) -> String {
    let approval = &outcome.approval;
    let command = command(&approval.command);
    let ended = outcome.exec.as_ref().map(|exec| &exec.result);
    // It was approved, and something was in the way before anything of it ran.
    let has_not_run = ended.is_some_and(|result| {
        use ExecState::{Deciding, Mounting, Preparing, Validating};
        matches!(result.failed_in, Some(Validating | Deciding | Preparing | Mounting))
    });
    let mut text = match approval.state {
        _ if has_not_run => format!("not run: {command}"),
        ApprovalState::Approved if outcome.exec.is_some() => {
            let changed = match outcome.changed_files.len() as u64 {
                0 => "no changes".to_owned(),
                changed => render::changes(changed),
            };
            let removed = outcome.exec.as_ref().is_some_and(|exec| exec.result.workspace_removed);
            match outcome.workspace.as_deref().filter(|_| !removed) {
                Some(workspace) => {
                    format!("ran {command}: {changed} in {}", paint(NAME, workspace))
                }
                None if removed => {
                    format!("ran {command}: {changed}; its new workspace was removed")
                }
                None => format!("ran {command}: {changed}"),
            }
        }
        ApprovalState::Approved => {
            let workspace = outcome.workspace.as_deref().unwrap_or_default();
            let changed = render::changes(outcome.changed_files.len() as u64);
            let how = if outcome.merged { "merged into" } else { "in" };
            format!("approved: {command}: {changed} {how} {}", paint(NAME, workspace))
        }
        // It was approved, and something was in the way when it started.
        ApprovalState::Granted | ApprovalState::Running if outcome.exec.is_some() => {
            format!("not run: {command}")
        }
        ApprovalState::Granted => format!("approved: {command}: whoever waits for it runs it"),
        state => format!("{state}: {command}"),
    };
    text.push('\n');
    let exec = outcome.exec.as_ref().map(|exec| &exec.result);
    if let Some(error) = exec.and_then(|result| result.error.as_ref()) {
        text.push_str(&format!("{} {}\n", paint(BAD, "error:"), render::line(&error.message)));
    }
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
    let (command, message) = (command(&failed.command), render::line(&failed.error.message));
    let mut text = format!("{} {command}: {message}\n", paint(BAD, "not decided:"));
    if let Some(hint) = &failed.error.hint {
        text.push_str(&format!("  {} {}\n", paint(DIM, "hint:"), render::line(hint)));
    }
    text
}
