//! What commands did: kept beside history, and never part of what can be undone.

use offshoot_store::{ExecRow, Id, IdPrefix};

use crate::actor::Actor;
use crate::error::Result;
use crate::refs::{from_json, to_json};
use crate::vault::{MOST_FITTING, Vault};

/// The stream of a command's output.
pub const STDOUT: u8 = 1;
/// The stream of a command's errors.
pub const STDERR: u8 = 2;

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecRecord {
    /// Its id. Whoever starts the command makes it, so listings are in the order of starts.
    pub id: Id,
    /// The workspace it ran in, if it came to that.
    pub workspace: Option<Id>,
    /// The operation that recorded it; set by the transaction that records it.
    pub operation: Option<Id>,
    /// When it started.
    pub started_ms: u64,
    /// When it was over.
    pub ended_ms: u64,
    /// How it ended, in a word.
    pub state: String,
    /// The command line, for people.
    pub command: String,
    /// What it returned, if it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How many paths it changed.
    pub changed: u64,
    /// The snapshot it started from.
    pub before: Option<Id>,
    /// The snapshot it made.
    pub after: Option<Id>,
    /// Who ran it.
    pub actor: Actor,
    /// Everything else about it, as JSON that the vault does not look into. `None` in listings, where it is not read, and
    /// empty JSON (`null`) where none is given.
    pub envelope: Option<String>,
}

impl ExecRecord {
    pub(crate) fn row(&self, operation: Option<Id>) -> ExecRow {
        ExecRow {
            id: self.id,
            workspace: self.workspace,
            operation,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            state: self.state.clone(),
            command: self.command.clone(),
            exit_code: self.exit_code,
            signal: self.signal,
            changed: self.changed,
            before: self.before,
            after: self.after,
            actor: to_json(&self.actor),
            envelope: Some(self.envelope.clone().unwrap_or_else(|| "null".to_owned())),
        }
    }

    fn from_row(row: ExecRow) -> Result<Self> {
        let actor = from_json(&format!("the actor of command {}", row.id), &row.actor)?;
        Ok(Self {
            id: row.id,
            workspace: row.workspace,
            operation: row.operation,
            started_ms: row.started_ms,
            ended_ms: row.ended_ms,
            state: row.state,
            command: row.command,
            exit_code: row.exit_code,
            signal: row.signal,
            changed: row.changed,
            before: row.before,
            after: row.after,
            actor,
            envelope: row.envelope,
        })
    }
}

impl Vault {
    /// Commands newest first, at most `limit`, older than `before` if given, of one workspace or of all. Their envelopes are
    /// not read.
    pub fn execs(
        &self,
        workspace: Option<Id>,
        before: Option<Id>,
        limit: u32,
    ) -> Result<Vec<ExecRecord>> {
        let rows =
            self.read(|reader| Ok(reader.execs(workspace.as_ref(), before.as_ref(), limit)?))?;
        rows.into_iter().map(ExecRecord::from_row).collect()
    }

    /// One command, with its envelope.
    pub fn exec(&self, id: &Id) -> Result<Option<ExecRecord>> {
        let row = self.read(|reader| Ok(reader.exec(id)?))?;
        row.map(ExecRecord::from_row).transpose()
    }

    /// What a command wrote to [`STDOUT`] or [`STDERR`], as far as it was kept.
    pub fn exec_output(&self, id: &Id, stream: u8) -> Result<Vec<u8>> {
        let bytes = self.read(|reader| Ok(reader.exec_output(id, stream)?))?;
        Ok(bytes.unwrap_or_default())
    }

    /// Commands whose ids start so; only the first few are looked for.
    pub fn execs_by_prefix(&self, prefix: &IdPrefix) -> Result<Vec<Id>> {
        let (low, high) = prefix.range();
        self.read(|reader| Ok(reader.execs_between(&low, &high, MOST_FITTING)?))
    }
}
