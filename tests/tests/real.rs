//! Real programs in workspaces: what they do and say there is what they do and say on plain files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "real/agents.rs"]
mod agents;
#[path = "real/bound.rs"]
mod bound;
#[path = "real/caches.rs"]
mod caches;
#[path = "real/cargo.rs"]
mod cargo;
#[path = "real/endings.rs"]
mod endings;
#[path = "real/files.rs"]
mod files;
#[path = "real/full.rs"]
mod full;
#[path = "real/git.rs"]
mod git;
#[path = "real/git_commit.rs"]
mod git_commit;
#[path = "real/git_elsewhere.rs"]
mod git_elsewhere;
#[path = "real/git_export.rs"]
mod git_export;
#[path = "real/git_home.rs"]
mod git_home;
#[path = "real/git_planted.rs"]
mod git_planted;
#[path = "real/git_remembered.rs"]
mod git_remembered;
#[path = "real/git_scene.rs"]
mod git_scene;
#[path = "real/git_stores.rs"]
mod git_stores;
#[path = "real/known.rs"]
mod known;
#[path = "real/make.rs"]
mod make;
#[path = "real/merged.rs"]
mod merged;
#[path = "real/npm.rs"]
mod npm;
#[path = "real/output.rs"]
mod output;
#[path = "real/overlay.rs"]
mod overlay;
#[path = "real/python.rs"]
mod python;
#[path = "real/registries.rs"]
mod registries;
#[path = "real/renames.rs"]
mod renames;
#[path = "real/room.rs"]
mod room;
#[path = "real/scene.rs"]
mod scene;
#[path = "real/sharing.rs"]
mod sharing;
#[path = "real/sqlite.rs"]
mod sqlite;
#[path = "real/system.rs"]
mod system;
