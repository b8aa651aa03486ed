//! Looking at what was run.

use offshoot_vault::{ExecRecord, Id, STDERR, STDOUT, Vault};

use crate::error::{Result, ServiceError};

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

    /// The newest execs, of one workspace or of all, and whether there are older ones.
    pub fn list(&self, workspace: Option<Id>, limit: u32) -> Result<(Vec<ExecRecord>, bool)> {
        let mut found = self.vault.execs(workspace, None, limit.saturating_add(1))?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        Ok((found, more))
    }

    /// An exec by the start of its id, with its envelope.
    pub fn find(&self, text: &str) -> Result<ExecRecord> {
        let unknown = || ServiceError::Unknown {
            what: "exec",
            text: text.to_owned(),
            suggestions: Vec::new(),
        };
        // Shorter texts are more likely mistyped names than ids.
        let fitting = if text.len() >= 4 { self.vault.execs_by_prefix(text)? } else { Vec::new() };
        match fitting.as_slice() {
            [one] => self.vault.exec(one)?.ok_or_else(unknown),
            [] => Err(unknown()),
            several => Err(ServiceError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(Id::to_string).collect(),
            }),
        }
    }

    /// What an exec printed: standard output and standard error.
    pub fn output(&self, id: &Id) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok((self.vault.exec_output(id, STDOUT)?, self.vault.exec_output(id, STDERR)?))
    }
}
