//! `offshoot commit --settle`: which way to go with a commit that was interrupted.

use std::cell::RefCell;

use clap::ValueEnum;
use offshoot_engine::commit::{CommitEvent, Direction};
use offshoot_engine::vault::Vault;
use offshoot_protocol::{SettleDoc, SettledDoc};

use crate::context::Context;
use crate::error::Result;

/// Which way to settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Way {
    /// Take the commit back
    Back,
    /// Finish the commit
    Forward,
}

/// Settles what was interrupted, and does nothing else.
pub(super) fn run(way: Way, context: &Context, vault: &Vault) -> Result<()> {
    let settled = RefCell::new(Vec::new());
    let told = |event: &CommitEvent| {
        if let CommitEvent::Settled(one) = event {
            let (summary, how) = (one.summary.clone(), one.how);
            settled.borrow_mut().push(SettledDoc { summary, how });
        }
        context.engine.tell_event(event);
    };
    let direction = match way {
        Way::Back => Direction::Back,
        Way::Forward => Direction::Forward,
    };
    context.engine.settle(vault, direction, &told)?;
    let document = SettleDoc { settled: settled.take() };
    context.output.done(document, |document| match document.settled.as_slice() {
        [] => "nothing was interrupted\n".to_owned(),
        _ => "settled; nothing else was committed\n".to_owned(),
    })
}
