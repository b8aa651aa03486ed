//! What to do next, with the commands as they mean the same on another command line.

use offshoot_engine::way_on;
use offshoot_engine::wire;
use offshoot_protocol::{Goal, RepositoryNoteDoc, WayOnDoc};

use crate::invocation::completed_line;

/// What to do about something that was just named.
pub(crate) fn text(way: &WayOnDoc) -> String {
    way_on::text(&completed(way.clone()))
}

/// The commands, in one line for a shell.
pub(crate) fn commands(way: &WayOnDoc) -> String {
    way_on::commands(&completed(way.clone()))
}

/// The commands that lead to one thing, where there are any.
pub(crate) fn to(goal: Goal, ways: &[WayOnDoc]) -> Option<String> {
    way_on::to(goal, &all_completed(ways.to_vec()))
}

/// The line that says how to take back what was done.
pub(crate) fn take_back(ways: &[WayOnDoc]) -> Option<String> {
    way_on::take_back(&all_completed(ways.to_vec()))
}

/// The same for programs.
pub(crate) fn all_completed(ways: Vec<WayOnDoc>) -> Vec<WayOnDoc> {
    ways.into_iter().map(completed).collect()
}

/// What happened to repositories, for programs.
pub(crate) fn repositories(report: &offshoot_engine::git::GitReport) -> Vec<RepositoryNoteDoc> {
    let mut notes = wire::repositories(report);
    for note in &mut notes {
        note.way_on = note.way_on.take().map(completed);
    }
    notes
}

fn completed(mut way: WayOnDoc) -> WayOnDoc {
    way.commands.iter_mut().for_each(|command| *command = completed_line(command));
    way
}
