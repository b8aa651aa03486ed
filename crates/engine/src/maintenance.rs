//! What is tidied in the background without being asked for.

pub use offshoot_sandbox::give_way;
use offshoot_vault::Vault;
use offshoot_workspace::MaintenanceOptions;
pub use offshoot_workspace::MaintenanceService;

use crate::gc::{kept, schedule};
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Merges layers and collects garbage as far as the settings want it and it is due.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let service = engine.maintenance(vault);
    /// if service.is_due(&workspace.id())? {
    ///     service.run(workspace.id(), engine.actor())?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn maintenance<'v>(&self, vault: &'v Vault) -> MaintenanceService<'v> {
        let config = self.config();
        let options = MaintenanceOptions {
            compact: config.compact.auto.then_some(config.compact.depth.into()),
            collect: config.gc.auto.then(|| (kept(config), schedule(config))),
        };
        MaintenanceService::new(vault, options)
    }
}
