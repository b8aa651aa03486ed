//! Offshoot as a library: what every door to it does, done once.
//!
//! An [`Offshoot`] opens the [`Project`] of a folder, a project forks [`Workspace`]s, and a workspace runs commands, shows what they
//! changed, and brings it into the folder. All handles are cheap to clone and good for all threads; nothing here prints, prompts or
//! exits. Whatever a handle does not do is in the module of its noun: [`commit`], [`exec`], [`review`], [`vault`] and so on.
//!
//! ```
//! use offshoot_engine::{Offshoot, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
//! # std::fs::create_dir(&folder)?;
//! # std::fs::write(folder.join("greeting"), "helo\n")?;
//! let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
//! let fix = offshoot.project(&folder)?.fork("fix")?;
//! fix.write("/greeting", b"hello\n")?;
//! for change in fix.diff()? {
//!     println!("{:?} {}", change.kind(), change.path);
//! }
//! fix.commit("Mend the greeting")?;
//! assert_eq!(std::fs::read(folder.join("greeting"))?, b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! Commands run in workspaces, confined, while the caller goes on:
//!
//! ```no_run
//! # fn main() -> offshoot_engine::Result<()> {
//! use offshoot_engine::{Offshoot, Options};
//!
//! let project = Offshoot::open(Options::from_process())?.project(".")?;
//! let exec = project.exec(["cargo", "test"])?;
//! println!("{:?}", exec.wait().result.exit_code);
//! # Ok(())
//! # }
//! ```

mod activity;
pub mod actor;
pub mod approval;
pub mod audit;
pub mod binding;
pub mod cache;
pub mod change;
pub mod checkpoint;
pub mod commit;
pub mod compaction;
pub mod config_file;
pub mod conflict;
pub mod conversation;
pub mod diff;
pub mod difference;
pub mod edit;
pub mod error;
pub mod exec;
pub mod fetch;
pub mod file;
pub mod gc;
pub mod git;
pub mod id;
pub mod import;
#[cfg(doctest)]
mod library;
pub mod lines;
pub mod listing;
pub mod live;
pub mod machine;
pub mod maintenance;
pub mod merge;
pub mod model;
mod notice;
mod offshoot;
mod opened;
pub mod operation;
mod options;
pub mod path_glob;
pub mod policy;
pub mod preset;
pub mod project;
pub mod pull;
pub mod recover;
pub mod reference;
pub mod report;
pub mod review;
pub mod sandbox;
pub mod search;
pub mod session;
pub mod settings;
pub mod snapshot;
pub mod status;
pub mod text;
pub mod tool_server;
pub mod tool_trust;
pub mod vault;
pub mod way_on;
pub mod wire;
pub mod workspace;

pub use error::{Error, Result};
pub use notice::{Notice, Topic};
pub use offshoot::Offshoot;
pub use options::{Listener, Options, ShowProgress};
pub use project::Project;
pub use workspace::Workspace;
