//! A project that is open, as all handles and all commands in it share it.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_store::Id;
use offshoot_vault::{Actor, Binding, Vault};
use offshoot_workspace::{ExecutionWorkspace, MaintenanceService, ServiceError};

use crate::activity::{Activity, Busy};
use crate::error::Result;
use crate::exec::Turns;
use crate::offshoot::Offshoot;
use crate::sandbox::Rules;

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
    /// Who is next in its workspaces.
    turns: Arc<Turns>,
}

impl Opened {
    pub(crate) fn new(engine: Offshoot, vault: Vault, name: String) -> Self {
        Self { engine, vault, name, activity: Arc::default(), turns: Arc::default() }
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

    /// The rules for a command in it, with those that were given with the request.
    pub(crate) fn rules(&self, request: &[PathBuf]) -> Result<Rules> {
        let folder = first_folder(&self.vault)?;
        self.engine.rules(folder.as_deref(), request)
    }

    /// Something goes on in it as long as this is there.
    pub(crate) fn busy(&self) -> Busy {
        Activity::begin(&self.activity)
    }

    /// Who is next in its workspaces.
    pub(crate) fn turns(&self) -> &Arc<Turns> {
        &self.turns
    }

    /// Waits until nothing goes on in it.
    pub(crate) fn wait_idle(&self) {
        self.activity.wait_idle();
    }

    /// What has to be in place before a command that may run finds or forks its workspace.
    pub(crate) fn make_ready(&self, place: &ExecutionWorkspace) -> Result<(), ServiceError> {
        let folder = self.existing_folder();
        self.engine.make_ready(&self.vault, &self.name, place, folder.as_deref())
    }

    /// The folder, where it is there. A vault may have been brought here without it.
    pub(crate) fn existing_folder(&self) -> Option<PathBuf> {
        first_folder(&self.vault).ok().flatten().filter(|folder| folder.is_dir())
    }

    /// What there is to merge and to collect after a command in a workspace.
    pub(crate) fn due(&self, workspace: &Id) -> Option<Due<'_>> {
        let service = self.engine.maintenance(&self.vault);
        let is_due = service.is_due(workspace).unwrap_or(false);
        is_due.then_some(Due { service, workspace: *workspace, actor: self.engine.actor() })
    }
}

/// What is tidied after a command without being asked for.
pub(crate) struct Due<'a> {
    service: MaintenanceService<'a>,
    workspace: Id,
    actor: &'a Actor,
}

impl Due<'_> {
    /// Merges layers and collects garbage.
    pub(crate) fn run(self) {
        // The command is done and was answered; the next one tries again.
        drop(self.service.run(self.workspace, self.actor));
    }
}

/// The folder of a vault; none where it was brought here without one.
pub(crate) fn first_folder(vault: &Vault) -> Result<Option<PathBuf>> {
    let bindings = vault.bindings()?;
    Ok(bindings.iter().find(|binding| binding.is_first()).map(Binding::host_path))
}
