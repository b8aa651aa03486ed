//! Runs one process confined.
//!
//! A [`Spec`] says in plain data what the inside looks like; [`launch`] makes it with namespaces and mounts and starts
//! the command under a small init of its own. The caller drives the running command with [`Running::drive`], and gets
//! back how it [`Ended`] together with a [`Keeper`]: the init, which still has the capabilities of the namespace and
//! opens for the caller what ordinary permissions refuse.
//!
//! Between `clone3` and `execve` nothing allocates, locks or unwinds: the child of a process with several threads may
//! do nothing else. Everything it needs is prepared by the parent as a script.

mod bell;
mod broker;
mod cancel;
mod covers;
mod error;
mod filter;
mod ids;
mod in_force;
mod init;
mod inside_file;
mod join;
mod keeper;
mod launch;
mod layout;
mod looked;
mod message;
mod probe;
mod proxy;
mod room;
mod running;
mod script;
mod signals;
mod spec;
#[expect(unsafe_code, reason = "system calls that no safe wrapper offers")]
mod sys;
mod walls;

pub use cancel::{Cancel, Requests};
pub use error::{Result, SandboxError};
pub use in_force::{DiscardedDirectory, InForce, Renames, Restriction};
pub use inside_file::{read_inside, write_inside};
pub use join::{Joined, JoinedEnd, join, make_door};
pub use keeper::Keeper;
pub use launch::{keep, launch, launch_noted};
pub use offshoot_vocabulary::{Demand, HomeView, Network, ResourceLimit};
pub use probe::{attempt, read_through};
pub use proxy::{MOST_PORTS, NetworkSockets, ProxyPorts};
pub use room::{Room, Stream};
pub use running::{Ended, Observer, Running, Status, Timeout, Usage};
pub use signals::Signals;
pub use spec::{
    Bare, CacheMount, Files, FolderMount, InotifyLimit, Limits, Overlay, Program, Spec, Stdin,
    Terminal, UpperDirectories, WorkspaceMount, WrittenFile,
};
pub use sys::give_way;
pub use walls::Walls;
