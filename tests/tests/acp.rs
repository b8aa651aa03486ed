//! Agents for editors: the real binary between an editor, made by the official library, and an agent that does as it is told.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "acp/approvals.rs"]
mod approvals;
#[path = "acp/editor.rs"]
mod editor;
#[path = "acp/endings.rs"]
mod endings;
#[path = "acp/permissions.rs"]
mod permissions;
#[path = "acp/sessions.rs"]
mod sessions;
