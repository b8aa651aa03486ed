//! What became of something that was interrupted.

use offshoot_protocol::SettleOutcome;
use offshoot_store::Id;

/// Which way to go with what was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The folders become what they were.
    Back,
    /// They become what they were to be.
    Forward,
    /// Where the folders are others now, they stay as they are.
    Leave,
}

/// Something that was interrupted, and is settled now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The apply.
    pub apply: Id,
    /// What it was to do, for people.
    pub summary: String,
    /// What became of it.
    pub how: SettleOutcome,
}
