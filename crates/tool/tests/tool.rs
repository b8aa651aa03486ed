//! Tools in a real workspace: what models get to read, and what holds them back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "tool/attribute.rs"]
mod attribute;
#[path = "tool/commands.rs"]
mod commands;
#[path = "tool/files.rs"]
mod files;
#[path = "tool/history.rs"]
mod history;
#[path = "tool/limits.rs"]
mod limits;
#[path = "tool/session.rs"]
mod session;
#[path = "tool/support.rs"]
mod support;
#[path = "tool/web.rs"]
mod web;
