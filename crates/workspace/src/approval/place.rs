//! Where the command of an approval would start now, and whether somebody saw that when it was asked for.

use offshoot_store::Id;
use offshoot_tree::{RootId, diff};
use offshoot_vault::{Approval, Vault};

use super::outcome::{MovedPlace, MovedWorkspace};
use crate::error::Result;
use crate::exec::summary::is_directory_time;
use crate::resolve::Resolver;

/// A state that a command would start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartingPoint {
    /// The state.
    pub(super) head: Id,
    /// What stands there.
    place: MovedPlace,
}

impl StartingPoint {
    /// That of an approval as it is now; none where its workspace is gone.
    pub(super) fn of(vault: &Vault, approval: &Approval) -> Result<Option<Self>> {
        if let Some(id) = &approval.workspace {
            let found = vault.workspace(id)?;
            return Ok(
                found.map(|found| Self { head: found.state.head, place: MovedPlace::Workspace })
            );
        }
        let resolver = Resolver::new(vault);
        if let Some(name) = &approval.named
            && let Some(found) = resolver.look_up(name)?
        {
            return Ok(Some(Self { head: found.state.head, place: MovedPlace::Made }));
        }
        let origin = match &approval.from {
            Some(text) => resolver.point(text, None)?,
            None => resolver.head()?,
        };
        Ok(Some(Self { head: origin.snapshot.id, place: MovedPlace::Origin }))
    }

    /// How it differs from what an approval that waits was asked on; none where it does not. A workspace that was made since is another
    /// place than none, whatever its files are.
    pub(super) fn moved(
        self,
        vault: &Vault,
        approval: &Approval,
    ) -> Result<Option<MovedWorkspace>> {
        let Self { head, place } = self;
        if approval.base == Some(head) && place != MovedPlace::Made {
            return Ok(None);
        }
        let Some(base) = approval.base else {
            // An older program did not say what it was asked on.
            return Ok(Some(MovedWorkspace { head, files: 0, place }));
        };
        let root = |id: &Id| Ok::<RootId, crate::ServiceError>(vault.snapshot(id)?.root);
        let mut changes = diff::compare(vault.objects()?, &root(&base)?, &root(&head)?)?;
        changes.retain(|change| !is_directory_time(change));
        let moved = MovedWorkspace { head, files: changes.len(), place };
        Ok(Some(moved).filter(|moved| moved.files > 0 || place == MovedPlace::Made))
    }
}
