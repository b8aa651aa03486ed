//! What a vault needs from time to time, done in the background after commands.

use offshoot_store::Id;
use offshoot_vault::{Actor, GcOptions, GcSchedule, Vault};

use crate::compaction::{CompactScope, CompactionService};
use crate::error::{Result, ServiceError};

/// What to do without being asked.
#[derive(Clone, Copy, Debug)]
pub struct MaintenanceOptions {
    /// Merge stacks of more layers than this.
    pub compact: Option<usize>,
    /// Collect garbage: what to keep, and when.
    pub collect: Option<(GcOptions, GcSchedule)>,
}

/// Merges layers and collects garbage when there is enough to do.
#[derive(Clone, Copy, Debug)]
pub struct MaintenanceService<'a> {
    vault: &'a Vault,
    options: MaintenanceOptions,
}

impl<'a> MaintenanceService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault, options: MaintenanceOptions) -> Self {
        Self { vault, options }
    }

    /// Whether there is something to do after a command in a workspace, and nobody does it. It takes a few lookups.
    pub fn is_due(&self, workspace: &Id) -> Result<bool> {
        if let Some(depth) = self.options.compact
            && CompactionService::new(self.vault).is_due(workspace, depth)?
        {
            return Ok(true);
        }
        let Some((_, schedule)) = &self.options.collect else { return Ok(false) };
        let due = self.vault.gc_due(schedule)?.is_due(Id::random().time_ms());
        Ok(due && self.vault.is_gc_idle())
    }

    /// Does what is due: layers first, because merging them is what makes most of the garbage.
    pub fn run(&self, workspace: Id, actor: &Actor) -> Result<()> {
        if let Some(depth) = self.options.compact {
            let merged =
                CompactionService::new(self.vault).run(CompactScope::Workspace(workspace), depth);
            match merged {
                // Whoever is at it does it all.
                Ok(_) | Err(ServiceError::Compacting) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some((options, schedule)) = &self.options.collect {
            self.vault.collect_if_due(options, schedule, actor)?;
        }
        Ok(())
    }
}
