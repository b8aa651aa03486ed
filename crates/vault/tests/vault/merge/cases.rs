//! One test for each row of the table of cases.

use offshoot_text::markers::has_markers_of;
use offshoot_tree::ConflictKind;
use offshoot_tree::merge::{Base, MergeOptions};
use offshoot_tree::{Body, Entry};

use super::support::{Place, found, long, only, texts};
use crate::support::{meta, path};

#[test]
fn changes_of_both_sides_come_together() {
    let place = Place::new();
    let base = place.state(&[("/edited", "1\n2\n3\n"), ("/deleted", "x\n"), ("/same", "y\n")]);
    let ours = place.change(&base, &[("/edited", Some("one\n2\n3\n")), ("/ours", Some("o\n"))]);
    let theirs = place.change(
        &base,
        &[("/edited", Some("1\n2\nthree\n")), ("/deleted", None), ("/dir/theirs", Some("t\n"))],
    );
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let expected = [
        ("/edited", "one\n2\nthree\n"),
        ("/ours", "o\n"),
        ("/dir/theirs", "t\n"),
        ("/same", "y\n"),
    ];
    assert_eq!(place.texts(&merged.root), texts(&expected));
    assert_eq!(merged.statistics.texts, 1);
    assert_eq!(merged.statistics.changes.len(), 2);
}

#[test]
fn a_file_that_one_side_changed_is_taken_whole() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n"), ("/b", "1\n")]);
    let entry = Entry {
        meta: offshoot_tree::Meta {
            mode: 0o4751,
            uid: 12,
            gid: 34,
            mtime: offshoot_host::Mtime { seconds: -5, nanoseconds: 7 },
            xattrs: vec![(b"user.x".to_vec(), b"y".to_vec())],
        },
        group: Some(9),
        ..crate::support::file(&place.vault, b"2\n")
    };
    let ours = place.from(&base, |editor| editor.put(&path("/a"), entry.clone()).unwrap());
    let theirs = place.change(&base, &[("/b", Some("2\n"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(place.leaves(&merged.root)["/a"], Entry { name: b"a".to_vec(), ..entry });
}

#[test]
fn the_same_change_on_both_sides_is_no_conflict() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n"), ("/b", "1\n"), ("/c", &long("c"))]);
    let changes =
        [("/a", Some("2\n")), ("/b", None), ("/new", Some("3\n")), ("/c", None), ("/d", Some("d"))];
    let ours = place.change(&base, &[changes.as_slice(), &[("/only", Some("o"))]].concat());
    let theirs = place.change(&base, &changes);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!((found(&merged), merged.root), (vec![], ours));
}

#[test]
fn lines_that_both_changed_are_marked() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n2\n3\n4\n5\n")]);
    let ours = place.change(&base, &[("/a", Some("one\n2\n3\n4\nfive\n"))]);
    let theirs = place.change(&base, &[("/a", Some("uno\n2\n3\n4\n5\n6\n"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, "/a", ConflictKind::Content);
    let expected = "<<<<<<< ours\none\n||||||| base\n1\n=======\nuno\n>>>>>>> theirs\n2\n3\n4\n\
                    <<<<<<< ours\nfive\n||||||| base\n5\n=======\n5\n6\n>>>>>>> theirs\n";
    assert_eq!(place.texts(&merged.root), texts(&[("/a", expected)]));
    assert_eq!(conflict.regions.len(), 2);
    assert_eq!(
        (conflict.regions[0].base.clone(), conflict.regions[0].changed.clone()),
        (0..1, vec![0, 1])
    );
    assert!(has_markers_of(expected.as_bytes(), conflict.marker_length.unwrap()));
    let sides: Vec<_> =
        conflict.sides.iter().flatten().map(|version| place.bytes(&version.entry)).collect();
    assert_eq!(sides, [&b"one\n2\n3\n4\nfive\n"[..], b"uno\n2\n3\n4\n5\n6\n"]);
    assert_eq!(place.bytes(&conflict.base.as_ref().unwrap().entry), b"1\n2\n3\n4\n5\n");
}

#[test]
fn line_ends_and_a_missing_last_newline_are_kept() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\r\n2\r\n3\r\n4"), ("/b", "1\r\n2\r\n")]);
    let ours =
        place.change(&base, &[("/a", Some("one\r\n2\r\n3\r\n4")), ("/b", Some("one\r\n2\r\n"))]);
    let theirs =
        place.change(&base, &[("/a", Some("1\r\n2\r\n3\r\n4\r\n5")), ("/b", Some("uno\r\n2\r\n"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    only(&merged, "/b", ConflictKind::Content);
    let found = place.texts(&merged.root);
    assert_eq!(found["/a"], "one\r\n2\r\n3\r\n4\r\n5");
    let marked =
        "<<<<<<< ours\r\none\r\n||||||| base\r\n1\r\n=======\r\nuno\r\n>>>>>>> theirs\r\n2\r\n";
    assert_eq!(found["/b"], marked);
}

#[test]
fn what_is_not_text_is_merged_whole() {
    let place = Place::new();
    let base = place.state(&[("/a", "\x001\n2\n3\n"), ("/b", "\x001\n2\n3\n")]);
    let ours = place.change(&base, &[("/a", Some("\x00one\n2\n3\n"))]);
    let theirs = place.change(&base, &[("/a", Some("\x001\n2\nthree\n")), ("/b", Some("text"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, "/a", ConflictKind::Content);
    assert_eq!((conflict.marker_length, conflict.regions.len()), (None, 0));
    let expected = texts(&[("/a", "\x00one\n2\n3\n"), ("/b", "text")]);
    assert_eq!(place.texts(&merged.root), expected);
}

#[test]
fn long_files_are_merged_whole() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n2\n3\n")]);
    let ours = place.change(&base, &[("/a", Some("one\n2\n3\n"))]);
    let theirs = place.change(&base, &[("/a", Some("1\n2\nthree\n"))]);
    let with = |max_text_bytes| {
        let options = MergeOptions { max_text_bytes, ..MergeOptions::default() };
        place.merge_with(&Base::Root(base), &[ours, theirs], &options)
    };
    assert_eq!(found(&with(10)), []);
    only(&with(9), "/a", ConflictKind::Content);
}

#[test]
fn a_merged_file_can_be_longer_than_what_fits_into_an_object() {
    let place = Place::new();
    let lines: Vec<String> = (0..9000).map(|n| format!("line {n}\n")).collect();
    let with = |at: usize, text: &str| {
        let mut lines = lines.clone();
        text.clone_into(&mut lines[at]);
        lines.concat()
    };
    let base = place.state(&[("/a", &lines.concat())]);
    let ours = place.change(&base, &[("/a", Some(&with(10, "ours\n")))]);
    let theirs = place.change(&base, &[("/a", Some(&with(8000, "theirs\n")))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let mut both = lines;
    "ours\n".clone_into(&mut both[10]);
    "theirs\n".clone_into(&mut both[8000]);
    assert_eq!(place.texts(&merged.root)["/a"], both.concat());
}

#[test]
fn different_files_at_one_new_path() {
    let place = Place::new();
    let base = place.state(&[("/x", "x")]);
    let ours = place.change(&base, &[("/a", Some("same\nours\nend\n"))]);
    let theirs = place.change(&base, &[("/a", Some("same\ntheirs\nend\n"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, "/a", ConflictKind::AddAdd);
    assert_eq!(conflict.base, None);
    let expected = "same\n<<<<<<< ours\nours\n||||||| base\n=======\ntheirs\n>>>>>>> theirs\nend\n";
    assert_eq!(place.texts(&merged.root)["/a"], expected);
}

#[test]
fn what_one_side_deleted_and_another_changed_stays() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n"), ("/touched", "1\n")]);
    let ours = place.change(&base, &[("/a", None), ("/touched", None)]);
    let theirs = place.from(&base, |editor| {
        place.put(editor, "/a", "2\n");
        let mut entry = editor.get(&path("/touched")).unwrap().unwrap();
        entry.meta.mtime.seconds += 100;
        editor.put(&path("/touched"), entry).unwrap();
    });
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, "/a", ConflictKind::DeleteModify);
    assert!(conflict.base.is_some() && conflict.sides[0].is_none() && conflict.sides[1].is_some());
    assert_eq!(place.texts(&merged.root), texts(&[("/a", "2\n")]), "a new time keeps nothing");
}

#[test]
fn a_moved_file_takes_the_changes_of_the_other_side_along() {
    let place = Place::new();
    let (old, moved) = (long("a"), long("a").replace("number 1\n", "number one\n"));
    let base = place.state(&[("/a", &old)]);
    let ours = place.change(&base, &[("/a", None), ("/dir/b", Some(&moved))]);
    let theirs = place.change(&base, &[("/a", Some(&old.replace("number 9", "number nine")))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), []);
    let expected = moved.replace("number 9", "number nine");
    assert_eq!(place.texts(&merged.root), texts(&[("/dir/b", &expected)]));
    let rename = &merged.renames[0];
    assert_eq!(
        (rename.side, rename.from.clone(), rename.to.clone()),
        (0, path("/a"), path("/dir/b"))
    );

    let options = MergeOptions { renames: false, ..MergeOptions::default() };
    let without = place.merge_with(&Base::Root(base), &[ours, theirs], &options);
    only(&without, "/a", ConflictKind::DeleteModify);
    let options = MergeOptions { rename_similarity: 99, ..MergeOptions::default() };
    let strict = place.merge_with(&Base::Root(base), &[ours, theirs], &options);
    only(&strict, "/a", ConflictKind::DeleteModify);
}

#[test]
fn what_took_the_place_of_a_moved_file_counts_as_that_file() {
    let place = Place::new();
    let (old, new) = (long("a"), long("new"));
    let base = place.state(&[("/a", &old)]);
    let edited = old.replace("number 9", "number nine");
    let ours = place.change(&base, &[("/a", Some(&edited))]);
    let theirs = place.change(&base, &[("/b", Some(&old)), ("/a", Some(&new))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    // Which of the two the edit is meant for is for people to say, so it must not go unseen into either.
    only(&merged, "/a", ConflictKind::Content);
    assert!(merged.renames.is_empty());
    let found = place.texts(&merged.root);
    assert_eq!(found["/b"], old);
    assert!(found["/a"].contains("number nine"), "{}", found["/a"]);
    assert!(found["/a"].contains("new has a line"), "{}", found["/a"]);
}

#[test]
fn both_sides_move_a_file() {
    let place = Place::new();
    let text = long("a");
    let base = place.state(&[("/a", &text)]);
    let moved = |to: &str, text: &str| place.change(&base, &[("/a", None), (to, Some(text))]);
    let ours = moved("/b", &text.replace("number 1\n", "number one\n"));
    let same = moved("/b", &text.replace("number 9", "number nine"));
    let merged = place.merge_both_ways(&base, &ours, &same);
    let both = text.replace("number 1\n", "number one\n").replace("number 9", "number nine");
    assert_eq!(found(&merged), []);
    assert_eq!(place.texts(&merged.root), texts(&[("/b", &both)]));

    let other = moved("/c", &text.replace("number 9", "number nine"));
    let merged = place.merge_both_ways(&base, &ours, &other);
    let kind = ConflictKind::RenameRename;
    assert_eq!(found(&merged), [("/b".to_owned(), kind), ("/c".to_owned(), kind)]);
    assert_eq!(place.texts(&merged.root), texts(&[("/b", &both), ("/c", &both)]));
}

#[test]
fn one_side_moves_what_the_other_deletes() {
    let place = Place::new();
    let base = place.state(&[("/a", &long("a"))]);
    let ours = place.change(&base, &[("/a", None), ("/b", Some(&long("a")))]);
    let theirs = place.change(&base, &[("/a", None)]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, "/b", ConflictKind::RenameDelete);
    assert_eq!(conflict.base.as_ref().unwrap().path, path("/a"));
    assert_eq!(place.texts(&merged.root), texts(&[("/b", &long("a"))]));
}

#[test]
fn two_files_come_to_one_path() {
    let place = Place::new();
    let (a, b) = (long("a"), long("b"));
    let base = place.state(&[("/a", &a), ("/b", &b), ("/c~ours", "in the way")]);
    let changed = |text: &str| text.replace("number 9", "number nine");
    // Each changes what the other moves, so that both moves matter.
    let ours = place.change(&base, &[("/a", None), ("/c", Some(&a)), ("/b", Some(&changed(&b)))]);
    let theirs = place.change(&base, &[("/b", None), ("/c", Some(&b)), ("/a", Some(&changed(&a)))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, "/c", ConflictKind::SamePath);
    assert_eq!(conflict.beside, [path("/c~theirs")]);
    let expected =
        [("/c", changed(&a)), ("/c~theirs", changed(&b)), ("/c~ours", "in the way".to_owned())];
    let expected: Vec<(&str, &str)> = expected.iter().map(|(p, t)| (*p, t.as_str())).collect();
    assert_eq!(place.texts(&merged.root), texts(&expected));
}

#[test]
fn a_name_beside_is_one_that_nothing_has() {
    let place = Place::new();
    let name = format!("/{}", "n".repeat(255));
    let taken = format!("/{}~ours", "n".repeat(250));
    let base = place.state(&[(&taken, "in the way"), ("/x", "x")]);
    let ours = place.change(&base, &[(&name, Some("file"))]);
    let theirs = place.change(&base, &[(&format!("{name}/inner"), Some("inner"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let conflict = only(&merged, &name, ConflictKind::DirectoryFile);
    let beside = conflict.beside[0].to_string();
    assert_eq!(beside, format!("/{}~ours~2", "n".repeat(248)));
    let found = place.texts(&merged.root);
    assert_eq!(found[&beside], "file");
    assert_eq!(found[&format!("{name}/inner")], "inner");
    assert_eq!(found[&taken], "in the way");
}

#[test]
fn a_file_becomes_a_directory() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n"), ("/b", "1\n")]);
    let ours = place.from(&base, |editor| {
        editor.remove(&path("/a")).unwrap();
        place.put(editor, "/a/inner", "i\n");
    });
    let merged = place.merge_both_ways(&base, &ours, &place.change(&base, &[("/b", None)]));
    assert_eq!(found(&merged), [], "nobody else did anything to it");
    assert_eq!(place.texts(&merged.root), texts(&[("/a/inner", "i\n")]));

    let theirs = place.change(&base, &[("/a", Some("2\n"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let kinds = [ConflictKind::DeleteModify, ConflictKind::DirectoryFile];
    assert_eq!(found(&merged), kinds.map(|kind| ("/a".to_owned(), kind)));
    let expected = texts(&[("/a/inner", "i\n"), ("/a~theirs", "2\n"), ("/b", "1\n")]);
    assert_eq!(place.texts(&merged.root), expected);
}

#[test]
fn a_directory_becomes_a_file() {
    let place = Place::new();
    let base = place.state(&[("/d/a", "1\n"), ("/d/b", "1\n")]);
    let ours = place.from(&base, |editor| {
        editor.remove(&path("/d")).unwrap();
        place.put(editor, "/d", "file\n");
    });
    let merged = place.merge_both_ways(&base, &ours, &place.change(&base, &[("/x", Some("x"))]));
    assert_eq!(found(&merged), []);
    assert_eq!(place.texts(&merged.root), texts(&[("/d", "file\n"), ("/x", "x")]));

    let theirs = place.change(&base, &[("/d/a", Some("2\n"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let expected = [
        ("/d".to_owned(), ConflictKind::DirectoryFile),
        ("/d/a".to_owned(), ConflictKind::DeleteModify),
    ];
    assert_eq!(found(&merged), expected);
    assert_eq!(place.texts(&merged.root), texts(&[("/d~ours", "file\n"), ("/d/a", "2\n")]));
}

#[test]
fn an_empty_directory_and_a_file_at_one_new_path() {
    let place = Place::new();
    let base = place.state(&[("/x", "x")]);
    let ours = place.from(&base, |editor| {
        editor.make_directories(&path("/a"), &meta(0o755)).unwrap();
    });
    let theirs = place.change(&base, &[("/a", Some("file"))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    only(&merged, "/a", ConflictKind::DirectoryFile);
    let all = place.everything(&merged.root);
    assert!(all["/a"].directory().is_some());
    assert_eq!(place.bytes(&all["/a~theirs"]), b"file");
}

#[test]
fn kinds_that_differ_are_a_conflict_where_something_would_be_lost() {
    let place = Place::new();
    let base = place.state(&[("/a", "1\n")]);
    let link = |target: &str| {
        let body = Body::Symlink { target: target.as_bytes().to_vec() };
        let entry = Entry::new(meta(0o777), body);
        place.from(&base, |editor| editor.put(&path("/a"), entry).unwrap())
    };
    let ours = link("b");
    let merged = place.merge_both_ways(&base, &ours, &place.change(&base, &[("/x", Some("x"))]));
    assert_eq!(found(&merged), []);
    assert_eq!(place.leaves(&merged.root)["/a"], place.leaves(&ours)["/a"]);
    let theirs = place.change(&base, &[("/a", Some("2\n"))]);
    only(&place.merge_both_ways(&base, &ours, &theirs), "/a", ConflictKind::Kind);
    only(&place.merge_both_ways(&base, &ours, &link("c")), "/a", ConflictKind::Kind);
    let fifo = Entry::new(meta(0o644), Body::Fifo);
    let fifo = place.from(&base, |editor| editor.put(&path("/a"), fifo).unwrap());
    let merged = place.merge_both_ways(&base, &ours, &fifo);
    let conflict = only(&merged, "/a", ConflictKind::Kind);
    assert_eq!(conflict.sides.iter().flatten().count(), 2);
}

#[test]
fn links_that_lead_to_different_places() {
    let place = Place::new();
    let link = |target: &str| {
        Entry::new(meta(0o777), Body::Symlink { target: target.as_bytes().to_vec() })
    };
    let base = place.state(&[]);
    let base = place.from(&base, |editor| editor.put(&path("/l"), link("a")).unwrap());
    let to = |target: &str| place.from(&base, |e| e.put(&path("/l"), link(target)).unwrap());
    let merged = place.merge_both_ways(&base, &to("b"), &to("c"));
    only(&merged, "/l", ConflictKind::Content);
    assert_eq!(place.texts(&merged.root), texts(&[("/l", "b")]), "the first side's is taken");
}

#[test]
fn names_are_bytes_and_depth_is_no_limit() {
    let place = Place::new();
    let base = place.state(&[("/x", "x")]);
    let deep = |leaf: &[u8], text: &str| {
        place.from(&base, |editor| {
            let folder = [b"/d\xff".repeat(600), b"/".to_vec(), leaf.to_vec()].concat();
            let at = offshoot_tree::VaultPath::parse(&folder).unwrap();
            editor.make_directories(&at.parent().unwrap(), &meta(0o755)).unwrap();
            editor.put(&at, crate::support::file(&place.vault, text.as_bytes())).unwrap();
        })
    };
    crate::support::big_stack(|| {
        let (ours, theirs) = (deep(b"\xfe", "ours"), deep(b"\xfd", "theirs"));
        let merged = place.merge(&base, &[ours, theirs]);
        assert_eq!(found(&merged), []);
        assert_eq!(place.leaves(&merged.root).len(), 3);
    });
}
