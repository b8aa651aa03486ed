//! Policy as services see it: the files that rules are in, what a request looks like to it, and what it would have said before.

mod files;
mod judge;
mod replay;

pub use files::{PolicyFile, PolicyFileError, PolicyFiles};
pub use judge::judge;
pub(crate) use judge::{CommandPaths, context_of};
pub use replay::{Replay, ReplayService, Replayed};
