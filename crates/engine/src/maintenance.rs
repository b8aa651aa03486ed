//! What is tidied without being asked for: when, and what is kept.

use offshoot_store::Id;
use offshoot_vault::{Actor, GcOptions, GcSchedule, Vault};
use offshoot_workspace::{MaintenanceOptions, MaintenanceService};

use crate::settings::Config;

/// What is tidied after a command without being asked for.
pub(crate) struct Due<'a> {
    service: MaintenanceService<'a>,
    workspace: Id,
    actor: &'a Actor,
}

impl<'a> Due<'a> {
    /// What there is to merge and to collect after a command in a workspace.
    pub(crate) fn after(
        vault: &'a Vault,
        workspace: &Id,
        config: &Config,
        actor: &'a Actor,
    ) -> Option<Self> {
        let service = MaintenanceService::new(vault, maintenance(config));
        let is_due = service.is_due(workspace).unwrap_or(false);
        is_due.then_some(Self { service, workspace: *workspace, actor })
    }

    /// Merges layers and collects garbage.
    pub(crate) fn run(self) {
        // The command is done and was answered; the next one tries again.
        drop(self.service.run(self.workspace, self.actor));
    }
}

/// What is tidied without being asked for.
pub fn maintenance(config: &Config) -> MaintenanceOptions {
    MaintenanceOptions {
        compact: config.compact.auto.then_some(config.compact.depth.into()),
        collect: config.gc.auto.then(|| (kept(config), schedule(config))),
    }
}

/// When garbage is collected without being asked for.
pub fn schedule(config: &Config) -> GcSchedule {
    GcSchedule { operations: config.gc.auto_operations, bytes: config.gc.auto_size }
}

/// What the settings say is to be kept.
pub fn kept(config: &Config) -> GcOptions {
    let gc = &config.gc;
    GcOptions {
        keep_operations: gc.keep_operations,
        keep_age: gc.keep_age,
        max_size: (gc.max_size > 0).then_some(gc.max_size),
        dry_run: false,
        pack: true,
    }
}
