//! Sides with more than one base, and bases that are found in history.

use offshoot_store::Id;
use offshoot_tree::ConflictKind;
use offshoot_tree::RootId;
use offshoot_tree::merge::{Base, MergeOptions};
use offshoot_vault::{NewSnapshot, Vault};

use super::support::{Place, found, only, texts};
use crate::support::actor;

/// Notes a state in history.
fn snapshot(vault: &Vault, root: RootId, parents: &[Id]) -> Id {
    let content = vault.objects().unwrap().root(&root).unwrap().directory().unwrap().content;
    let (parents, reason) = (parents.to_vec(), "test".to_owned());
    let new = NewSnapshot { root, content, parents, reason, message: None };
    vault.transact("test", &actor(), |tx| Ok(tx.add_snapshot(new)?.id)).unwrap().value
}

/// Two lines of history that merged each other and went on.
struct Crossed {
    origin: RootId,
    left: RootId,
    right: RootId,
}

impl Crossed {
    fn new(place: &Place) -> Self {
        let origin = place.state(&[("/a", "1\n2\n3\n4\n5\n6\n7\n"), ("/b", "b\n")]);
        let left = place.change(&origin, &[("/a", Some("left\n2\n3\n4\n5\n6\n7\n"))]);
        let right = place.change(&origin, &[("/a", Some("1\n2\n3\n4\n5\n6\nright\n"))]);
        Self { origin, left, right }
    }

    fn base(&self) -> Base {
        Base::Several {
            roots: vec![self.left, self.right],
            base: Box::new(Base::Root(self.origin)),
        }
    }
}

#[test]
fn several_bases_are_merged_first() {
    let place = Place::new();
    let crossed = Crossed::new(&place);
    // Both have merged left and right; one then took the change of the left back, the other changed the middle.
    let ours = place.change(&crossed.origin, &[("/a", Some("1\n2\n3\n4\n5\n6\nright\n"))]);
    let theirs =
        place.change(&crossed.origin, &[("/a", Some("left\n2\n3\nmiddle\n5\n6\nright\n"))]);
    let options = MergeOptions::default();
    for sides in [[ours, theirs], [theirs, ours]] {
        let merged = place.merge_with(&crossed.base(), &sides, &options);
        assert_eq!(found(&merged), []);
        let expected = texts(&[("/a", "1\n2\n3\nmiddle\n5\n6\nright\n"), ("/b", "b\n")]);
        assert_eq!(place.texts(&merged.root), expected, "what was taken back stays so");
    }
    // With one base alone what was taken back would return, or clash.
    let merged = place.merge(&crossed.origin, &[ours, theirs]);
    assert_eq!(place.texts(&merged.root)["/a"], "left\n2\n3\nmiddle\n5\n6\nright\n");
}

#[test]
fn bases_that_clash_are_no_conflict_where_the_sides_agree() {
    let place = Place::new();
    let origin = place.state(&[("/a", "1\n2\n3\n"), ("/gone", "g\n")]);
    let left = place.change(&origin, &[("/a", Some("left\n2\n3\n")), ("/gone", None)]);
    let right = place.change(&origin, &[("/a", Some("right\n2\n3\n")), ("/gone", Some("h\n"))]);
    let base = Base::Several { roots: vec![left, right], base: Box::new(Base::Root(origin)) };
    // Both sides decided the clash in the same way.
    let decided = place.change(&origin, &[("/a", Some("both\n2\n3\n")), ("/gone", Some("h\n"))]);
    let ours = place.change(&decided, &[("/ours", Some("o"))]);
    let theirs = place.change(&decided, &[("/theirs", Some("t"))]);
    let options = MergeOptions::default();
    let merged = place.merge_with(&base, &[ours, theirs], &options);
    assert_eq!(found(&merged), []);
    assert_eq!(place.texts(&merged.root)["/a"], "both\n2\n3\n");
    // And in different ways.
    let theirs = place.change(&theirs, &[("/a", Some("other\n2\n3\n"))]);
    only(&place.merge_with(&base, &[ours, theirs], &options), "/a", ConflictKind::Content);
}

#[test]
fn sides_without_a_base_are_all_new() {
    let place = Place::new();
    let ours = place.state(&[("/a", "1\n"), ("/ours", "o")]);
    let theirs = place.state(&[("/a", "1\n"), ("/theirs", "t")]);
    let merged = place.merge_with(&Base::Nothing, &[ours, theirs], &MergeOptions::default());
    assert_eq!(found(&merged), []);
    let expected = texts(&[("/a", "1\n"), ("/ours", "o"), ("/theirs", "t")]);
    assert_eq!(place.texts(&merged.root), expected);
}

#[test]
fn bases_are_found_in_history() {
    let place = Place::new();
    let vault = &place.vault;
    let crossed = Crossed::new(&place);
    let origin = snapshot(vault, crossed.origin, &[]);
    let left = snapshot(vault, crossed.left, &[origin]);
    let right = snapshot(vault, crossed.right, &[origin]);
    assert_eq!(vault.merge_base(&[left, right]).unwrap(), Base::Root(crossed.origin));
    assert_eq!(vault.merge_base(&[left, origin]).unwrap(), Base::Root(crossed.origin));
    assert_eq!(vault.merge_base(&[left, left]).unwrap(), Base::Root(crossed.left));
    let both = place.merge(&crossed.origin, &[crossed.left, crossed.right]).root;
    let ours = snapshot(vault, both, &[left, right]);
    let theirs = snapshot(vault, both, &[right, left]);
    let Base::Several { roots, base } = vault.merge_base(&[ours, theirs]).unwrap() else {
        panic!("two lines that crossed have two bases")
    };
    assert_eq!(*base, Base::Root(crossed.origin));
    assert!(roots.contains(&crossed.left) && roots.contains(&crossed.right) && roots.len() == 2);
    assert_eq!(vault.merge_base(&[ours, left]).unwrap(), Base::Root(crossed.left));
    let stranger = snapshot(vault, crossed.left, &[]);
    assert_eq!(vault.merge_base(&[stranger, ours]).unwrap(), Base::Nothing);
    assert_eq!(vault.merge_base(&[ours, left, right]).unwrap(), Base::Root(crossed.origin));
}
