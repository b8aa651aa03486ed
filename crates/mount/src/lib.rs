//! A root as a directory, and back.
//!
//! A [`Driver`] turns a root of a vault into layers to stack or into a directory, and afterwards what was written there into
//! the root that it makes; a [`MountSession`] takes one root through one driver. This crate knows stacks and directories: it
//! starts no process and mounts nothing itself.

mod driver;
mod drivers;
mod error;
mod request;
mod session;
mod view;

pub use driver::{After, Captured, Driver, DriverWords, Prepared};
pub use drivers::{candidates, driver_of, drivers};
pub use error::{MountError, Result};
pub use request::MountRequest;
pub use session::MountSession;
pub use view::{Layers, UpperNames, View};
