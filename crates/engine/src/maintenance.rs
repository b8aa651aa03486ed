//! What is tidied in the background without being asked for.

pub use offshoot_sandbox::give_way;
use offshoot_workspace::MaintenanceOptions;
pub use offshoot_workspace::MaintenanceService;

use crate::gc::{kept, schedule};
use crate::settings::Config;

/// What the settings say is tidied.
pub fn options(config: &Config) -> MaintenanceOptions {
    MaintenanceOptions {
        compact: config.compact.auto.then_some(config.compact.depth.into()),
        collect: config.gc.auto.then(|| (kept(config), schedule(config))),
    }
}
