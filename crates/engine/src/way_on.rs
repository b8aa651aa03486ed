//! What to do next, for people.

use offshoot_protocol::{Goal, Hint, WayOnDoc};

use crate::text::line;

/// What to do about something that was just named, with the commands as they can be typed.
///
/// ```
/// use offshoot_engine::way_on;
/// use offshoot_protocol::{Goal, WayOnDoc};
///
/// let commands = vec!["offshoot undo -w fix".to_owned()];
/// let way = WayOnDoc { goal: Goal::Undo, when: None, commands };
/// assert_eq!(way_on::text(&way), "to undo it: `offshoot undo -w fix`");
/// ```
pub fn text(way: &WayOnDoc) -> String {
    hint(way).to_string()
}

/// The same, for an error.
pub(crate) fn hint(way: &WayOnDoc) -> Hint {
    let goal = match way.goal {
        Goal::Merge => "to merge it",
        Goal::Record => "to merge it, with the files as they are",
        Goal::Replace => "to take it instead",
        Goal::Apply => "to apply it",
        Goal::Show => "to see it",
        Goal::Decide => "to resolve them",
        Goal::Undo => "to undo it",
    };
    let when = way.when.as_deref().map(|when| format!(", {}", line(when))).unwrap_or_default();
    Hint::from(format!("{goal}{when}: ")).shell(commands(way))
}

/// The commands, in one line for a shell.
///
/// ```
/// use offshoot_engine::way_on;
/// use offshoot_protocol::{Goal, WayOnDoc};
///
/// let commands = vec!["git fetch".to_owned(), "git merge".to_owned()];
/// let way = WayOnDoc { goal: Goal::Merge, when: None, commands };
/// assert_eq!(way_on::commands(&way), "git fetch && git merge");
/// ```
pub fn commands(way: &WayOnDoc) -> String {
    line(&way.commands.join(" && "))
}

/// The commands that lead to one thing, where there are any.
///
/// ```
/// use offshoot_engine::way_on;
/// use offshoot_protocol::{Goal, WayOnDoc};
///
/// let commands = vec!["git fetch".to_owned(), "git merge".to_owned()];
/// let way = WayOnDoc { goal: Goal::Merge, when: None, commands };
/// assert_eq!(way_on::to(Goal::Undo, &[way]), None);
/// ```
pub fn to(goal: Goal, ways: &[WayOnDoc]) -> Option<String> {
    ways.iter().find(|way| way.goal == goal).map(commands)
}

/// The line that says how to take back what was done.
///
/// ```
/// use offshoot_engine::way_on::take_back;
/// use offshoot_protocol::{Goal, WayOnDoc};
///
/// let commands = vec!["offshoot undo -w fix".to_owned()];
/// let way = WayOnDoc { goal: Goal::Undo, when: None, commands };
/// assert_eq!(take_back(&[way]).as_deref(), Some("undo: offshoot undo -w fix"));
/// ```
pub fn take_back(ways: &[WayOnDoc]) -> Option<String> {
    to(Goal::Undo, ways).map(|commands| format!("undo: {commands}"))
}
