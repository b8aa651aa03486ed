//! A root as a directory for one command, and back.
//!
//! A [`MountSession`] turns a root of a vault into a directory that one confined command works in, and afterwards into
//! the root that the command left. It plans in plain data what the sandbox's init then mounts inside the namespaces; it
//! mounts nothing itself.

mod access;
mod data_layers;
mod error;
mod session;
mod target;

pub use access::LeftAccess;
pub use data_layers::{data_layers_work, try_data_layers};
pub use error::{MountError, Result};
pub use offshoot_vocabulary::{Driver, DriverChoice};
pub use session::{Inside, MountRequest, MountSession, MountState, Sealed};
pub use target::{UNBOUND, target_for};
