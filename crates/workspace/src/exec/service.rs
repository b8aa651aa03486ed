//! Looking at what was run.

use offshoot_protocol::{ExecOutcome, ExecState};
use offshoot_store::Id;
use offshoot_vault::{ExecRecord, STDERR, STDOUT, Vault};

use crate::approval::record::as_it_is;
use crate::error::Result;
use crate::exec::state::state_of;
use crate::id_lookup::Asked;

/// How many execs are read at a time.
const PAGE: u32 = 500;

/// Which execs are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecFilter {
    /// Those of this workspace.
    pub workspace: Option<Id>,
    /// Those in this state.
    pub state: Option<ExecState>,
    /// Those that did not succeed.
    pub failed: bool,
    /// Those that changed something.
    pub changed: bool,
    /// Those that started at this time or later.
    pub since_ms: Option<u64>,
    /// Those that started before this time.
    pub until_ms: Option<u64>,
    /// Those whose command has this text in it.
    pub command: Option<String>,
}

impl ExecFilter {
    fn lets_through(&self, record: &ExecRecord) -> bool {
        self.state.is_none_or(|state| state == state_of(record))
            && !(self.failed && outcome_of(record).is_success())
            && !(self.changed && record.changed == 0)
            && self.until_ms.is_none_or(|until| record.started_ms < until)
            && self.command.as_ref().is_none_or(|text| record.command.contains(text.as_str()))
    }
}

/// What a row of the catalog says about success; what timed out or was interrupted has no exit code.
fn outcome_of(record: &ExecRecord) -> ExecOutcome {
    ExecOutcome {
        state: state_of(record),
        exit_code: record.exit_code,
        signal: record.signal,
        timed_out: false,
        interrupted: false,
        failed: false,
    }
}

/// Lists and finds execs.
#[derive(Clone, Copy, Debug)]
pub struct ExecService<'a> {
    vault: &'a Vault,
}

impl<'a> ExecService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// The newest execs that a filter lets through, at most `limit`, and whether there are older ones.
    pub fn list(&self, filter: &ExecFilter, limit: u32) -> Result<(Vec<ExecRecord>, bool)> {
        let mut found = Vec::new();
        let mut before = None;
        loop {
            let page =
                self.vault.execs(filter.workspace, before, PAGE.max(limit.saturating_add(1)))?;
            let Some(last) = page.last() else { return Ok((found, false)) };
            before = Some(last.id);
            for record in page {
                let record = as_it_is(self.vault, record)?;
                // Ids are made when commands start, so all that follow are older still.
                if filter.since_ms.is_some_and(|since| record.started_ms < since) {
                    return Ok((found, false));
                }
                if !filter.lets_through(&record) {
                    continue;
                }
                if found.len() >= limit as usize {
                    return Ok((found, true));
                }
                found.push(record);
            }
        }
    }

    /// An exec by the start of its id, with its envelope.
    pub fn find(&self, text: &str) -> Result<ExecRecord> {
        let asked = Asked::new(text);
        let fitting = match asked.prefix() {
            Some(prefix) => self.vault.execs_by_prefix(prefix)?,
            None => Vec::new(),
        };
        let found = match asked.only(fitting, Id::to_string)? {
            Some(id) => self.get(&id)?,
            None => None,
        };
        found.ok_or_else(|| {
            let recent = self.vault.execs(None, None, PAGE).unwrap_or_default();
            asked.unknown(self.vault, "exec", recent.into_iter().map(|record| record.id))
        })
    }

    /// An exec by its id, with its envelope, as it is now: one that waits and can never be approved any more has failed.
    pub fn get(&self, id: &Id) -> Result<Option<ExecRecord>> {
        self.vault.exec(id)?.map(|record| as_it_is(self.vault, record)).transpose()
    }

    /// What an exec printed: standard output and standard error.
    pub fn output(&self, id: &Id) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok((self.vault.exec_output(id, STDOUT)?, self.vault.exec_output(id, STDERR)?))
    }
}
