//! Deciding one by one, in a terminal.

mod pages;

use std::collections::BTreeMap;

use offshoot_engine::approval::{Approval, ApprovalScope, ApprovalService, Approving};
use offshoot_engine::id::Id;

use self::pages::{Choice, Page, Pages};
use super::decide::{Decided, agreed_rule, carry_out};
use super::rows::{catch_up, pending};
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
    let (loaded, mut seen) = load(context, opened, service, found)?;
    let mut pages = Pages::new(loaded);
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
            let looked_at = seen.get(&approval.id).copied();
            match decide(context, opened, service, (&approval, looked_at), choice) {
                Ok(text) => {
                    pages.decided();
                    told.push(text);
                }
                Err(error) => {
                    // It may have changed since it was shown: what is approved next is what is shown now.
                    catch_up(context, opened, std::slice::from_ref(&approval));
                    let found = vec![service.find(&approval.id.to_string())?];
                    let (page, states) = load(context, opened, service, found)?;
                    let is_other = states.get(&approval.id).copied() != looked_at;
                    seen.remove(&approval.id);
                    seen.extend(states);
                    page.into_iter().for_each(|page| pages.replace(page));
                    pages.say(match is_other {
                        true => format!("{}; look again, it is shown as it is now", error.message),
                        false => error.message,
                    });
                }
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
    (approval, seen): (&Approval, Option<Id>),
    choice: Choice,
) -> Result<String> {
    let approve = |scope, rule| {
        let how = Approving { reason: None, scope, seen };
        carry_out(context, opened, approval, &how, rule).map(|done| done.text)
    };
    match choice {
        Choice::Approve => approve(ApprovalScope::Once, None),
        Choice::ApproveSession => approve(ApprovalScope::Session, None),
        Choice::ApproveAlways => {
            let rule = agreed_rule(false, context, &opened.vault, approval)?;
            approve(ApprovalScope::Always, rule)
        }
        Choice::Deny(reason) => {
            let reason = Some(reason).filter(|reason| !reason.is_empty());
            let denied = service.deny(approval, reason.as_deref())?;
            Ok(Decided::alone(&denied).text)
        }
    }
}

fn load(
    context: &Context,
    opened: &OpenVault,
    service: &ApprovalService<'_>,
    found: Vec<Approval>,
) -> Result<(Vec<Page>, BTreeMap<Id, Id>)> {
    let (mut pages, mut seen) = (Vec::new(), BTreeMap::new());
    let workspaces = opened.vault.workspaces()?;
    for approval in found {
        let (shown, trial) = show::shown(context, opened, service, &approval)?;
        let text =
            show::details(&approval, &shown, &workspaces) + &show::printed(shown.exec.as_ref());
        seen.extend(service.moved(&approval)?.map(|moved| (approval.id, moved.head)));
        let changes = trial.map(|trial| trial.text()).unwrap_or_default();
        pages.push(Page::new(approval, &text, &changes));
    }
    Ok((pages, seen))
}
