//! What two workspaces changed at the same time, for people.

use offshoot_engine::live::{Overlap, overlap_places};

use super::line;

/// At most so many files of two workspaces are named.
const MOST_NAMED: usize = 10;

/// Which two it is about.
pub(crate) fn heading(group: &[&Overlap]) -> String {
    let [one, other] = names(group);
    format!("{one} and {other} changed the same in different ways:")
}

/// A line for each file.
pub(crate) fn lines(group: &[&Overlap]) -> String {
    let mut text = String::new();
    for overlap in group.iter().take(MOST_NAMED) {
        let [one, other] = &overlap.sides;
        let path = line(&overlap.path.to_string());
        text.push_str(&match (overlap_places(one), overlap_places(other)) {
            (Some(mine), Some(theirs)) => {
                let (one, other) = (line(&one.workspace), line(&other.workspace));
                format!("  {path}  {mine} ({one}), {theirs} ({other})\n")
            }
            _ => format!("  {path}\n"),
        });
    }
    let more = group.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        text.push_str(&format!("  and {more} more\n"));
    }
    text
}

fn names(group: &[&Overlap]) -> [String; 2] {
    group[0].sides.clone().map(|side| line(&side.workspace))
}
