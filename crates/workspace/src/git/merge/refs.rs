//! Which refs move, one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::own_name::in_the_way;
use super::report::InUse;
use crate::error::Result;
use crate::git::repository::Refs;

/// The name of a ref.
pub(super) type Name = Vec<u8>;

/// What becomes of the target's refs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RefPlan {
    /// The target's refs afterwards, without those that are kept apart.
    pub(super) after: Refs,
    /// Refs that get another value.
    pub(super) set: BTreeMap<Name, Vec<u8>>,
    /// Refs that go, with what they were.
    pub(super) deleted: BTreeMap<Name, Vec<u8>>,
    /// Refs that were kept apart for the other side, and go because their branches have them.
    pub(super) merged: BTreeMap<Name, Vec<u8>>,
    /// Refs that stay though the other side moved or deleted them.
    pub(super) stays: BTreeMap<Name, Stays>,
}

/// Why a ref stays, and what the other side has; nothing where that deleted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    /// Both moved it.
    Both(Option<Vec<u8>>),
    /// There is no room for it beside this one.
    NoRoom(Name, Vec<u8>),
    /// The target's checkout needs it where it is, and cannot follow.
    InUse(Option<Vec<u8>>, InUse),
}

/// The stash, whose log matters as much as the ref.
pub(super) const STASH: &[u8] = b"refs/stash";

/// Where tags are.
pub(super) const TAGS: &[u8] = b"refs/tags/";

/// Tells whether a commit has another one in its history.
type Includes<'a> = &'a dyn Fn(&[u8], &[u8]) -> Result<bool>;

/// What refs are decided from.
pub(super) struct RefStates<'a> {
    pub(super) base: &'a Refs,
    pub(super) target: &'a Refs,
    pub(super) other: &'a Refs,
    /// Whether the other side's first commit has the second in its history.
    pub(super) there_includes: Includes<'a>,
    /// The same for the target.
    pub(super) here_includes: Includes<'a>,
    /// The start of the names under which the other side keeps refs of the target; nothing where it does not matter.
    pub(super) kept_there: Vec<Name>,
    /// What the other side's refs were when the target last took them in; nothing where it does not matter. A branch that is elsewhere
    /// by now has work of the target's own, which is not taken from it.
    pub(super) given: Option<Refs>,
    /// Branches that the target keeps the other side's commits apart from, though these came from them: their files did not come.
    pub(super) taken_back: BTreeSet<Name>,
}

impl RefStates<'_> {
    /// Whether the other side keeps a commit of the target under a name of its own: it has it, and went on without it.
    fn keeps_apart(&self, value: &[u8]) -> bool {
        self.other.iter().any(|(name, there)| there == value && self.is_kept(name))
    }

    /// Whether a branch of a target that follows is elsewhere than the other side's was.
    fn is_own_work(&self, name: &Name, here: &Vec<u8>) -> bool {
        let given = self.given.as_ref().filter(|_| name.starts_with(b"refs/heads/"));
        given.is_some_and(|given| given.get(name) != Some(here))
    }

    /// Whether a target that follows keeps a ref of the other side apart that its own branch does not have yet.
    fn is_still_apart(&self, name: &Name) -> Result<bool> {
        let kept = kept_from(self.target, name).filter(|_| self.given.is_some());
        match (kept, self.target.get(name)) {
            (Some((_, tip)), Some(here)) => Ok(!(self.here_includes)(tip, here)?),
            _ => Ok(false),
        }
    }

    fn is_kept(&self, name: &[u8]) -> bool {
        self.kept_there.iter().any(|start| name.starts_with(start))
    }

    /// What to do with a ref that the other side moved.
    fn decide(&self, name: &Name, there: &[u8]) -> Result<Decision> {
        let (was, here) = (self.base.get(name), self.target.get(name));
        // The target's own refs come back to it under the name that they were kept by.
        if self.is_kept(name) {
            let known = self.target.values().any(|value| value == there);
            let merged = || match kept_from(self.target, name) {
                Some((_, tip)) => (self.here_includes)(tip, there),
                None => Ok(false),
            };
            if known || merged()? {
                return Ok(Decision::Nothing);
            }
        }
        let Some(here) = here else { return Ok(Decision::Take) };
        let moved_here = Some(here) != was || self.is_own_work(name, here);
        let seen = !moved_here && !self.keeps_apart(here);
        // Whoever goes back has a commit that everybody had before: that the other side has it tells nothing.
        let went_back = match was.filter(|was| *was != here) {
            Some(was) => (self.here_includes)(was, here)?,
            None => false,
        };
        if went_back || self.taken_back.contains(name) {
            return Ok(Decision::Both);
        }
        // A branch goes on; a tag names one commit, and a newer one is another.
        let goes_on = !name.starts_with(TAGS);
        if seen || (goes_on && (self.there_includes)(there, here)?) {
            return Ok(Decision::Take);
        }
        if goes_on && moved_here && (self.here_includes)(here, there)? {
            return Ok(Decision::Nothing);
        }
        Ok(Decision::Both)
    }
}

/// What becomes of a ref that the other side moved.
enum Decision {
    Take,
    Nothing,
    Both,
}

/// Decides about every ref but HEAD, the stash, and what belongs to something in progress.
pub(super) fn plan(states: &RefStates<'_>, guarded: &BTreeMap<Name, InUse>) -> Result<RefPlan> {
    let RefStates { base, target, other, .. } = states;
    let mut plan = RefPlan { after: (*target).clone(), ..RefPlan::default() };
    let names: BTreeSet<&Name> = base.keys().chain(target.keys()).chain(other.keys()).collect();
    let mut wanted = Vec::new();
    for name in names.into_iter().filter(|name| is_movable(name)) {
        let (was, here, there) = (base.get(name), target.get(name), other.get(name));
        if there == was || there == here {
            continue;
        }
        let Some(there) = there else {
            if states.is_still_apart(name)? {
                continue;
            }
            // One that was moved here stays.
            match (here.filter(|here| Some(*here) == was), guarded.get(name)) {
                (Some(_), Some(why)) => {
                    plan.stays.insert(name.clone(), Stays::InUse(None, *why));
                }
                (Some(here), None) => {
                    plan.after.remove(name);
                    plan.deleted.insert(name.clone(), here.clone());
                }
                (None, _) => {}
            }
            continue;
        };
        match (states.decide(name, there)?, guarded.get(name)) {
            (Decision::Nothing, _) => {}
            // What a rebase moves is no further move of the target's.
            (Decision::Both, None | Some(InUse::CheckedOut)) => {
                plan.stays.insert(name.clone(), Stays::Both(Some(there.clone())));
            }
            (Decision::Both | Decision::Take, Some(why)) => {
                plan.stays.insert(name.clone(), Stays::InUse(Some(there.clone()), *why));
            }
            (Decision::Take, None) => wanted.push((name, there)),
        }
    }
    for (name, there) in wanted {
        let in_the_way = in_the_way(&plan.after, name).filter(|_| !target.contains_key(name));
        if let Some(beside) = in_the_way {
            let stays = Stays::NoRoom(beside.clone(), there.clone());
            plan.stays.insert(name.clone(), stays);
            continue;
        }
        plan.after.insert(name.clone(), there.clone());
        plan.set.insert(name.clone(), there.clone());
    }
    Ok(plan)
}

/// The branch that a ref was kept apart from, with its commit: `offshoot/SIDE/BRANCH`, or with a number.
pub(super) fn kept_from<'r>(refs: &'r Refs, name: &[u8]) -> Option<(&'r Name, &'r Vec<u8>)> {
    let below = name.strip_prefix(b"refs/heads/offshoot/")?;
    let at = below.iter().position(|byte| *byte == b'/')?;
    let branch = [b"refs/heads/", &below[at + 1..]].concat();
    let number = branch.iter().rposition(|byte| *byte == b'-');
    let plain = number.filter(|at| branch[at + 1..].iter().all(u8::is_ascii_digit));
    let plain = plain.map_or(&branch[..], |at| &branch[..at]);
    refs.get_key_value(branch.as_slice()).or_else(|| refs.get_key_value(plain))
}

fn is_movable(name: &[u8]) -> bool {
    let progress = [b"refs/bisect/".as_slice(), b"refs/rewritten/"];
    name != b"HEAD" && name != STASH && !progress.iter().any(|start| name.starts_with(start))
}

/// A list of packed refs without some of them.
pub(super) fn without_packed(text: &[u8], gone: &BTreeMap<Name, Vec<u8>>) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut dropped = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // A line that starts with `^` says what the tag before it points at.
        if !line.starts_with(b"^") {
            let name = line.iter().position(|byte| *byte == b' ').map(|at| &line[at + 1..]);
            let name = name.map(<[u8]>::trim_ascii_end);
            dropped = !line.starts_with(b"#") && name.is_some_and(|name| gone.contains_key(name));
        }
        if !dropped {
            kept.extend_from_slice(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(all: &[(&str, &str)]) -> Refs {
        let pair = |(name, value): &(&str, &str)| {
            (format!("refs/heads/{name}").into_bytes(), value.as_bytes().to_vec())
        };
        all.iter().map(pair).collect()
    }

    fn planned(base: &[(&str, &str)], target: &[(&str, &str)], other: &[(&str, &str)]) -> RefPlan {
        let guarded = [(b"refs/heads/out".to_vec(), InUse::CheckedOut)].into();
        // Longer values come from those that they start with.
        let includes = |a: &[u8], b: &[u8]| Ok(a.starts_with(b));
        let states = RefStates {
            base: &refs(base),
            target: &refs(target),
            other: &refs(other),
            there_includes: &includes,
            here_includes: &includes,
            kept_there: vec![b"refs/heads/offshoot/folder/".to_vec()],
            given: None,
            taken_back: BTreeSet::new(),
        };
        plan(&states, &guarded).unwrap()
    }

    #[test]
    fn what_one_side_has_merged_is_not_kept_apart() {
        let plan = planned(&[("a", "1")], &[("a", "12")], &[("a", "123")]);
        assert_eq!(plan.set, refs(&[("a", "123")]));
        let plan = planned(&[("a", "1")], &[("a", "123")], &[("a", "12")]);
        assert_eq!((plan.set, plan.stays), Default::default());
    }

    /// Such as by an undo: the files of the commits that are gone do not come back either.
    #[test]
    fn a_branch_that_went_back_does_not_follow() {
        let plan = planned(&[("a", "12")], &[("a", "1")], &[("a", "123")]);
        let both = Stays::Both(Some(b"123".to_vec()));
        assert_eq!(plan.stays, [(b"refs/heads/a".to_vec(), both)].into());
        assert!(plan.set.is_empty(), "{plan:?}");
    }

    #[test]
    fn a_tag_goes_nowhere_by_itself() {
        let refs = |value: &str| Refs::from([([TAGS, b"v1"].concat(), value.as_bytes().to_vec())]);
        let includes = |a: &[u8], b: &[u8]| Ok(a.starts_with(b));
        let planned = |base: &Refs, target: &Refs, other: &Refs| {
            let (there_includes, here_includes) = (&includes, &includes);
            let states = RefStates {
                base,
                target,
                other,
                there_includes,
                here_includes,
                kept_there: Vec::new(),
                given: None,
                taken_back: BTreeSet::new(),
            };
            plan(&states, &BTreeMap::new()).unwrap()
        };
        // Made on both sides, wherever it is.
        for (here, there) in [("1", "12"), ("12", "1")] {
            let plan = planned(&Refs::new(), &refs(here), &refs(there));
            assert!(plan.set.is_empty(), "{plan:?}");
            assert_eq!(plan.stays.len(), 1, "{plan:?}");
        }
        // Moved on one side.
        let plan = planned(&refs("1"), &refs("1"), &refs("12"));
        assert_eq!(plan.set, refs("12"));
    }

    #[test]
    fn what_was_kept_apart_and_never_merged_does_not_count_as_seen() {
        let base = [("main", "2")];
        let other = [("main", "3"), ("offshoot/folder/main", "2")];
        let plan = planned(&base, &base, &other);
        assert!(plan.set.is_empty(), "{plan:?}");
        let both = Stays::Both(Some(b"3".to_vec()));
        assert_eq!(plan.stays, [(b"refs/heads/main".to_vec(), both)].into());
        // Merged, or the name taken away: it moves.
        for other in [&[("main", "23"), ("offshoot/folder/main", "2")][..], &[("main", "3")]] {
            let plan = planned(&base, &base, other);
            assert_eq!(plan.set, refs(&other[..1]));
        }
    }

    #[test]
    fn a_ref_moves_only_from_where_it_was() {
        let base = [("a", "1"), ("b", "1"), ("c", "1"), ("d", "1"), ("e", "1"), ("f", "1")];
        let target = [("a", "1"), ("b", "2"), ("c", "2"), ("e", "1"), ("f", "2")];
        let other = [("a", "2"), ("b", "1"), ("c", "3"), ("d", "2")];
        let plan = planned(&base, &target, &other);
        // d was deleted here and moved there, e only deleted there, f moved here and deleted there.
        assert_eq!(plan.set, refs(&[("a", "2"), ("d", "2")]));
        assert_eq!(plan.deleted, refs(&[("e", "1")]));
        assert_eq!(plan.after, refs(&[("a", "2"), ("b", "2"), ("c", "2"), ("d", "2"), ("f", "2")]));
        let both = Stays::Both(Some(b"3".to_vec()));
        assert_eq!(plan.stays, [(b"refs/heads/c".to_vec(), both)].into());
    }

    #[test]
    fn what_is_checked_out_stays() {
        let plan = planned(&[("out", "1")], &[("out", "1")], &[("out", "2")]);
        let stays = Stays::InUse(Some(b"2".to_vec()), InUse::CheckedOut);
        assert_eq!(plan.stays, [(b"refs/heads/out".to_vec(), stays)].into());
        assert!(plan.set.is_empty());
    }

    #[test]
    fn names_that_do_not_fit_are_not_taken() {
        let plan = planned(&[], &[("a", "1")], &[("a/b", "2"), ("c", "2")]);
        assert_eq!(plan.set, refs(&[("c", "2")]));
        assert!(plan.stays.contains_key(b"refs/heads/a/b".as_slice()));
        // One that goes makes room.
        let plan = planned(&[("a", "1")], &[("a", "1")], &[("a/b", "2")]);
        assert_eq!(plan.set, refs(&[("a/b", "2")]));
    }

    #[test]
    fn packed_refs_go_with_what_they_point_at() {
        let text =
            b"# pack-refs with: peeled\n1 refs/heads/a\n2 refs/tags/t\n^3\n4 refs/tags/u\n^5\n";
        let gone = [(b"refs/tags/t".to_vec(), b"2".to_vec())].into();
        assert_eq!(
            without_packed(text, &gone),
            b"# pack-refs with: peeled\n1 refs/heads/a\n4 refs/tags/u\n^5\n"
        );
    }
}
