//! How the files of a workspace are made a directory, and which ways this machine has.

pub use offshoot_mount::Driver;
pub use offshoot_workspace::{probe_drivers, try_data_layers};
