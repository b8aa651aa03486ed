//! Looking up what commands did.

use offshoot_store::{Id, IdPrefix};

use crate::approval::{self, Approval};
use crate::audit::SignedHead;
use crate::error::{Result, VaultError};
use crate::exec::ExecRecord;
use crate::refs::{APPROVAL, key};
use crate::transact::AUDIT_SIGNATURE;
use crate::vault::{MOST_FITTING, Vault};

impl Vault {
    /// All approvals, oldest first.
    pub fn approvals(&self) -> Result<Vec<Approval>> {
        self.read(approval::approvals)
    }

    /// Whether this vault wrote the approval, as it is recorded now.
    pub fn is_genuine(&self, approval: &Approval) -> bool {
        self.genuine_approval(&approval.id).is_ok_and(|found| found.as_ref() == Some(approval))
    }

    /// One approval, by the id of its exec. Fails where this vault did not write what is recorded.
    pub fn genuine_approval(&self, id: &Id) -> Result<Option<Approval>> {
        let key = key(APPROVAL, id);
        let (recorded, row) =
            self.read(|reader| Ok((reader.meta(AUDIT_SIGNATURE)?, reader.get_ref(&key)?)))?;
        let Some(row) = row else { return Ok(None) };
        let recorded = recorded.and_then(|bytes| SignedHead::from_bytes(&bytes));
        let signer = recorded.map(|signed| self.signing().find(Some(&signed.key))).transpose()?;
        let Some(signer) = signer.flatten() else {
            return Err(VaultError::ForgedApproval(key.id));
        };
        Approval::genuine(&key, &row, &self.id(), &signer.public()).map(Some)
    }

    /// One approval, by the id of its exec.
    pub fn approval(&self, id: &Id) -> Result<Option<Approval>> {
        self.read(|reader| approval::approval(reader, id))
    }

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

    /// What a command wrote to [`STDOUT`](crate::STDOUT) or [`STDERR`](crate::STDERR), as far as it was kept.
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
