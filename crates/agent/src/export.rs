//! Conversations as text.

use std::fmt::Write;

use crate::call::EndedBy;
use crate::context::transcript;
use crate::event::{AgentEvent, EventRecord};
use crate::pause::TurnEnd;

/// The events as lines of JSON, which is also what [`crate::FileLog`] keeps.
pub fn to_json_lines(records: &[EventRecord]) -> serde_json::Result<String> {
    let mut text = String::new();
    for record in records {
        text.push_str(&serde_json::to_string(record)?);
        text.push('\n');
    }
    Ok(text)
}

/// The conversation as Markdown, for people.
pub fn to_markdown(records: &[EventRecord]) -> String {
    let mut page = String::new();
    for record in records {
        if let Some(part) = part(record.event()) {
            // Writing to a string cannot fail.
            writeln!(page, "{}\n", part.trim_end()).expect("a string takes any text");
        }
    }
    page
}

/// What people want to read of an event.
fn part(event: &AgentEvent) -> Option<String> {
    let part = match event {
        AgentEvent::Started { conversation, settings, .. } => {
            format!("# Conversation {conversation}\n\nModel: {}", settings.model)
        }
        AgentEvent::UserSaid { blocks } => {
            format!("## User\n\n{}", transcript::of_blocks(blocks))
        }
        AgentEvent::Answered { message, .. } => {
            let calls = message.calls().map(|call| {
                format!("Calls `{}`:\n\n{}", call.name, fenced(&call.arguments, "json"))
            });
            let mut parts = vec!["## Agent".to_owned(), message.text().trim().to_owned()];
            parts.extend(calls);
            parts.retain(|part| !part.is_empty());
            parts.join("\n\n")
        }
        AgentEvent::CallEnded { key, report, by } => {
            let failed = if report.failed { " (failed)" } else { "" };
            let who = match by {
                EndedBy::User => " by the user",
                EndedBy::Cancel => " by cancelling",
                EndedBy::Tool
                | EndedBy::Refusal
                | EndedBy::Limit
                | EndedBy::Breakage
                | EndedBy::Crash
                | EndedBy::Fork => "",
            };
            let code = fenced(&transcript::of_blocks(&report.blocks), "");
            format!("Result of `{key}`{who}{failed}:\n\n{code}")
        }
        AgentEvent::AnswerFailed { why, .. } => format!("*The model did not answer: {why}*"),
        AgentEvent::Noted { text, .. } => format!("*Note to the model: {text}*"),
        AgentEvent::CallBlocked { text, .. } => format!("*The user is asked: {text}*"),
        AgentEvent::Paused { reason } => format!("*Paused: {reason}*"),
        AgentEvent::Resumed { .. } => "*Resumed*".to_owned(),
        AgentEvent::Pinned { text } => format!("*Pinned: {text}*"),
        AgentEvent::Summarised { text, .. } => {
            format!("*Summary of what came before:*\n\n{}", fenced(text, ""))
        }
        AgentEvent::Forked { parent, at, .. } => {
            format!("*Forked from {parent} behind event {at}*")
        }
        AgentEvent::TurnEnded { end: TurnEnd::Cancelled } => "*Cancelled*".to_owned(),
        AgentEvent::Opened { .. }
        | AgentEvent::Asked { .. }
        | AgentEvent::Assessed { .. }
        | AgentEvent::CallStarted { .. }
        | AgentEvent::Decided { .. }
        | AgentEvent::CallFound { .. }
        | AgentEvent::Cancelled { .. }
        | AgentEvent::Pruned { .. }
        | AgentEvent::SummaryAsked { .. }
        | AgentEvent::Unpinned { .. }
        | AgentEvent::TurnEnded { end: TurnEnd::Done } => return None,
    };
    Some(part)
}

/// A text in a fence that is longer than any in it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("a", ""), "```\na\n```");
        assert_eq!(fenced("````rust", "x"), "`````x\n````rust\n`````");
    }
}
