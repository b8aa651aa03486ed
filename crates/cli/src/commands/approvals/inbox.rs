//! Deciding one by one, in a terminal.

mod pages;

use offshoot_engine::approval::{Approval, ApprovalScope, ApprovalService, Approving};
use offshoot_engine::wire;

use self::pages::{Choice, Page, Pages};
use super::decide::{Decided, agreed_rule, carry_out};
use super::rows::pending;
use super::show;
use crate::context::{Context, OpenVault};
use crate::error::Result;
use crate::screen::Screen;
use crate::terminal;

/// What is said where it ends before somebody is done.
const UNFINISHED: &str = "what was not decided still waits";

/// Shows what waits until it is decided or left.
pub(super) fn run(
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
) -> Result<()> {
    let found = pending(context, opened, service)?;
    if found.is_empty() {
        return context.output.text("nothing waits for an approval\n");
    }
    let mut pages = Pages::new(load(context, opened, found)?);
    let mut screen = Screen::enter(UNFINISHED)?;
    let mut told = Vec::new();
    'shown: loop {
        if let Some((lines, columns)) = terminal::size() {
            pages.resize(lines, columns);
        }
        screen.draw(&pages.screen())?;
        for key in screen.read()? {
            let Some((approval, choice)) = pages.press(key) else {
                if pages.is_over() {
                    break 'shown;
                }
                continue;
            };
            // What is not tried runs at the terminal as it was.
            drop(screen);
            match decide(context, opened, service, &approval, choice) {
                Ok(text) => {
                    pages.decided();
                    told.push(text);
                }
                Err(error) => pages.say(error.message),
            }
            if pages.is_over() {
                return context.output.text(&told.concat());
            }
            screen = Screen::enter(UNFINISHED)?;
        }
    }
    drop(screen);
    context.output.text(&told.concat())
}

fn decide(
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
    approval: &Approval,
    choice: Choice,
) -> Result<String> {
    let approve = |scope, rule| {
        let how = Approving { reason: None, scope };
        carry_out(context, opened, approval, &how, rule).map(|done| done.text)
    };
    match choice {
        Choice::Approve => approve(ApprovalScope::Once, None),
        Choice::ApproveSession => approve(ApprovalScope::Session, None),
        Choice::ApproveAlways => {
            let rule = agreed_rule(false, context, &opened.vault, approval)?;
            approve(ApprovalScope::Always, Some(rule))
        }
        Choice::Deny(reason) => {
            let reason = Some(reason).filter(|reason| !reason.is_empty());
            let denied = service.deny(approval, reason.as_deref())?;
            Ok(Decided::alone(&denied).text)
        }
    }
}

fn load(context: &Context, opened: &OpenVault, found: Vec<Approval>) -> Result<Vec<Page>> {
    let workspaces = opened.vault.workspaces()?;
    let mut pages = Vec::new();
    for approval in found {
        let exec = show::envelope(opened, &approval)?;
        let item = wire::listed_approval(&approval, &workspaces);
        let text = show::details(&approval, item.workspace.as_deref(), exec.as_ref())
            + &show::printed(exec.as_ref());
        let patch = show::patch(context, &opened.vault, &approval)?.unwrap_or_default();
        pages.push(Page::new(approval, &text, &patch));
    }
    Ok(pages)
}
