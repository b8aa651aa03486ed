//! What to do next, as programs see it.

use offshoot_protocol::{Goal, WayOnDoc};

use crate::exec::request::shell_word;
use crate::git::NextStep;

/// What to do about a ref that was kept apart.
pub fn way_on(way: &NextStep) -> WayOnDoc {
    WayOnDoc { goal: way.goal, when: way.when.clone(), commands: way.commands.clone() }
}

/// How conflicts of a commit get to where they can be decided.
pub(super) fn to_pull(workspace: &str) -> WayOnDoc {
    command(Goal::Decide, "pull", workspace)
}

/// How to see conflicts that a workspace has.
pub fn to_decide(workspace: &str) -> WayOnDoc {
    command(Goal::Decide, "conflicts", workspace)
}

/// How to take back what was done in a workspace.
pub(super) fn to_undo(workspace: &str) -> WayOnDoc {
    command(Goal::Undo, "undo", workspace)
}

fn command(goal: Goal, command: &str, workspace: &str) -> WayOnDoc {
    let command = format!("offshoot {command} -w {}", shell_word(workspace));
    WayOnDoc { goal, when: None, commands: vec![command] }
}
