//! Deleting what nothing refers to any more.

pub use offshoot_vault::{GcDue, GcOptions, GcReport, GcSchedule};

use crate::settings::Config;

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
