//! Policy as services see it: the files that rules are in, what a request looks like to it, and what it would have said before.

mod files;
mod judge;
mod replay;

pub use files::{PolicyFile, PolicyFileError, PolicyFiles};
pub(crate) use judge::{CommandPaths, context_of};
pub use judge::{judge, seen_variables};
pub use replay::{Replay, ReplayService, Replayed};
