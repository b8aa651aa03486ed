//! Forks of conversations.

use offshoot_scrub::Redactor;

use crate::call::ConversationId;
use crate::event::{AgentEvent, EventRecord};
use crate::time::Timestamp;

/// Why a conversation cannot be forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The conversation has no such event.
    #[error("there is no event {at}: the conversation has {events}")]
    NoSuchEvent {
        /// The event.
        at: u64,
        /// How many there are.
        events: u64,
    },
    /// The events do not begin a conversation.
    #[error("the first event does not begin a conversation")]
    NotBegun,
}

/// The events of a fork behind event `at`: those up to it, and one that says so. Calls that were open there do not belong to the fork.
pub fn fork(
    records: &[EventRecord],
    at: u64,
    conversation: ConversationId,
    now: Timestamp,
) -> Result<Vec<EventRecord>, ForkError> {
    let events = records.len() as u64;
    let kept = usize::try_from(at).ok().filter(|at| (1..=records.len()).contains(at));
    let kept = &records[..kept.ok_or(ForkError::NoSuchEvent { at, events })?];
    let mut parent = None;
    for record in kept {
        match record.event() {
            AgentEvent::Started { conversation, .. } | AgentEvent::Forked { conversation, .. } => {
                parent = Some(conversation.clone());
            }
            _ => {}
        }
    }
    let parent = parent.ok_or(ForkError::NotBegun)?;
    let event = AgentEvent::Forked { conversation, parent, at };
    let mut forked = kept.to_vec();
    // Such an event has no text, so there is nothing to take out of it.
    forked.push(EventRecord::new(at + 1, now, event, &Redactor::default()));
    Ok(forked)
}
