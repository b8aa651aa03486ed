//! Templates, guardrails, budgets and plans, from outside.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "prompt/budgets.rs"]
mod budgets;
#[path = "prompt/graphs.rs"]
mod graphs;
#[path = "prompt/guards.rs"]
mod guards;
#[path = "prompt/personal.rs"]
mod personal;
#[path = "prompt/prompts.rs"]
mod prompts;
#[path = "prompt/support.rs"]
mod support;
#[path = "prompt/templates.rs"]
mod templates;
