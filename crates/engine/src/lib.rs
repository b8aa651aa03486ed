//! Offshoot as a library: what every door to it does, done once.

pub mod account;
mod activity;
pub mod adopt;
pub mod commit;
mod error;
pub mod exec;
pub mod git;
pub mod locate;
mod maintenance;
mod notice;
mod offshoot;
mod opened;
mod options;
pub mod project;
mod projects;
pub mod review;
pub mod rules;
pub mod settings;
pub mod upkeep;
pub mod way_on;
pub mod words;
mod workspace;

pub use error::{Error, Result};
pub use notice::{Notice, Topic};
pub use offshoot::Offshoot;
pub use options::{Listener, Options, ShowProgress};
pub use project::Project;
pub use workspace::Workspace;
