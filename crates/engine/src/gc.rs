//! Deleting what nothing refers to any more.

use offshoot_vault::Vault;
pub use offshoot_vault::{GcDue, GcOptions, GcReport, GcSchedule};
use offshoot_workspace::CacheService;

use crate::error::Result;
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::settings::Config;
use crate::text::bytes;

impl Offshoot {
    /// Deletes what nothing in a vault refers to: with it go expired workspaces, what is left of deleted vaults, and caches that take
    /// more than they may. A dry run says what would go, and touches none of that.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::gc;
    ///
    /// let report = engine.collect(vault, &gc::kept(&engine.settings().config))?;
    /// println!("{} bytes freed", report.freed());
    /// # Ok(())
    /// # }
    /// ```
    pub fn collect(&self, vault: &Vault, options: &GcOptions) -> Result<GcReport> {
        if !options.dry_run {
            self.sweep(vault)?;
            if let Err(error) = self.registry().sweep() {
                self.tell(
                    Topic::VaultLeftover,
                    format!("a deleted vault was not cleared: {error}"),
                );
            }
        }
        let report = vault.collect(options, self.actor())?;
        if !options.dry_run {
            self.tidy_caches(vault)?;
        }
        Ok(report)
    }

    /// Drops package caches while all take more than they may.
    fn tidy_caches(&self, vault: &Vault) -> Result<()> {
        for dropped in
            CacheService::new(vault).tidy(self.config().cache.max_size, self.actor())?.dropped
        {
            let (name, size) = (dropped.name, bytes(dropped.bytes));
            let text = format!("cache {name} ({size}) was cleared: see cache.max_size");
            self.tell(Topic::CacheCleared, text);
        }
        Ok(())
    }
}

/// When garbage is collected without being asked for.
///
/// ```
/// use offshoot_engine::gc;
/// use offshoot_engine::settings::Config;
///
/// assert_eq!(gc::schedule(&Config::default()).operations, Config::default().gc.auto_operations);
/// ```
pub fn schedule(config: &Config) -> GcSchedule {
    GcSchedule { operations: config.gc.auto_operations, bytes: config.gc.auto_size }
}

/// What the settings say is to be kept.
///
/// ```
/// use offshoot_engine::gc;
/// use offshoot_engine::settings::Config;
///
/// assert!(!gc::kept(&Config::default()).dry_run);
/// ```
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
