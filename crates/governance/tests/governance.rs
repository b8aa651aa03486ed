//! Rules, escalations, observers and the outbox, from outside.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "governance/escalations.rs"]
mod escalations;
#[path = "governance/files.rs"]
mod files;
#[path = "governance/layers.rs"]
mod layers;
#[path = "governance/observers.rs"]
mod observers;
#[path = "governance/outbox.rs"]
mod outbox;
#[path = "governance/rego.rs"]
mod rego;
#[path = "governance/requests.rs"]
mod requests;
#[path = "governance/rules.rs"]
mod rules;
#[path = "governance/support.rs"]
mod support;
