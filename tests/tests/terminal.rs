//! `offshoot run` in front of a person: terminals made for the tests, and tmux with programs that fill the screen.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "terminal/agents.rs"]
mod agents;
#[path = "terminal/approvals.rs"]
mod approvals;
#[path = "terminal/console.rs"]
mod console;
#[path = "terminal/endings.rs"]
mod endings;
#[path = "terminal/escapes.rs"]
mod escapes;
#[path = "terminal/everyday.rs"]
mod everyday;
#[path = "terminal/joins.rs"]
mod joins;
#[path = "terminal/keys.rs"]
mod keys;
#[path = "terminal/progress.rs"]
mod progress;
#[path = "terminal/prompts.rs"]
mod prompts;
#[path = "terminal/reviews.rs"]
mod reviews;
#[path = "terminal/screens.rs"]
mod screens;
#[path = "terminal/sessions.rs"]
mod sessions;
#[path = "terminal/tmux.rs"]
mod tmux;
#[path = "terminal/tours.rs"]
mod tours;
#[path = "terminal/typist.rs"]
mod typist;
