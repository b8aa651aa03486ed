//! The vault against ordinary directories, the real kernel, other processes and damaged disks.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests fail as tests do")]

#[path = "vault/adopt.rs"]
mod adopt;
#[path = "vault/audit.rs"]
mod audit;
#[path = "vault/bases.rs"]
mod bases;
#[path = "vault/bound.rs"]
mod bound;
#[path = "vault/children.rs"]
mod children;
#[path = "vault/closed.rs"]
mod closed;
#[path = "vault/compaction.rs"]
mod compaction;
#[path = "vault/compare.rs"]
mod compare;
#[path = "vault/crafted.rs"]
mod crafted;
#[path = "vault/crowd.rs"]
mod crowd;
#[path = "vault/damage.rs"]
mod damage;
#[path = "vault/depth.rs"]
mod depth;
#[path = "vault/execs.rs"]
mod execs;
#[path = "vault/formats.rs"]
mod formats;
#[path = "vault/garbage.rs"]
mod garbage;
#[path = "vault/left.rs"]
mod left;
#[path = "vault/leftovers.rs"]
mod leftovers;
#[path = "vault/links.rs"]
mod links;
#[path = "vault/locks.rs"]
mod locks;
#[path = "vault/merge.rs"]
mod merge;
#[path = "vault/mutations.rs"]
mod mutations;
#[path = "vault/overlay.rs"]
mod overlay;
#[path = "vault/placed.rs"]
mod placed;
#[path = "vault/read_only.rs"]
mod read_only;
#[path = "vault/records.rs"]
mod records;
#[path = "vault/reimport.rs"]
mod reimport;
#[path = "vault/repair.rs"]
mod repair;
#[path = "vault/round_trip.rs"]
mod round_trip;
#[path = "vault/session_garbage.rs"]
mod session_garbage;
#[path = "vault/sessions.rs"]
mod sessions;
#[path = "vault/stacks.rs"]
mod stacks;
#[path = "vault/support.rs"]
mod support;
#[path = "vault/symlinks.rs"]
mod symlinks;
#[path = "vault/upkeep.rs"]
mod upkeep;
#[path = "vault/wild.rs"]
mod wild;
