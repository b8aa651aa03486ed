//! Looking up what commands did.

use offshoot_store::{Id, IdPrefix};

use crate::approval::{self, Approval};
use crate::audit::SignedHead;
use crate::error::Result;
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
        let found = self.read(|reader| {
            let recorded = reader.meta(AUDIT_SIGNATURE)?;
            let recorded = recorded.and_then(|bytes| SignedHead::from_bytes(&bytes));
            let key = key(APPROVAL, &approval.id);
            Ok((recorded, reader.get_ref(&key)?.map(|row| (key, row))))
        });
        let Ok((Some(recorded), Some((key, row)))) = found else { return false };
        let signer = self.signing().find(Some(&recorded.key)).ok().flatten();
        signer.is_some_and(|signer| {
            let genuine = Approval::genuine(&key, &row, &self.id(), &signer.public());
            genuine.is_ok_and(|genuine| genuine == *approval)
        })
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
