//! A project that is open, as all handles and all commands in it share it.

use std::sync::Arc;

use offshoot_store::Id;
use offshoot_vault::Vault;
use offshoot_workspace::ServiceError;

use crate::activity::{Activity, Busy};
use crate::maintenance::Due;
use crate::offshoot::Offshoot;

/// An open project.
#[derive(Debug)]
pub(crate) struct Opened {
    /// With the settings that hold in the folder.
    engine: Offshoot,
    vault: Vault,
    /// The name of the vault.
    name: String,
    /// What goes on in it.
    activity: Arc<Activity>,
}

impl Opened {
    pub(crate) fn new(engine: Offshoot, vault: Vault, name: String) -> Self {
        Self { engine, vault, name, activity: Arc::default() }
    }

    pub(crate) fn engine(&self) -> &Offshoot {
        &self.engine
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.vault
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Something goes on in it as long as this is there.
    pub(crate) fn busy(&self) -> Busy {
        Activity::begin(&self.activity)
    }

    /// Waits until nothing goes on in it.
    pub(crate) fn wait_idle(&self) {
        self.activity.wait_idle();
    }

    /// What has to be in place before a command that may run finds or forks its workspace.
    pub(crate) fn make_ready(&self) -> Result<(), ServiceError> {
        self.engine.settle_interrupted(&self.vault);
        self.engine.sweep(&self.vault)
    }

    /// What there is to merge and to collect after a command in a workspace.
    pub(crate) fn due(&self, workspace: &Id) -> Option<Due<'_>> {
        Due::after(&self.vault, workspace, self.engine.config(), self.engine.actor())
    }
}
