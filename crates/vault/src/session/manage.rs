//! Making, naming and deleting sessions.

use offshoot_store::{Hash, Id};
use offshoot_vocabulary::SessionState;

use super::append::check_model;
use super::chain::place;
use super::error::SessionError;
use super::{SessionHead, SessionOrigin, SessionRecord, SessionTotals};
use crate::actor::Actor;
use crate::error::Result;
use crate::name::check_ref_name;
use crate::vault::Vault;

/// A session about to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// The workspace that it belongs to.
    pub workspace: Id,
    /// Its name.
    pub name: &'a str,
    /// Who gives access to the model.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
}

impl Vault {
    /// Makes a session, whose log is empty. Undo takes that back.
    pub fn create_session(
        &self,
        new: &NewSession<'_>,
        actor: &Actor,
    ) -> Result<(SessionRecord, SessionHead)> {
        checked_name(new.name)?;
        check_model(new.provider)?;
        check_model(new.model)?;
        let made = self.transact("session create", actor, |tx| {
            let record = SessionRecord {
                id: tx.new_id(),
                workspace: new.workspace,
                name: new.name.to_owned(),
                origin: SessionOrigin {
                    created_ms: tx.time_ms(),
                    created_by: actor.clone(),
                    parent: None,
                },
            };
            let head = SessionHead {
                events: 0,
                chain: Hash::default(),
                changed_ms: tx.time_ms(),
                state: SessionState::Open,
                provider: new.provider.to_owned(),
                model: new.model.to_owned(),
                totals: SessionTotals::default(),
            };
            tx.scope(new.workspace);
            tx.summary(format!("create session {}", new.name));
            tx.add_session(&record, &head)?;
            Ok((record, head))
        })?;
        Ok(made.value)
    }

    /// Gives a session another name. Undo takes that back.
    pub fn rename_session(&self, id: &Id, name: &str, actor: &Actor) -> Result<SessionRecord> {
        checked_name(name)?;
        let renamed = self.transact("session rename", actor, |tx| {
            let (mut record, head) = tx.session(id)?.ok_or(SessionError::Unknown(*id))?;
            record.require_own(actor, "rename")?;
            tx.scope(record.workspace);
            tx.summary(format!("rename session {} to {name}", record.name));
            name.clone_into(&mut record.name);
            tx.set_session(&record)?;
            tx.detail("session", id.to_string());
            tx.cover_session(id, &place(head.events, &head.chain));
            Ok(record)
        })?;
        Ok(renamed.value)
    }

    /// Deletes a session, unless somebody has taken it up. Undo brings it back, until garbage collection gave up the operation.
    pub fn delete_session(&self, id: &Id, actor: &Actor) -> Result<Option<Id>> {
        let _held = self.lock_session(id, "a process that deletes it")?;
        let deleted = self.transact("session delete", actor, |tx| {
            let (record, head) = tx.session(id)?.ok_or(SessionError::Unknown(*id))?;
            record.require_own(actor, "delete")?;
            tx.scope(record.workspace);
            tx.summary(format!("delete session {}", record.name));
            tx.remove_session(id)?;
            tx.detail("session", id.to_string());
            tx.cover_session(id, &place(head.events, &head.chain));
            Ok(())
        })?;
        Ok(deleted.operation)
    }

    /// Notes in the audit log that a session was written out.
    pub fn record_session_export(&self, id: &Id, actor: &Actor) -> Result<()> {
        self.record_event("session export", actor, |tx| {
            let (record, head) = tx.session(id)?.ok_or(SessionError::Unknown(*id))?;
            tx.scope(record.workspace);
            tx.summary(format!("export session {}", record.name));
            tx.detail("session", id.to_string());
            tx.cover_session(id, &place(head.events, &head.chain));
            Ok(())
        })
    }
}

/// Fails where a text cannot be the name of a session.
pub(super) fn checked_name(name: &str) -> Result<()> {
    Ok(check_ref_name(name).map_err(SessionError::from)?)
}
