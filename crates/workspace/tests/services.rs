//! The services as every surface calls them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "services/checkpoints.rs"]
mod checkpoints;
#[path = "services/copies.rs"]
mod copies;
#[path = "services/crowd.rs"]
mod crowd;
#[path = "services/decisions.rs"]
mod decisions;
#[path = "services/files.rs"]
mod files;
#[path = "services/imports.rs"]
mod imports;
#[path = "services/model.rs"]
mod model;
#[path = "services/planted.rs"]
mod planted;
#[path = "services/policies.rs"]
mod policies;
#[path = "services/repositories.rs"]
mod repositories;
#[path = "services/resolver.rs"]
mod resolver;
#[path = "services/reviews.rs"]
mod reviews;
#[path = "services/support.rs"]
mod support;
#[path = "services/symlinks.rs"]
mod symlinks;
#[path = "services/trusted.rs"]
mod trusted;
#[path = "services/undo.rs"]
mod undo;
#[path = "services/workspaces.rs"]
mod workspaces;
