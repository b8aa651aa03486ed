//! Room in the window of the model: what is left out when there is too little.

use crate::call::AgentCallKey;
use crate::context::{estimate, render};
use crate::state::{HistoryEntry, State};

/// Results of so many last answers stay.
const KEPT_ANSWERS: usize = 2;
/// Shorter results are not worth leaving out, in tokens.
const LEAST: u64 = 64;

/// What is to be done so that the next request fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Nothing.
    Enough,
    /// Results of these calls are left out.
    Prune(Vec<AgentCallKey>),
    /// All entries before this one get a summary.
    Summarise(usize),
    /// It does not fit, and nothing more can be left out.
    Full {
        /// How many tokens it has.
        tokens: u64,
        /// How many fit.
        window: u64,
    },
}

/// What is to be done so that the next request fits.
pub(crate) fn room(state: &State) -> Room {
    let window = state.window();
    let tokens = state.calibrated(estimate::of_request(&render::request(state)));
    if tokens <= window / 4 * 3 {
        return Room::Enough;
    }
    let pruned = prunable(state, tokens.saturating_sub(window / 2));
    if !pruned.is_empty() {
        return Room::Prune(pruned);
    }
    if let Some(upto) = cut(state) {
        return Room::Summarise(upto);
    }
    match tokens > window {
        true => Room::Full { tokens, window },
        false => Room::Enough,
    }
}

/// The oldest results that together free so many tokens, or all that can be left out.
fn prunable(state: &State, goal: u64) -> Vec<AgentCallKey> {
    let begin = state.summary.as_ref().map_or(0, |summary| summary.upto);
    let answers: Vec<usize> = state
        .entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| matches!(entry, HistoryEntry::Results(_)))
        .map(|(at, _)| at)
        .collect();
    let end = answers.len().checked_sub(KEPT_ANSWERS).map_or(0, |kept| answers[kept]);
    let (mut calls, mut freed) = (Vec::new(), 0);
    for entry in state.entries.get(begin..end).unwrap_or_default() {
        let HistoryEntry::Results(settled) = entry else { continue };
        for call in settled {
            let tokens: u64 = call.report.blocks.iter().map(estimate::of_block).sum();
            if freed >= goal {
                return calls;
            }
            if tokens >= LEAST && !state.pruned.contains(&call.key) {
                freed += state.calibrated(tokens);
                calls.push(call.key.clone());
            }
        }
    }
    calls
}

/// Where the conversation is cut for a summary: so that about a quarter of the window is kept, and never between an answer and its results. None if nothing
/// would be summarised.
fn cut(state: &State) -> Option<usize> {
    let begin = state.summary.as_ref().map_or(0, |summary| summary.upto);
    let keep = state.window() / 4;
    let (mut at, mut kept) = (state.entries.len(), 0);
    for (index, entry) in state.entries.iter().enumerate().skip(begin).rev() {
        kept += state.calibrated(of_entry(state, entry));
        if kept > keep && at < state.entries.len() {
            break;
        }
        if entry.may_begin() {
            at = index;
        }
    }
    // At least two entries make a summary worth its price, and what was just said stays as it is.
    let is_worth = at >= begin + 2 && at < state.entries.len();
    is_worth.then_some(at)
}

fn of_entry(state: &State, entry: &HistoryEntry) -> u64 {
    match entry {
        HistoryEntry::User(blocks) => blocks.iter().map(estimate::of_block).sum(),
        HistoryEntry::Note(text) => estimate::of_text(text),
        HistoryEntry::Answer { message, .. } => estimate::of_message(message),
        HistoryEntry::Results(settled) => settled
            .iter()
            .filter(|call| !state.pruned.contains(&call.key))
            .flat_map(|call| &call.report.blocks)
            .map(estimate::of_block)
            .sum(),
    }
}
