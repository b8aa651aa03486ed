//! What to do next, as programs see it.

use offshoot_protocol::{GoalDoc, WayOnDoc};

use crate::exec::request::shell_word;
use crate::git::{Goal, WayOn};

/// What to do about a ref that was kept apart.
pub fn way_on(way: &WayOn) -> WayOnDoc {
    let goal = match way.goal {
        Goal::Merge => GoalDoc::Merge,
        Goal::Record => GoalDoc::Record,
        Goal::Replace => GoalDoc::Replace,
        Goal::Apply => GoalDoc::Apply,
        Goal::Show => GoalDoc::Show,
    };
    WayOnDoc { goal, when: way.when.clone(), commands: way.commands.clone() }
}

/// How conflicts of a commit get to where they can be decided.
pub(super) fn to_pull(workspace: &str) -> WayOnDoc {
    command(GoalDoc::Decide, "pull", workspace)
}

/// How to see conflicts that a workspace has.
pub fn to_decide(workspace: &str) -> WayOnDoc {
    command(GoalDoc::Decide, "conflicts", workspace)
}

/// How to take back what was done in a workspace.
pub(super) fn to_undo(workspace: &str) -> WayOnDoc {
    command(GoalDoc::Undo, "undo", workspace)
}

fn command(goal: GoalDoc, command: &str, workspace: &str) -> WayOnDoc {
    let command = format!("offshoot {command} -w {}", shell_word(workspace));
    WayOnDoc { goal, when: None, commands: vec![command] }
}
