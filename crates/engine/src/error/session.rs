//! Errors around sessions as people see them.

use offshoot_protocol::{ExitCode, Hint};
use offshoot_vault::SessionError;

use super::Error;

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        let lists = || Hint::command("offshoot sessions list").text(" shows what there is");
        match error {
            SessionError::Name(error) => error.into(),
            SessionError::Unknown(_) => Self::new(ExitCode::NotFound, message).hint(lists()),
            SessionError::Collected { .. } => Self::new(ExitCode::NotFound, message)
                .hint("gc.keep_operations and gc.keep_age say how long what was deleted is kept"),
            SessionError::Moved { session, .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot sessions show")
                    .arg(session.short())
                    .text(" has what was appended; nothing was written"),
            ),
            SessionError::Busy { .. } => Self::new(ExitCode::Busy, message)
                .hint("wait until it is done, or end that process, and try again"),
            SessionError::NotOwn { session, .. } => Self::new(ExitCode::Denied, message).hint(
                Hint::command("offshoot sessions fork")
                    .arg(session.short())
                    .text(" makes one of your own"),
            ),
            SessionError::NoEvent { session, .. } | SessionError::NoState { session, .. } => {
                Self::new(ExitCode::NotFound, message).hint(
                    Hint::command("offshoot sessions show")
                        .arg(session.short())
                        .text(" lists events"),
                )
            }
            SessionError::NoText { .. } => Self::new(ExitCode::NotFound, message),
            SessionError::CallTaken { id, .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot show").arg(id.short()).text(" has it; nothing was done"),
            ),
            SessionError::Damaged { .. } => Self::new(ExitCode::Damaged, message)
                .hint(Hint::command("offshoot vault check").text(" lists what is damaged")),
            SessionError::BadWord { .. }
            | SessionError::NotJson { .. }
            | SessionError::TooLarge { .. }
            | SessionError::BadCost(_)
            | SessionError::BadTextId(_)
            | SessionError::BadCallKey { .. } => Self::usage(message),
        }
    }
}
