//! The host directories that a vault is bound to.

mod bind;
mod bindable;
mod change;
mod error;
mod git;
mod git_directory;
mod host;
mod planted;
mod refresh;
mod service;

pub use bind::Bound;
pub use bindable::check_folder;
pub use change::{NewBinding, Rebound, shown_name};
pub use error::BindingError;
pub use git_directory::{GitDirectory, GitDirectoryOptions, GitUnboundReason, UnboundGitDirectory};
pub use refresh::Refreshed;
pub use service::BindingService;

pub(crate) use git::{take as take_git_directory, warning as git_warning};
pub(crate) use host::{capture, named, path_on_host, require_same, shared_directories};
