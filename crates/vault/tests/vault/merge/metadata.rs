//! Modes, owners, times, attributes and links of what is merged.

use offshoot_tree::ConflictKind;
use offshoot_tree::{Entry, RootId};

use super::support::{Place, found, only};
use crate::support::{NOON, file, meta, path};

/// A state in which the entry at `/a` is changed.
fn with(place: &Place, base: &RootId, change: impl FnOnce(&mut Entry)) -> RootId {
    place.from(base, |editor| {
        let mut entry = editor.get(&path("/a")).unwrap().unwrap();
        change(&mut entry);
        editor.put(&path("/a"), entry).unwrap();
    })
}

fn entry(place: &Place, root: &RootId) -> Entry {
    place.leaves(root)["/a"].clone()
}

fn mode_of(modes: [u16; 3]) -> (u16, Vec<ConflictKind>) {
    let place = Place::new();
    let [before, ours, theirs] = modes;
    let base = place.state(&[("/a", "1\n"), ("/x", "x")]);
    let base = with(&place, &base, |entry| entry.meta.mode = before);
    // A change elsewhere, so that neither side is the result as it is.
    let ours = with(&place, &base, |entry| entry.meta.mode = ours);
    let ours = place.change(&ours, &[("/x", None)]);
    let theirs = with(&place, &base, |entry| entry.meta.mode = theirs);
    let theirs = place.change(&theirs, &[("/y", Some("y"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let kinds = found(&merged).into_iter().map(|(_, kind)| kind).collect();
    (entry(&place, &merged.root).meta.mode, kinds)
}

#[test]
fn modes_are_merged_in_two_parts() {
    let clean = |mode| (mode, Vec::new());
    assert_eq!(mode_of([0o644, 0o755, 0o644]), clean(0o755));
    assert_eq!(mode_of([0o644, 0o755, 0o755]), clean(0o755));
    assert_eq!(mode_of([0o644, 0o755, 0o664]), clean(0o775));
    assert_eq!(mode_of([0o755, 0o644, 0o4755]), clean(0o4644));
    // Nobody may execute what another side let nobody else read.
    assert_eq!(mode_of([0o644, 0o755, 0o600]), clean(0o700));
    let conflict = |mode| (mode, vec![ConflictKind::Mode]);
    assert_eq!(mode_of([0o644, 0o600, 0o640]), conflict(0o600));
    assert_eq!(mode_of([0o644, 0o664, 0o2644]), conflict(0o644));
    assert_eq!(mode_of([0o644, 0o744, 0o755]), conflict(0o744));
}

#[test]
fn owners_times_and_attributes_are_merged_one_by_one() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n2\n3\n")]);
    let base = with(&place, &base, |entry| {
        (entry.meta.uid, entry.meta.gid) = (1, 2);
        entry.meta.xattrs = vec![(b"user.a".to_vec(), b"1".to_vec())];
    });
    let ours = with(&place, &base, |entry| {
        entry.meta.uid = 10;
        entry.meta.mtime.seconds += 5;
        entry.meta.xattrs = Vec::new();
        entry.body = file(&place.vault, b"one\n2\n3\n").body;
    });
    let theirs = with(&place, &base, |entry| {
        entry.meta.gid = 20;
        entry.meta.mtime.seconds += 7;
        entry.meta.xattrs.push((b"user.b".to_vec(), b"2".to_vec()));
        entry.body = file(&place.vault, b"1\n2\nthree\n").body;
    });
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let entry = entry(&place, &merged.root);
    assert_eq!((entry.meta.uid, entry.meta.gid), (10, 20));
    assert_eq!(entry.meta.mtime.seconds, NOON.seconds + 7, "the newer time");
    assert_eq!(entry.meta.xattrs, [(b"user.b".to_vec(), b"2".to_vec())]);
    assert_eq!(place.bytes(&entry), b"one\n2\nthree\n");
}

#[test]
fn owners_and_attributes_that_differ_are_conflicts() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n")]);
    let owner = |uid| with(&place, &base, |entry| entry.meta.uid = uid);
    let merged = place.merge_both_ways(&base, &owner(7), &owner(8));
    only(&merged, "/a", ConflictKind::Owner);
    assert_eq!(entry(&place, &merged.root).meta.uid, 7);
    let xattr = |value: &str| {
        let xattr = (b"user.a".to_vec(), value.as_bytes().to_vec());
        with(&place, &base, |entry| entry.meta.xattrs = vec![xattr])
    };
    let merged = place.merge_both_ways(&base, &xattr("x"), &xattr("y"));
    only(&merged, "/a", ConflictKind::Xattr);
    assert_eq!(entry(&place, &merged.root).meta.xattrs[0].1, b"x");
}

#[test]
fn directories_have_modes_and_times_too() {
    let place = Place::new();
    let folder = |root: &RootId, mode: u16, seconds: i64| {
        place.from(root, |editor| {
            let mut entry = editor.get(&path("/d")).unwrap().unwrap();
            entry.meta.mode = mode;
            entry.meta.mtime.seconds = seconds;
            editor.put(&path("/d"), entry).unwrap();
        })
    };
    let base = folder(&place.state(&[("/d/a", "1\n"), ("/x", "x")]), 0o755, 10);
    let ours = folder(&base, 0o700, 20);
    let theirs = folder(&place.change(&base, &[("/d/b", Some("b"))]), 0o755, 30);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let meta = place.everything(&merged.root)["/d"].meta.clone();
    assert_eq!((meta.mode, meta.mtime.seconds), (0o700, 30));
    assert_eq!(place.leaves(&merged.root).len(), 3);
    let merged = place.merge_both_ways(&base, &ours, &folder(&base, 0o750, 30));
    only(&merged, "/d", ConflictKind::Mode);
    assert_eq!(place.everything(&merged.root)["/d"].meta.mode, 0o700);
}

#[test]
fn the_top_directory_is_merged_like_others() {
    let place = Place::new();
    let top = |root: &RootId, mode: u16| {
        place.from(root, |editor| {
            let mut entry = place.vault.objects().unwrap().root(root).unwrap();
            entry.meta.mode = mode;
            editor.put(&path("/"), entry).unwrap();
        })
    };
    let base = top(&place.state(&[("/a", "1")]), 0o755);
    let theirs = place.change(&base, &[("/b", Some("2"))]);
    let merged = place.merge_both_ways(&base, &top(&base, 0o700), &theirs);
    assert_eq!(found(&merged), []);
    assert_eq!(place.vault.objects().unwrap().root(&merged.root).unwrap().meta.mode, 0o700);
    only(
        &place.merge_both_ways(&base, &top(&base, 0o700), &top(&base, 0o750)),
        "/",
        ConflictKind::Mode,
    );
}

/// Names of one inode stay one where both sides wrote to it.
#[test]
fn hard_links_stay_together() {
    let place = Place::new();
    let linked = |text: &str| Entry { group: Some(5), ..file(&place.vault, text.as_bytes()) };
    let both = |root: &RootId, text: &str| {
        place.from(root, |editor| {
            editor.put(&path("/a"), linked(text)).unwrap();
            editor.put(&path("/b"), linked(text)).unwrap();
        })
    };
    let base = both(&place.state(&[]), "1\n2\n3\n");
    let (ours, theirs) = (both(&base, "one\n2\n3\n"), both(&base, "1\n2\nthree\n"));
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let found = place.leaves(&merged.root);
    assert_eq!(Entry { name: b"b".to_vec(), ..found["/a"].clone() }, found["/b"]);
    assert_eq!(found["/a"].group, Some(5));
    assert_eq!(place.bytes(&found["/a"]), b"one\n2\nthree\n");

    // One side made a file of its own of one name: then it is one.
    let split = place.from(&base, |editor| {
        editor.put(&path("/a"), file(&place.vault, b"1\n2\n3\nfour\n")).unwrap();
    });
    let merged = place.merge_both_ways(&base, &ours, &split);
    let found = place.leaves(&merged.root);
    assert_eq!(found["/a"].group, None);
    assert_eq!(place.bytes(&found["/b"]), b"one\n2\n3\n");
}

#[test]
fn new_directories_of_both_sides_become_one() {
    let place = Place::new();
    let base = place.state(&[("/x", "x")]);
    let ours = place.change(&base, &[("/d/ours", Some("o"))]);
    let theirs = place.change(&base, &[("/d/theirs", Some("t"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    assert_eq!(place.leaves(&merged.root).len(), 3);
    let private = place.from(&base, |editor| {
        editor.make_directories(&path("/d"), &meta(0o700)).unwrap();
    });
    only(&place.merge_both_ways(&base, &ours, &private), "/d", ConflictKind::Mode);
}
