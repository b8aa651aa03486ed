//! Directories that are moved, deleted and made.

use offshoot_tree::ConflictKind;
use offshoot_tree::RootId;
use offshoot_tree::merge::{Base, MergeOptions};

use super::support::{Place, found, long, only};
use crate::support::{meta, path};

/// A base with three files in `/old`, and one below.
fn base(place: &Place) -> RootId {
    let files = ["a", "b", "c", "deep/d"].map(|name| (format!("/old/{name}"), long(name)));
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    place.state(&[files.as_slice(), &[("/x", "x")]].concat())
}

fn moved(place: &Place, root: &RootId, from: &str, to: &str) -> RootId {
    place.from(root, |editor| {
        let entry = editor.remove(&path(from)).unwrap();
        let to = path(to);
        editor.make_directories(&to.parent().unwrap(), &meta(0o755)).unwrap();
        editor.put(&to, entry).unwrap();
    })
}

fn names(place: &Place, root: &RootId) -> Vec<String> {
    place.leaves(root).into_keys().collect()
}

#[test]
fn what_is_added_follows_a_directory_that_was_moved() {
    let place = Place::new();
    let base = base(&place);
    let ours = moved(&place, &base, "/old", "/dir/new");
    let theirs = place.change(
        &base,
        &[
            ("/old/added", Some("1")),
            ("/old/deep/added", Some("2")),
            ("/old/fresh/added", Some("3")),
            ("/old/a", Some(&long("a").replace("number 3", "number three"))),
        ],
    );
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let expected = [
        "/dir/new/a",
        "/dir/new/added",
        "/dir/new/b",
        "/dir/new/c",
        "/dir/new/deep/added",
        "/dir/new/deep/d",
        "/dir/new/fresh/added",
        "/x",
    ];
    assert_eq!(names(&place, &merged.root), expected);
    assert!(!place.everything(&merged.root).contains_key("/old"), "nothing stays behind");
    let texts = place.texts(&merged.root);
    assert!(texts["/dir/new/a"].contains("number three"));

    let options = MergeOptions { directory_renames: false, ..MergeOptions::default() };
    let without = place.merge_with(&Base::Root(base), &[ours, theirs], &options);
    assert!(names(&place, &without.root).contains(&"/old/added".to_owned()));
}

#[test]
fn a_file_that_is_moved_into_a_moved_directory_follows() {
    let place = Place::new();
    let base = place.change(&base(&place), &[("/other", Some(&long("other")))]);
    let ours = moved(&place, &base, "/old", "/new");
    let theirs = moved(&place, &base, "/other", "/old/other");
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    assert!(names(&place, &merged.root).contains(&"/new/other".to_owned()));
}

#[test]
fn a_directory_that_went_to_two_places_is_for_somebody_to_decide() {
    let place = Place::new();
    let base = base(&place);
    let mut ours = base;
    for (name, to) in [("a", "one"), ("b", "one"), ("c", "two"), ("deep", "one/deep")] {
        ours = moved(&place, &ours, &format!("/old/{name}"), &format!("/{to}/{name}"));
    }
    let ours = place.from(&ours, |editor| drop(editor.remove(&path("/old")).unwrap()));
    let theirs = place.change(&base, &[("/old/added", Some("1"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    assert_eq!(place.texts(&merged.root)["/one/added"], "1", "most of its files went there");

    let even = place.state(&[("/old/a", &long("a")), ("/old/b", &long("b"))]);
    let ours = moved(&place, &moved(&place, &even, "/old/a", "/one/a"), "/old/b", "/two/b");
    let ours = place.from(&ours, |editor| drop(editor.remove(&path("/old")).unwrap()));
    let theirs = place.change(&even, &[("/old/added", Some("1"))]);
    let merged = place.merge_both_ways(&even, &ours, &theirs);
    only(&merged, "/old/added", ConflictKind::DirectoryRename);
    assert_eq!(place.texts(&merged.root)["/old/added"], "1");
}

#[test]
fn what_would_land_on_something_else_stays() {
    let place = Place::new();
    let base = place.change(&base(&place), &[("/new/added", Some("in the way"))]);
    let mut ours = base;
    for name in ["a", "b", "c", "deep"] {
        ours = moved(&place, &ours, &format!("/old/{name}"), &format!("/new/{name}"));
    }
    let ours = place.from(&ours, |editor| drop(editor.remove(&path("/old")).unwrap()));
    let theirs = place.change(&base, &[("/old/added", Some("1"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    only(&merged, "/old/added", ConflictKind::DirectoryRename);
    let texts = place.texts(&merged.root);
    assert_eq!((texts["/old/added"].as_str(), texts["/new/added"].as_str()), ("1", "in the way"));
}

#[test]
fn a_deleted_directory_stays_for_what_is_new_in_it() {
    let place = Place::new();
    let base = base(&place);
    let ours = place.from(&base, |editor| drop(editor.remove(&path("/old")).unwrap()));
    let theirs = place.change(&base, &[("/old/added", Some("1"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    assert_eq!(names(&place, &merged.root), ["/old/added", "/x"]);
    assert!(!place.everything(&merged.root).contains_key("/old/deep"));
}

#[test]
fn empty_directories_come_and_go() {
    let place = Place::new();
    let with = |root: &RootId, name: &str| {
        place.from(root, |editor| editor.make_directories(&path(name), &meta(0o755)).unwrap())
    };
    let base = with(&place.state(&[("/x", "x")]), "/gone");
    let ours = place.from(&base, |editor| drop(editor.remove(&path("/gone")).unwrap()));
    let theirs = with(&base, "/new/inner");
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let all: Vec<String> = place.everything(&merged.root).into_keys().collect();
    assert_eq!(all, ["/new", "/new/inner", "/x"]);
}

#[test]
fn a_directory_moved_by_both_sides_the_same_way() {
    let place = Place::new();
    let base = base(&place);
    let ours = place.change(&moved(&place, &base, "/old", "/new"), &[("/new/ours", Some("o"))]);
    let theirs = place.change(&moved(&place, &base, "/old", "/new"), &[("/new/theirs", Some("t"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let expected = ["/new/a", "/new/b", "/new/c", "/new/deep/d", "/new/ours", "/new/theirs", "/x"];
    assert_eq!(names(&place, &merged.root), expected);
}
