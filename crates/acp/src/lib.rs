//! Offshoot between an editor and a coding agent, which speak the Agent Client Protocol: the agent runs confined, in a workspace.
//!
//! To the editor this is the agent, to the agent it is the editor. The design is in `docs/design/acp.md`.

mod approval;
mod changes;
mod commands;
mod editor;
mod fault;
mod files;
mod hub;
mod lines;
mod link;
mod message;
mod name;
mod open;
mod permission;
mod place;
mod prompt;
mod receive;
mod serve;
mod session;
mod settings;
mod start;
mod trial;

pub use serve::serve;
pub use settings::{AcpSettings, Log};
