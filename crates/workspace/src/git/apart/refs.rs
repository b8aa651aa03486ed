//! Which refs move, one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::own_name::collides;
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
    /// Refs that stay though the other side moved or deleted them.
    pub(super) stays: BTreeMap<Name, Stays>,
}

/// Why a ref stays, and what the other side has; nothing where that deleted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stays {
    /// Both moved it, or there is no room for it.
    Both(Option<Vec<u8>>),
    /// It is checked out in the target, where that cannot follow.
    CheckedOut(Option<Vec<u8>>),
}

/// The stash, whose log matters as much as the ref.
pub(super) const STASH: &[u8] = b"refs/stash";

/// Decides about every ref but HEAD, the stash, and what belongs to something in progress.
pub(super) fn plan(base: &Refs, target: &Refs, other: &Refs, guarded: &BTreeSet<Name>) -> RefPlan {
    let mut plan = RefPlan { after: target.clone(), ..RefPlan::default() };
    let names: BTreeSet<&Name> = base.keys().chain(target.keys()).chain(other.keys()).collect();
    let mut wanted = Vec::new();
    for name in names.into_iter().filter(|name| is_movable(name)) {
        let (was, here, there) = (base.get(name), target.get(name), other.get(name));
        if there == was || there == here {
            continue;
        }
        let moved_here = here != was && here.is_some();
        match there {
            _ if moved_here && there.is_none() => {}
            _ if moved_here => drop(plan.stays.insert(name.clone(), Stays::Both(there.cloned()))),
            _ if guarded.contains(name) => {
                plan.stays.insert(name.clone(), Stays::CheckedOut(there.cloned()));
            }
            None => {
                plan.after.remove(name);
                plan.deleted.extend(here.map(|here| (name.clone(), here.clone())));
            }
            Some(there) => wanted.push((name, there)),
        }
    }
    for (name, there) in wanted {
        if !target.contains_key(name) && collides(&plan.after, name) {
            plan.stays.insert(name.clone(), Stays::Both(Some(there.clone())));
            continue;
        }
        plan.after.insert(name.clone(), there.clone());
        plan.set.insert(name.clone(), there.clone());
    }
    plan
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
        let guarded = [b"refs/heads/out".to_vec()].into();
        plan(&refs(base), &refs(target), &refs(other), &guarded)
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
        let stays = Stays::CheckedOut(Some(b"2".to_vec()));
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
