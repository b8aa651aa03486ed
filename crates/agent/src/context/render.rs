//! The request that a state makes: a pure function of it.

use offshoot_provider::{Block, CallBlock, Content, Message, Request, ResultBlock, Role};

use crate::context::{layers, transcript};
use crate::state::{HistoryEntry, SettledCall, State};

/// What a model is told that writes a summary.
const SUMMARY_TASK: &str = "You summarise the work of a coding agent, so that it can go on without the original. Keep: what the user wants, in their words where they \
matter; decisions and why; files that were read or changed, and what is in them that matters; commands and their results; what failed and why; what is to be \
done next. Leave out what no longer matters. Write plain text and nothing else.";

/// The request for the next answer.
pub(crate) fn request(state: &State) -> Request {
    let mut request = bare_request(state);
    request.system = layers::texts(&state.preamble.layers).into_iter().map(Block::text).collect();
    if !state.pinned.is_empty() {
        let facts: Vec<String> = state.pinned.iter().map(|fact| format!("- {fact}")).collect();
        request.system.push(Block::text(format!("Keep in mind:\n{}", facts.join("\n"))));
    }
    request.tools.clone_from(&state.preamble.tools);
    request.messages = messages(state);
    request
}

fn bare_request(state: &State) -> Request {
    let Some(settings) = &state.settings else { return Request::new("") };
    let mut request = Request::new(settings.model.clone());
    request.max_output = settings.max_output;
    request.reasoning = settings.reasoning;
    request.caching = settings.caching;
    request
}

/// The conversation as the model reads it.
pub(crate) fn messages(state: &State) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut begin = 0;
    if let Some(summary) = &state.summary {
        begin = summary.upto;
        let text = format!("Summary of the conversation before:\n\n{}", summary.text);
        messages.push(Message::user([Block::text(text)]));
    }
    for entry in state.entries.iter().skip(begin).chain(queued(state).iter()) {
        match entry {
            HistoryEntry::User(blocks) => user(&mut messages, blocks.iter().cloned()),
            HistoryEntry::Note(text) => user(&mut messages, [Block::text(text)]),
            HistoryEntry::Answer { message, .. } => match messages.last_mut() {
                // Two answers behind one another are one: the vendor paused, or the user cancelled.
                Some(last) if last.role == Role::Assistant => {
                    last.blocks.extend(message.blocks.iter().cloned());
                }
                Some(_) => messages.push(message.clone()),
                // A conversation begins with the user.
                None => {
                    messages.push(Message::user([Block::text("(The beginning is left out.)")]));
                    messages.push(message.clone());
                }
            },
            HistoryEntry::Results(settled) => {
                user(&mut messages, settled.iter().map(|call| result(state, call)));
            }
        }
    }
    messages
}

/// What the user said meanwhile, as it will stand in the conversation.
fn queued(state: &State) -> Vec<HistoryEntry> {
    state.steering.iter().cloned().map(HistoryEntry::User).collect()
}

/// Adds what the user says: to the last message, if that is theirs.
fn user(messages: &mut Vec<Message>, blocks: impl IntoIterator<Item = Block>) {
    match messages.last_mut() {
        Some(last) if last.role == Role::User => last.blocks.extend(blocks),
        _ => messages.push(Message::user(blocks)),
    }
}

fn result(state: &State, settled: &SettledCall) -> Block {
    let SettledCall { key, call, report, .. } = settled;
    let blocks = match state.pruned.contains(key) {
        true => vec![Block::text(pruned(report.to_text().len(), call))],
        false if report.blocks.is_empty() => vec![Block::text("(no output)")],
        false => report.blocks.clone(),
    };
    let CallBlock { id, name, .. } = call.clone();
    Block::new(Content::ToolResult(ResultBlock { id, name, blocks, failed: report.failed }))
}

/// What stands for a result that is left out.
fn pruned(bytes: usize, call: &CallBlock) -> String {
    format!(
        "[{bytes} bytes of this result are left out to save room; call {} again if you need them]",
        call.name
    )
}

/// The request for a summary of all entries before one. The conversation is in it as text: calls without their tools are refused by vendors.
pub(crate) fn summary_request(state: &State, upto: usize) -> Request {
    let mut request = bare_request(state);
    request.system = vec![Block::text(SUMMARY_TASK)];
    let begin = state.summary.as_ref().map_or(0, |summary| summary.upto);
    let mut text = String::new();
    if let Some(summary) = &state.summary {
        text.push_str(&format!("Summary of what came before:\n\n{}\n\n", summary.text));
    }
    let entries = state.entries.get(begin..upto).unwrap_or_default();
    text.push_str(&transcript::of_entries(entries, transcript::SHORT));
    // Estimated tokens have four bytes; half of the window is for the text.
    let room = usize::try_from(state.window().saturating_mul(2)).unwrap_or(usize::MAX).max(2000);
    let text = transcript::shortened(&text, room);
    let ask = format!("The conversation:\n\n{text}\n\nSummarise it.");
    request.messages = vec![Message::user([Block::text(ask)])];
    request
}

/// What stands for entries of which there is no summary.
pub(crate) fn without_summary(state: &State, upto: usize) -> String {
    let begin = state.summary.as_ref().map_or(0, |summary| summary.upto);
    let entries = state.entries.get(begin..upto).unwrap_or_default();
    let said: Vec<String> = entries
        .iter()
        .filter_map(|entry| match entry {
            HistoryEntry::User(blocks) => {
                let text: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
                Some(format!("- {}", transcript::shortened(&text.join(" "), 400)))
            }
            _ => None,
        })
        .collect();
    let before = state.summary.as_ref().map(|summary| summary.text.as_str()).unwrap_or_default();
    let text = format!(
        "{before}\n\n{} steps are left out here, and there is no summary of them. What the user said in them:\n{}",
        entries.len(),
        said.join("\n")
    );
    transcript::shortened(text.trim_start(), 8000)
}
