//! Sessions that were deleted, once no kept operation names them.

use std::collections::BTreeSet;

use offshoot_store::Id;

use super::Collector;
use crate::error::{Result, VaultError};
use crate::refs::key;
use crate::session::SESSION;

/// Rows are removed in slices of this many.
const SLICE: u32 = 256;

impl Collector<'_> {
    /// Removes the rows of sessions that nothing names. First the one that says how a session stands: without that nothing brings the
    /// session back, and the others can go slice by slice.
    pub(super) fn sessions(&mut self) -> Result<()> {
        let found: BTreeSet<Id> = self.vault.read(|reader| {
            let rows = reader.sessions()?.into_iter().map(|row| row.id);
            Ok(rows.chain(reader.session_owners()?).collect())
        })?;
        for session in
            found.into_iter().filter(|id| !self.window.sessions.contains(id)).collect::<Vec<_>>()
        {
            if !self.options.dry_run {
                let is_gone = self.closed(|collector, _| collector.forget_session(&session))?;
                if !is_gone {
                    continue;
                }
                while self
                    .vault
                    .catalog()
                    .write(|writer| writer.remove_session_rows(&session, SLICE))?
                    > 0
                {}
            }
            self.report.sessions.add(0);
        }
        Ok(())
    }

    /// Whether the session is gone for good.
    fn forget_session(&self, session: &Id) -> Result<bool> {
        if self.window.sessions.contains(session) {
            // Somebody brought it back meanwhile.
            return Ok(false);
        }
        let now_ms = self.now_ms;
        self.vault.catalog().write(|writer| {
            if writer.get_ref(&key(SESSION, session))?.is_some() {
                return Ok(false);
            }
            writer.remove_session(session)?;
            writer.add_collected(session.as_bytes(), now_ms)?;
            Ok::<bool, VaultError>(true)
        })
    }
}
