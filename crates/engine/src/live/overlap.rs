//! What two workspaces changed at the same time, in words.

use offshoot_protocol::Hint;
use offshoot_workspace::{Overlap, OverlapSide};

use crate::text::line;

/// Of so many other workspaces whoever has just worked is told.
const MOST_TOLD: usize = 3;
/// At most so many places of a file are named.
const MOST_PLACES: usize = 3;

/// What belongs to the same two workspaces.
///
/// ```
/// use offshoot_engine::live::overlap_groups;
///
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// let (_, overlaps) = project.engine().work_so_far(project.vault())?;
/// println!("{} pairs", overlap_groups(&overlaps).len());
/// # Ok(())
/// # }
/// ```
pub fn overlap_groups(overlaps: &[Overlap]) -> Vec<Vec<&Overlap>> {
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

/// What to do about files that two workspaces changed.
///
/// ```
/// use offshoot_engine::live::{overlap_groups, overlap_way_out};
///
/// # fn example(overlaps: &[offshoot_engine::live::Overlap]) {
/// for group in overlap_groups(overlaps) {
///     println!("{}", overlap_way_out(&group));
/// }
/// # }
/// ```
pub fn overlap_way_out(group: &[&Overlap]) -> Hint {
    let [one, other] = &group[0].sides;
    Hint::default()
        .text(format!("commit {} first, then ", line(&one.workspace)))
        .then("offshoot pull -w")
        .arg(&other.workspace)
        .text(" brings both together there")
}

/// What somebody is told who has just worked in the first workspace of each: a line for each of the others, of which the last may be
/// counted.
///
/// ```
/// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
/// use offshoot_engine::live::overlap_notices;
///
/// let project = workspace.project();
/// let found = project.engine().overlaps(project.vault(), &workspace.record()?)?;
/// for notice in overlap_notices(&found) {
///     eprintln!("{notice}");
/// }
/// # Ok(())
/// # }
/// ```
pub fn overlap_notices(overlaps: &[Overlap]) -> Vec<Hint> {
    let groups = overlap_groups(overlaps);
    let mut told: Vec<Hint> = groups.iter().take(MOST_TOLD).map(|group| notice(group)).collect();
    let more = groups.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        let who = if more == 1 {
            "1 more workspace".to_owned()
        } else {
            format!("{more} more workspaces")
        };
        let rest = Hint::default().text(format!("{who} changed the same; "));
        told.push(rest.then("offshoot status --all").text(" lists them"));
    }
    told
}

/// One line about another workspace.
fn notice(group: &[&Overlap]) -> Hint {
    let (first, side) = (group[0], &group[0].sides[1]);
    let path = line(first.path.to_string().trim_start_matches('/'));
    let places = overlap_places(side).map(|places| format!(" {places}")).unwrap_or_default();
    let more = match group.len() {
        1 => String::new(),
        2 => " and 1 more file".to_owned(),
        count => format!(" and {} more files", count - 1),
    };
    let other = line(&side.workspace);
    Hint::default()
        .text(format!("{other} also changed {path}{places}{more}"))
        .and(overlap_way_out(group))
}

/// Where in a file something was changed; none where it is about all of it.
///
/// ```
/// use offshoot_engine::live::{OverlapSide, overlap_places};
///
/// let side = OverlapSide { workspace: "fix".to_owned(), lines: vec![(1, 1), (4, 6)] };
/// assert_eq!(overlap_places(&side).as_deref(), Some("lines 1, 4-6"));
/// ```
pub fn overlap_places(side: &OverlapSide) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_others_three_are_told_and_the_rest_is_counted() {
        let side = |name: &str| OverlapSide { workspace: name.to_owned(), lines: vec![(2, 2)] };
        let overlap = |number: usize| Overlap {
            path: offshoot_tree::VaultPath::top().join(b"a"),
            kind: offshoot_tree::ConflictKind::Content,
            sides: [side("mine"), side(&format!("w{number}"))],
        };
        let told = |count: usize| {
            let all: Vec<Overlap> = (0..count).map(overlap).collect();
            overlap_notices(&all).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            told(1),
            [
                "w0 also changed a line 2; commit mine first, then `offshoot pull -w w0` brings both together there"
            ]
        );
        assert_eq!(told(3).len(), 3);
        assert_eq!(
            told(4)[3],
            "1 more workspace changed the same; `offshoot status --all` lists them"
        );
        assert_eq!(
            told(9)[3],
            "6 more workspaces changed the same; `offshoot status --all` lists them"
        );
    }
}
