//! How far a recorded command came.

use offshoot_protocol::ExecState;
use offshoot_vault::ExecRecord;

/// How far a recorded exec came.
pub(crate) fn state_of(record: &ExecRecord) -> ExecState {
    record.state.parse().unwrap_or(ExecState::Unknown)
}
