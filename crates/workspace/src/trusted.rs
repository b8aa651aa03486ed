//! Files that something on the host runs, obeys or trusts when somebody merely opens the project or runs a usual command in it.
//!
//! Which these are is data (`knowledge/trusted.toml`); files that the settings of a repository name come on top. What git itself obeys in
//! its directories is found by `git::planted`.

mod files;
mod links;
mod places;
mod settings;
mod table;

pub(crate) use files::{Surroundings, TrustedFiles};
pub(crate) use settings::read as read_settings;
pub use table::{TrustedFile, TrustedTable};
