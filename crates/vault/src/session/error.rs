//! What can go wrong with sessions.

use offshoot_store::Id;
use offshoot_vocabulary::CallKind;

use crate::name::NameError;

/// An error around a session. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The text cannot be a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no session of that id.
    #[error("there is no session {0}")]
    Unknown(Id),
    /// The log of a session that was deleted was collected as garbage.
    #[error("session {} was collected by gc on {}", .session.short(), crate::error::date(*.time_ms))]
    Collected {
        /// The session.
        session: Id,
        /// When.
        time_ms: u64,
    },
    /// Somebody else appended to the session.
    #[error("session {} has {found} events by now: event {expected} cannot be the next", .session.short())]
    Moved {
        /// The session.
        session: Id,
        /// The number that the first event was to have.
        expected: u64,
        /// How many events there are.
        found: u64,
    },
    /// Another process has taken the session up.
    #[error("session {} is in use by {}", .session.short(), crate::error::holder_name(.holder))]
    Busy {
        /// The session.
        session: Id,
        /// What the other says of itself; may be empty.
        holder: String,
    },
    /// An agent tries to change the session of somebody else.
    #[error("agent {agent} cannot {what} session {}, which {owner} made", .session.short())]
    NotOwn {
        /// The agent.
        agent: String,
        /// What it tries.
        what: &'static str,
        /// The session.
        session: Id,
        /// Whose it is.
        owner: String,
    },
    /// A text is no word.
    #[error("\"{}\" cannot be {what}: 1 to 64 letters, digits, `.`, `_` and `-` are allowed", .text.escape_debug())]
    BadWord {
        /// What it was to be.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// The body of an event is no JSON.
    #[error("the body of a {kind} event is not JSON: {source}")]
    NotJson {
        /// The event.
        kind: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// Something is longer than it may be.
    #[error("{what} has {found}, more than the {most} that it may have")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How much it has.
        found: u64,
        /// How much it may have.
        most: u64,
    },
    /// A cost is no decimal number.
    #[error("\"{}\" is not a decimal number", .0.escape_debug())]
    BadCost(String),
    /// There is no event of that number.
    #[error("session {} has no event {number}; its last is {last}", .session.short())]
    NoEvent {
        /// The session.
        session: Id,
        /// The number.
        number: u64,
        /// The last event.
        last: u64,
    },
    /// No event says which state the workspace had.
    #[error("no event of session {} up to {number} names a state of its workspace", .session.short())]
    NoState {
        /// The session.
        session: Id,
        /// The last event that was looked at.
        number: u64,
    },
    /// There is no text of that id.
    #[error("session {} has no text {text}", .session.short())]
    NoText {
        /// The session.
        session: Id,
        /// The text.
        text: String,
    },
    /// A text is no id of a text.
    #[error("\"{}\" is not the id of a text: 64 hexadecimal digits", .0.escape_debug())]
    BadTextId(String),
    /// A call key is empty or too long.
    #[error("a call key has 1 to {most} bytes, not {found}")]
    BadCallKey {
        /// How many it has.
        found: usize,
        /// How many it may have.
        most: usize,
    },
    /// A request with this key was made before.
    #[error("call {call} was made before: {kind} {id}")]
    CallTaken {
        /// The call.
        call: String,
        /// What it was.
        kind: CallKind,
        /// The command or the operation.
        id: Id,
    },
    /// The log of a session is not what was appended.
    #[error("session {session} is damaged: {detail}")]
    Damaged {
        /// The session.
        session: Id,
        /// What is wrong.
        detail: String,
    },
}
