//! Registries: their rules, their folder, and clients of several.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "registry/fixture.rs"]
mod fixture;
#[path = "registry/folder.rs"]
mod folder;
#[path = "registry/rules.rs"]
mod rules;
#[path = "registry/several.rs"]
mod several;
