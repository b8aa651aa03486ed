//! What is said to whoever runs a command while it runs.

use std::fmt;
use std::sync::Arc;

use offshoot_protocol::ExitCode;
use offshoot_sandbox::{Cancel, Room, Stream};

use super::events::WAITING;
use crate::error::{Error, Result};

/// Steers a command, wherever it runs.
pub(super) trait Steering: fmt::Debug + Send + Sync {
    /// Asks it to end; once more, and it is killed.
    fn cancel(&self);

    /// So many bytes of its output were read: there is room for as many more.
    fn free(&self, stream: Stream, bytes: usize);
}

/// What a command that runs in this process listens to.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// Somebody wants it to end.
    pub(super) cancel: Arc<Cancel>,
    /// The room for its output.
    pub(super) room: Arc<Room>,
}

impl Wheel {
    pub(super) fn new() -> Result<Self> {
        let cannot = |error: &dyn fmt::Display| {
            Error::new(ExitCode::Failure, format!("cannot watch for requests: {error}"))
        };
        let cancel = Cancel::new().map_err(|error| cannot(&error))?;
        let room = Room::new(WAITING).map_err(|error| cannot(&error))?;
        Ok(Self { cancel: Arc::new(cancel), room: Arc::new(room) })
    }
}

impl Steering for Wheel {
    fn cancel(&self) {
        self.cancel.cancel();
    }

    fn free(&self, stream: Stream, bytes: usize) {
        self.room.free(stream, bytes);
    }
}
