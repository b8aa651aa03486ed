//! Changing folders on the host, so that a crash leaves them before or after.
//!
//! A folder goes from one state to another, and nobody's bytes are lost whatever happens meanwhile. In passes, each with its own
//! type: [`ApplyPlan`] says what is to be done and what stands in the way; [`Apply::stage`] writes everything new beside its place
//! and a journal of what is to come; [`Apply::swap`] renames, looking at each file before and after; [`Apply::finish`] clears up. A
//! process that dies in between leaves an apply that another one settles, forwards or back. The design is in
//! `docs/design/commit.md`.
//!
//! The order for callers: `Vault::lock_folders`, settle [`UnfinishedApplies`], capture, plan, stage, swap, commit to the catalog,
//! finish. They hold `Vault::hold` from the capture to the commit.

mod apply;
mod backward;
mod error;
mod finish;
mod folder;
mod forward;
mod ground;
mod plan;
mod problem;
mod rewritten;
mod stage;
mod stamp;
mod step;
mod swap;
mod target;
mod touch;
mod unfinished;
mod writers;

pub use apply::Apply;
pub use plan::ApplyPlan;
pub use problem::{ApplyError, ApplyNote, ApplyProblem, Kept};
pub use rewritten::IsRewritten;
pub use target::{ApplyOptions, ApplyTarget};
pub use unfinished::{ClearedApply, UnfinishedApplies};
