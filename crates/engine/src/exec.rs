//! Running commands in workspaces.

mod command;
mod environment;
mod events;
mod handle;
mod hosts;
mod ready;
mod request;
mod run;
mod start;
mod steering;
mod turns;
pub mod worker;

pub use command::{Command, Input};
pub use events::{Event, Events};
pub use handle::Exec;
pub use hosts::check_named_hosts;
pub use offshoot_protocol::{CheckpointMode, DriverChoice, Network};
pub use offshoot_sandbox::{Room, Signals, Stream, Terminal};
pub use offshoot_vault::{ExecNote, ExecRecord, OutputReader, RunningExec, STDERR, STDOUT};
pub use offshoot_workspace::{
    ApprovalWait, CommandLine, DiscardedFiles, Ending, ExecFilter, ExecService, ExecutionEnvelope,
    ExecutionObserver, ExecutionRequest, ExecutionResult, ExecutionTimeout, ExecutionWorkspace,
    INSIDE, INSIDE_VAULT, ProxyRuntime, RunningService, RuntimeOptions, refusal,
};
pub use ready::start_directory;
pub(crate) use request::explain;
pub(crate) use start::start;
pub(crate) use turns::Turns;
