//! Checking what commands did.

use serde::de::IgnoredAny;

use super::Checker;
use crate::error::Result;
use crate::exec::ExecRecord;
use crate::refs::from_json;

/// Commands are read in pages of this many.
const PAGE: u32 = 256;

impl Checker<'_> {
    pub(super) fn execs(&mut self) -> Result<()> {
        let mut before = None;
        loop {
            let execs = self.vault.execs(None, before, PAGE)?;
            let Some(last) = execs.last() else { return Ok(()) };
            before = Some(last.id);
            for exec in &execs {
                self.report.execs += 1;
                self.exec(exec);
            }
        }
    }

    fn exec(&mut self, exec: &ExecRecord) {
        for id in exec.before.iter().chain(&exec.after) {
            if self.vault.snapshot(id).is_err() {
                self.problem(format!("command {} names snapshot {id}, which is missing", exec.id));
            }
        }
        let found = self.vault.exec(&exec.id);
        let envelope = self.note(found).flatten().and_then(|exec| exec.envelope);
        let what = format!("the envelope of command {}", exec.id);
        let parsed = envelope.map(|text| from_json::<IgnoredAny>(&what, &text)).transpose();
        self.note(parsed);
    }
}
