//! Running commands in workspaces.

mod command;
mod environment;
mod events;
mod handle;
mod request;
mod run;
mod start;
pub mod worker;

pub use command::{Command, Input};
pub use events::{Event, Events};
pub use handle::Exec;
pub use offshoot_protocol::{CheckpointMode, DriverChoice, Network};
pub use offshoot_workspace::{
    CommandLine, ExecutionEnvelope, ExecutionObserver, ExecutionPlace, ExecutionResult,
    ExecutionTimeout,
};
pub(crate) use start::start;
