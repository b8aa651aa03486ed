//! The host directories that a vault is bound to.

mod bind;
mod change;
mod error;
mod git;
mod git_directory;
mod host;
mod place;
mod refresh;
mod service;

pub use bind::Bound;
pub use change::{NewBinding, Rebound, shown_name};
pub use error::BindingError;
pub use git_directory::{GitDirectory, GitLeftReason, GitTaking, LeftGit};
pub use place::check_folder;
pub use refresh::Refreshed;
pub use service::BindingService;

pub(crate) use git::{take as take_git_directory, warning as git_warning};
pub(crate) use host::{capture, host_place, named, require_same, shared_directories};
