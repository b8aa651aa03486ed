//! Package caches, which a vault keeps for all of its workspaces.

pub use offshoot_vault::CacheInfo;
pub use offshoot_workspace::CacheService;
