//! How a merge must come out, by the simplest means: files are known by their numbers and lines by their text, so nothing has
//! to be guessed.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Body, File, Tree, all_lines, by_id};

/// Below this share of lines in common a moved file may be taken for another one.
const SURELY_ALIKE: f64 = 0.7;

/// What has to be decided at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Clash {
    /// Both sides changed lines that overlap or touch.
    Lines,
    /// Anything else.
    Other,
}

/// A merged state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// What is clear.
    pub(crate) tree: Tree,
    /// What is not, by path.
    pub(crate) conflicts: BTreeMap<String, Clash>,
    /// Numbers of the files that are not clear.
    pub(crate) unclear: BTreeSet<u64>,
    /// Links among them that one side moved to where the other has something else, and that the other did not touch: links are not
    /// followed, so they count as deleted and added.
    pub(crate) parted: BTreeSet<u64>,
    /// Where different files came to one path.
    pub(crate) disputed: BTreeSet<String>,
    /// Whether two files that are each in conflict came to one path. Who decides that decides twice.
    pub(crate) is_tangled: bool,
}

/// What becomes of one file.
enum Fate {
    Gone,
    Here(String, File),
    Conflict(Vec<String>, Clash),
}

/// Merges two states that came from one.
pub(crate) fn merge(base: &Tree, sides: [&Tree; 2]) -> Merged {
    let (base, sides) = (by_id(base), sides.map(by_id));
    let ids: BTreeSet<u64> =
        sides.iter().flat_map(|side| side.keys()).chain(base.keys()).copied().collect();
    let mut merged = Merged::default();
    let mut claims: BTreeMap<String, Vec<File>> = BTreeMap::new();
    let mut comers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for id in ids {
        let fate =
            fate(base.get(&id).copied(), [sides[0].get(&id).copied(), sides[1].get(&id).copied()]);
        match fate {
            Fate::Gone => {}
            Fate::Here(path, file) => {
                comers.entry(path.clone()).or_default().push(id);
                claims.entry(path).or_default().push(file);
            }
            Fate::Conflict(paths, clash) => {
                merged.unclear.insert(id);
                paths.iter().for_each(|path| comers.entry(path.clone()).or_default().push(id));
                merged.is_tangled |= paths.iter().any(|path| merged.conflicts.contains_key(path));
                merged.conflicts.extend(paths.into_iter().map(|path| (path, clash)));
            }
        }
    }
    merged.is_tangled |= comers.values().any(|ids| cannot_be_told_apart(ids, &base, &sides));
    for (path, mut files) in claims {
        let is_taken = merged.conflicts.contains_key(&path);
        match files.pop() {
            Some(file) if files.is_empty() && !is_taken => drop(merged.tree.insert(path, file)),
            last => {
                files.extend(last);
                for File { id, body, .. } in &files {
                    merged.unclear.insert(*id);
                    let untouched = |side: &BTreeMap<u64, _>| side.get(id) == base.get(id);
                    let is_link = matches!(body, Body::Link(_));
                    if is_link && base.contains_key(id) && sides.iter().any(untouched) {
                        merged.parted.insert(*id);
                    }
                }
                merged.disputed.insert(path.clone());
                merged.conflicts.insert(path, Clash::Other);
            }
        }
    }
    merged
}

type Found<'a> = Option<(&'a String, &'a File)>;
type ById<'a> = BTreeMap<u64, (&'a String, &'a File)>;

/// Whether both sides did something to several of the files that came to one path, and both wrote to one of them: what is shown there
/// is then no side's, and who decides for a side has to say what goes where.
fn cannot_be_told_apart(ids: &[u64], base: &ById<'_>, sides: &[ById<'_>; 2]) -> bool {
    let of_both = |id: &&u64| {
        let old = base.get(*id);
        old.is_some() && sides.iter().all(|side| side.contains_key(*id) && side.get(*id) != old)
    };
    let bodies = |id: &u64| sides.iter().map(|side| &side[id].1.body).collect::<Vec<_>>();
    let is_blended = |id: &&u64| {
        let (was, now) = (&base[*id].1.body, bodies(id));
        now[0] != now[1] && now.iter().all(|body| *body != was)
    };
    let of_both: Vec<&u64> = ids.iter().filter(of_both).collect();
    of_both.len() > 1 && of_both.iter().any(is_blended)
}

fn fate(base: Found<'_>, sides: [Found<'_>; 2]) -> Fate {
    let here = |found: (&String, &File)| Fate::Here(found.0.clone(), found.1.clone());
    match (base, sides) {
        (None, [Some(one), None] | [None, Some(one)]) => here(one),
        (Some(_), [None, None]) | (None, [None, None]) => Fate::Gone,
        (Some(base), [Some(one), None] | [None, Some(one)]) if base == one => Fate::Gone,
        (Some(_), [Some(one), None] | [None, Some(one)]) => {
            Fate::Conflict(vec![one.0.clone()], Clash::Other)
        }
        (Some(base), [Some(one), Some(other)]) => both_kept(base, [one, other]),
        // A file with one number that the base lacks came to both sides by a merge, which is then their base.
        (None, [Some(_), Some(_)]) => panic!("two sides cannot make one file"),
    }
}

fn both_kept(base: (&String, &File), sides: [(&String, &File); 2]) -> Fate {
    let moved: BTreeSet<&String> =
        sides.iter().map(|(path, _)| *path).filter(|path| *path != base.0).collect();
    let paths: Vec<String> = match moved.len() {
        0 => vec![base.0.clone()],
        _ => moved.into_iter().cloned().collect(),
    };
    let bodies = sides.map(|(_, file)| &file.body);
    let body = merge_bodies(&base.1.body, bodies);
    match (body, paths.as_slice()) {
        (Ok(body), [path]) => {
            let executable = changed(&base.1.executable, sides.map(|(_, file)| &file.executable));
            let executable = *executable.expect("a bit that both changed is changed to the same");
            Fate::Here(path.clone(), File { id: base.1.id, body, executable })
        }
        (Err(clash), [_]) => Fate::Conflict(paths, clash),
        (_, _) => Fate::Conflict(paths, Clash::Other),
    }
}

/// The value that changed, if the sides do not disagree.
pub(crate) fn changed<'a, T: PartialEq>(base: &'a T, [one, other]: [&'a T; 2]) -> Option<&'a T> {
    match (one == base, other == base) {
        (true, _) => Some(other),
        (_, true) => Some(one),
        _ => (one == other).then_some(one),
    }
}

pub(crate) fn merge_bodies(base: &Body, sides: [&Body; 2]) -> Result<Body, Clash> {
    if let Some(body) = changed(base, sides) {
        return Ok(body.clone());
    }
    match (base, sides) {
        (Body::Text(base), [Body::Text(one), Body::Text(other)]) => {
            merge_lines(base, [one, other]).map(Body::Text).ok_or(Clash::Lines)
        }
        _ => Err(Clash::Other),
    }
}

/// Cuts all three where a line of the base is kept by both sides; what lies between may be changed by one side only, or by
/// both in the same way.
pub(crate) fn merge_lines(base: &[String], sides: [&[String]; 2]) -> Option<Vec<String>> {
    let mut merged = Vec::new();
    let (mut base, mut sides) = (base, sides);
    loop {
        // In what is left of them: a line can have come before another one that it was behind.
        let anchor = base.iter().find(|line| sides.iter().all(|side| side.contains(line)));
        let parts = [base, sides[0], sides[1]].map(|lines| {
            let end = anchor.and_then(|anchor| lines.iter().position(|line| line == anchor));
            lines.split_at(end.unwrap_or(lines.len()))
        });
        let part = changed(&parts[0].0, [&parts[1].0, &parts[2].0])?;
        merged.extend(part.iter().cloned());
        let Some(anchor) = anchor else { return Some(merged) };
        merged.push(anchor.clone());
        (base, sides) = (&parts[0].1[1..], [&parts[1].1[1..], &parts[2].1[1..]]);
    }
}

/// Whether a file was moved and changed so much that it need not be taken for the same, or something else is where it was: a
/// merge takes that for the file itself, changed, since only what is gone from its path can have been moved.
pub(crate) fn is_hard_to_follow(base: &Tree, sides: [&Tree; 2]) -> bool {
    let files = by_id(base);
    sides.into_iter().flatten().any(|(path, file)| {
        let is_another = base.get(path).is_some_and(|old| old.id != file.id);
        is_another
            || files.get(&file.id).is_some_and(|(old_path, old)| {
                *old_path != path
                    && old.body != file.body
                    && likeness(&old.body, &file.body) < SURELY_ALIKE
            })
    })
}

/// The share of lines that two texts have in common; nothing is alike that is no text.
pub(crate) fn likeness(one: &Body, other: &Body) -> f64 {
    let (one, other) = (one.lines(), other.lines());
    let common = one.iter().filter(|line| other.contains(line)).count();
    common as f64 / one.len().max(other.len()).max(1) as f64
}

/// A second opinion about a merge without conflicts, that knows nothing of files or places: a line is there if a side has it, and
/// no side took it away.
pub(crate) fn lines_that_must_be<'a>(base: &'a Tree, sides: [&'a Tree; 2]) -> BTreeSet<&'a String> {
    let (base, [one, other]) = (all_lines(base), sides.map(all_lines));
    let is_taken =
        |line: &&String| base.contains(*line) && !(one.contains(*line) && other.contains(*line));
    one.union(&other).copied().filter(|line| !is_taken(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn check(base: &str, one: &str, other: &str, expected: Option<&str>) {
        let (base, one, other) = (lines(base), lines(one), lines(other));
        assert_eq!(merge_lines(&base, [&one, &other]), expected.map(lines), "{one:?} {other:?}");
        assert_eq!(merge_lines(&base, [&other, &one]), expected.map(lines), "{other:?} {one:?}");
    }

    #[test]
    fn lines_are_merged_where_one_lies_between() {
        check("1 2 3 4 5", "a 2 3 4 5", "1 2 3 4 b", Some("a 2 3 4 b"));
        check("1 2 3", "a 2 3", "1 2 b", Some("a 2 b"));
        check("1 2 3", "1 x 2 3", "1 2 3 y", Some("1 x 2 3 y"));
        check("1 2 3", "2 3", "2 3", Some("2 3"));
    }

    #[test]
    fn what_overlaps_or_touches_is_a_conflict() {
        check("1 2 3", "a 2 3", "1 b 3", None);
        check("1 2 3", "1 x 2 3", "1 y 2 3", None);
        check("1 2 3", "1 x 2 3", "1 3", None);
        check("1 2 3", "3", "1", None);
    }
}
