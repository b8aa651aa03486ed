//! What two workspaces changed at the same time, for people.

use offshoot_engine::live::{Overlap, OverlapSide};
use offshoot_protocol::Hint;

use super::line;
use crate::invocation::next;

/// At most so many files of two workspaces are named.
const MOST_NAMED: usize = 10;
/// At most so many places of a file are.
const MOST_PLACES: usize = 3;

/// What belongs to the same two workspaces.
pub(crate) fn groups(overlaps: &[Overlap]) -> Vec<Vec<&Overlap>> {
    let pair = |overlap: &Overlap| overlap.sides.clone().map(|side| side.workspace);
    let mut groups: Vec<Vec<&Overlap>> = Vec::new();
    for overlap in overlaps {
        match groups.iter_mut().find(|group| pair(group[0]) == pair(overlap)) {
            Some(group) => group.push(overlap),
            None => groups.push(vec![overlap]),
        }
    }
    groups
}

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
        text.push_str(&match (places(one), places(other)) {
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

/// One line about another workspace, for who has just worked in the first.
pub(crate) fn notice(group: &[&Overlap]) -> String {
    let [_, other] = names(group);
    let first = group[0];
    let path = line(first.path.to_string().trim_start_matches('/'));
    let places = places(&first.sides[1]).map(|places| format!(" {places}")).unwrap_or_default();
    let more = match group.len() {
        1 => String::new(),
        2 => " and 1 more file".to_owned(),
        count => format!(" and {} more files", count - 1),
    };
    format!("{other} also changed {path}{places}{more}; {}", way_out(group))
}

/// What to do about it.
pub(crate) fn way_out(group: &[&Overlap]) -> String {
    let [one, other] = names(group);
    let pull = next(Hint::command("offshoot pull -w").arg(&other));
    format!("commit {one} first, then `{pull}` brings both together there")
}

fn names(group: &[&Overlap]) -> [String; 2] {
    group[0].sides.clone().map(|side| line(&side.workspace))
}

/// Where in a file; none where it is about all of it.
fn places(side: &OverlapSide) -> Option<String> {
    let place = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let shown: Vec<String> = side.lines.iter().take(MOST_PLACES).map(place).collect();
    let word = match side.lines.as_slice() {
        [] => return None,
        [(first, last)] if first == last => "line",
        _ => "lines",
    };
    let more = if side.lines.len() > MOST_PLACES { ", ..." } else { "" };
    Some(format!("{word} {}{more}", shown.join(", ")))
}
