//! The stash: one ref whose log is the stack.

use offshoot_vault::VaultPath;

use super::super::missing::flaw;
use super::super::own_name::own_name;
use super::super::refs::STASH;
use super::super::report::GitEvent;
use super::super::{Taking, Unclear};
use super::ref_files::{log_path, ref_path};
use crate::error::Result;
use crate::git::repository::State;

/// The newest entry, and the log with all of them.
type Stack = (Option<Vec<u8>>, Option<Vec<u8>>);

impl Taking<'_, '_> {
    /// Takes the other side's stash, or keeps it apart; whether the target has none any more.
    pub(super) fn stash(&mut self, repository: &VaultPath) -> Result<bool> {
        let sides = self.sides;
        let read = |state: &State<'_>| -> Result<Stack> {
            let value = state.refs(repository)?.get(STASH).cloned();
            Ok((value, state.file(&log_path(repository, STASH))?))
        };
        let (was, here, there) = (read(&sides.base)?, read(&sides.target)?, read(&sides.other)?);
        if there == was || there == here {
            return Ok(false);
        }
        let both = self.both(repository)?;
        if let Some(value) = &there.0
            && flaw(&both, STASH, value)?.is_some()
        {
            return Ok(false);
        }
        let name = String::from_utf8_lossy(STASH).into_owned();
        if here == was {
            match &there.0 {
                Some(value) => self.write_ref(repository, STASH, value)?,
                None => self.edit.remove(&ref_path(repository, STASH))?,
            }
            self.take_as_it_is(&log_path(repository, STASH))?;
            let event = if there.0.is_some() { GitEvent::Moved } else { GitEvent::Deleted };
            if self.unclear == Unclear::Stay || event == GitEvent::Deleted {
                self.note(repository, event, name, here.0.as_deref(), there.0.as_deref());
            }
            return Ok(there.0.is_none());
        }
        let Some(value) = there.0.as_ref().filter(|_| self.unclear != Unclear::Stay) else {
            if self.unclear == Unclear::Stay {
                self.note(
                    repository,
                    GitEvent::Stayed,
                    name,
                    here.0.as_deref(),
                    there.0.as_deref(),
                );
            }
            return Ok(false);
        };
        if was.0.as_ref() == Some(value) {
            return Ok(false);
        }
        let refs = sides.target.refs(repository)?;
        let own =
            own_name(&refs, self.label, STASH, value, &|there| Some(there) == was.0.as_deref());
        self.write_ref(repository, &own, value)?;
        if let Some(log) = &there.1 {
            self.write_log(&log_path(repository, &own), log)?;
        }
        let event = GitEvent::KeptApart(String::from_utf8_lossy(&own).into_owned());
        self.note(repository, event, name, here.0.as_deref(), Some(value));
        Ok(false)
    }
}
