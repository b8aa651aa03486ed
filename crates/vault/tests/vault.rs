//! The vault against ordinary directories, the real kernel, other processes and damaged disks.

#[path = "vault/adopt.rs"]
mod adopt;
#[path = "vault/children.rs"]
mod children;
#[path = "vault/compare.rs"]
mod compare;
#[path = "vault/crowd.rs"]
mod crowd;
#[path = "vault/damage.rs"]
mod damage;
#[path = "vault/depth.rs"]
mod depth;
#[path = "vault/leftovers.rs"]
mod leftovers;
#[path = "vault/links.rs"]
mod links;
#[path = "vault/reimport.rs"]
mod reimport;
#[path = "vault/round_trip.rs"]
mod round_trip;
#[path = "vault/stacks.rs"]
mod stacks;
#[path = "vault/support.rs"]
mod support;
#[path = "vault/wild.rs"]
mod wild;
