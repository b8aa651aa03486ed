//! Conflicts are data in the tree: all sides are kept with it, wherever it goes, until somebody decides.

use std::path::Path;

use offshoot_needs::needs;
use offshoot_tree::ConflictKind;
use offshoot_tree::conflicts::texts_with_markers;
use offshoot_tree::{Body, ConflictRecord, Entry, RootId, VaultPath};
use offshoot_vault::{ArchiveOptions, CheckDepth, Vault};
use rusqlite::{Connection, params};

use super::support::{Place, texts};
use crate::garbage::NOTHING;
use crate::overlay::{adopted, adopted_copy, mounts_of_ones_own};
use crate::support::{Scratch, actor, commit, edit, file, home_at, path};

/// What has to be decided at a path.
fn record(vault: &Vault, root: &RootId, at: &str) -> Option<ConflictRecord> {
    let entry = vault.tree(root).unwrap().get(&path(at)).unwrap();
    entry.and_then(|entry| entry.conflict).map(|record| *record)
}

fn open_paths(vault: &Vault, root: &RootId) -> Vec<String> {
    let tree = vault.tree(root).unwrap();
    let found = tree.conflicts(&VaultPath::top()).unwrap();
    assert_eq!(found.len() as u64, tree.conflict_count());
    found.into_iter().map(|(path, _)| path.to_string()).collect()
}

/// The bytes of each side, by label.
fn sides(vault: &Vault, record: &ConflictRecord) -> Vec<(String, Option<String>)> {
    let text = |entry: &Entry| match &entry.body {
        Body::File { blob, .. } => {
            String::from_utf8(vault.objects().unwrap().blob(blob).unwrap()).unwrap()
        }
        other => format!("{other:?}"),
    };
    let all = record.sides.iter();
    all.map(|side| (side.label.clone(), side.version.as_ref().map(|it| text(&it.entry)))).collect()
}

/// A merge with a conflict that has markers, one that has none and one that is a directory's, in a large directory.
fn conflicted(place: &Place) -> RootId {
    let many: Vec<(String, String)> =
        (0..600).map(|n| (format!("/many/{n:03}"), format!("{n}\n"))).collect();
    let mut files: Vec<(&str, &str)> =
        many.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.extend([("/text", "one\ntwo\nthree\n"), ("/gone", "here\n"), ("/dir/file", "f\n")]);
    let base = place.state(&files);
    let mode = |root: &RootId, mode: u16| {
        place.from(root, |editor| {
            let mut entry = editor.get(&path("/dir")).unwrap().unwrap();
            entry.meta.mode = mode;
            editor.put(&path("/dir"), entry).unwrap();
        })
    };
    let ours = [("/text", Some("one\nours\nthree\n")), ("/gone", None)];
    let theirs = [("/text", Some("one\ntheirs\nthree\n")), ("/gone", Some("still here\n"))];
    let ours = place.change(&mode(&base, 0o700), &ours);
    let ours = place.change(&ours, &[("/many/300", Some("our 300\n"))]);
    let theirs = place.change(&mode(&base, 0o750), &theirs);
    let theirs = place.change(&theirs, &[("/many/300", Some("their 300\n"))]);
    place.merge(&base, &[ours, theirs]).root
}

const OPEN: [&str; 4] = ["/dir", "/gone", "/many/300", "/text"];

#[test]
fn every_side_is_in_the_tree() {
    let place = Place::new();
    let root = conflicted(&place);
    let vault = &place.vault;
    assert_eq!(open_paths(vault, &root), OPEN);
    let text = record(vault, &root, "/text").unwrap();
    assert_eq!(
        (text.kinds.as_slice(), text.marker_lengths.as_slice()),
        (&[ConflictKind::Content][..], &[7][..])
    );
    let of = |label: &str, text: Option<&str>| (label.to_owned(), text.map(str::to_owned));
    let found = sides(vault, &text);
    assert_eq!(
        found,
        [of("ours", Some("one\nours\nthree\n")), of("theirs", Some("one\ntheirs\nthree\n"))]
    );
    let gone = record(vault, &root, "/gone").unwrap();
    assert_eq!(gone.kinds, [ConflictKind::DeleteModify]);
    assert_eq!(sides(vault, &gone), [of("ours", None), of("theirs", Some("still here\n"))]);
    assert_eq!(record(vault, &root, "/dir").unwrap().kinds, [ConflictKind::Mode]);
    assert!(record(vault, &root, "/many").is_none());
}

#[test]
fn finding_them_reads_only_what_leads_there() {
    let place = Place::new();
    let tree = conflicted(&place);
    let top = place.vault.objects().unwrap().root(&tree).unwrap();
    assert_eq!(top.conflicts(), 4);
    let below = |at: &str| place.vault.tree(&tree).unwrap().conflicts(&path(at)).unwrap().len();
    assert_eq!((below("/many"), below("/text"), below("/many/301"), below("/none")), (1, 1, 0, 0));
}

#[test]
fn a_state_without_its_conflict_is_another_state() {
    let place = Place::new();
    let root = conflicted(&place);
    let plain = edit(&place.vault, &root, |editor| {
        for at in OPEN {
            let entry = editor.get(&path(at)).unwrap().unwrap();
            editor.put(&path(at), Entry { conflict: None, ..entry }).unwrap();
        }
    });
    assert_eq!(open_paths(&place.vault, &plain), [""; 0]);
    let top = |root: &RootId| place.vault.objects().unwrap().root(root).unwrap();
    let content = |root: &RootId| top(root).directory().unwrap().content;
    assert_ne!(content(&root), content(&plain));
}

/// Only the merged state is part of any history: the sides are garbage but for the conflict.
#[test]
fn sides_outlive_collection_packing_and_moving_house() {
    let place = Place::new();
    let root = conflicted(&place);
    let before = [record(&place.vault, &root, "/text"), record(&place.vault, &root, "/gone")];
    let before: Vec<_> = before.iter().flatten().map(|it| sides(&place.vault, it)).collect();
    commit(&place.vault, &root);
    let check = |vault: &Vault| {
        let now = [record(vault, &root, "/text"), record(vault, &root, "/gone")];
        let now: Vec<_> = now.iter().flatten().map(|it| sides(vault, it)).collect();
        assert_eq!(now, before);
        assert_eq!(open_paths(vault, &root), OPEN);
        let found = vault.check(CheckDepth::Content).unwrap();
        assert_eq!(found.problems, [""; 0]);
    };
    place.vault.collect(&NOTHING, &actor()).unwrap();
    check(&place.vault);
    place.vault.pack(&actor()).unwrap();
    place.vault.collect(&NOTHING, &actor()).unwrap();
    check(&place.vault);
    let scratch = Scratch::new();
    let archive = scratch.path().join("archive");
    place.vault.export_archive(&archive, "v").unwrap();
    let other = home_at(scratch.path()).import(&archive, &ArchiveOptions::default()).unwrap().vault;
    check(&other);
}

#[test]
fn a_side_that_cannot_be_read_is_found_by_a_check() {
    let place = Place::new();
    let root = conflicted(&place);
    commit(&place.vault, &root);
    let gone = record(&place.vault, &root, "/gone").unwrap();
    // The base's version is in no state that any snapshot shows.
    let Body::File { blob, .. } = gone.base.unwrap().entry.body else { panic!("it is a file") };
    place.vault.collect(&NOTHING, &actor()).unwrap();
    let catalog = Connection::open(place.vault.dir().join("catalog.db")).unwrap();
    let sql = "UPDATE objects SET value = x'00ff' WHERE kind = 1 AND id = ?1";
    assert_eq!(catalog.execute(sql, params![blob.0]).unwrap(), 1);
    let found = place.vault.check(CheckDepth::Content).unwrap().problems;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(&blob.to_string()), "{found:?}");
}

#[test]
fn a_number_that_would_hide_conflicts_is_found_by_a_check() {
    let place = Place::new();
    let root = conflicted(&place);
    let wrong = edit(&place.vault, &root, |editor| {
        let mut entry = editor.get(&path("/many")).unwrap().unwrap();
        let Body::Directory(dir) = &mut entry.body else { panic!("it is a directory") };
        dir.conflicts = 0;
        editor.put(&path("/many"), entry).unwrap();
    });
    commit(&place.vault, &wrong);
    let found = place.vault.check(CheckDepth::Structure).unwrap().problems;
    assert!(
        matches!(found.as_slice(), [only] if only.contains("has 1 conflicts, not 0")),
        "{found:?}"
    );
}

/// A text that somebody moved with its markers is known by them alone.
#[test]
fn texts_that_newly_have_markers_are_found() {
    let place = Place::new();
    let root = conflicted(&place);
    let vault = &place.vault;
    let marked = place.texts(&root)["/text"].clone();
    let rules = "a\n=======\nb\n";
    let changes: &[(&str, Option<&str>)] = &[
        ("/text", None),
        ("/moved", Some(&marked)),
        ("/rules", Some(rules)),
        ("/gone", Some("plain\n")),
        ("/many/300", Some("decided\n")),
        ("/dir/file", Some(&marked)),
    ];
    let next = place.change(&root, changes);
    let objects = vault.objects().unwrap();
    let found = |from: &RootId, to: &RootId| {
        let changes = offshoot_tree::diff::compare(objects, from, to).unwrap();
        let found = texts_with_markers(objects, &changes).unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found(&root, &next), ["/dir/file", "/moved"]);
    assert_eq!(found(&next, &root), ["/many/300", "/text"]);
    let more = place.change(&next, &[("/moved", Some(&format!("{marked}more\n")))]);
    assert_eq!(found(&next, &more), [""; 0], "it had them before");
}

/// What commands do to files with conflicts, and what is to be decided afterwards.
#[needs(Root, Overlay)]
#[test]
fn programs_decide_by_taking_the_markers_away() {
    mounts_of_ones_own();
    let place = Place::new();
    let root = conflicted(&place);
    let vault = &place.vault;
    commit(vault, &root);
    let scratch = Scratch::new();
    let sh = |script: &'static str| {
        move |point: &Path| {
            let mut shell = std::process::Command::new("sh");
            assert!(shell.args(["-ec", script]).current_dir(point).status().unwrap().success());
        }
    };
    let cases: [(&str, &[&str]); 8] = [
        ("sed -i -e '/^[<|>=]\\{7\\}/d' text", &["/dir", "/gone", "/many/300"]),
        ("sed -i -e '/^<<<<<<</d' text", &OPEN),
        ("rm text gone", &["/dir", "/many/300"]),
        ("echo more >> gone; touch text; chmod 755 dir; chmod 600 many/300", &OPEN),
        ("cp text copy; cat copy > text; rm copy", &OPEN),
        ("printf 'a\\0b' > text; rm -r many", &["/dir", "/gone"]),
        ("rm text; ln -s gone text", &["/dir", "/gone", "/many/300"]),
        ("rm -r dir; mkdir dir", &["/dir", "/gone", "/many/300", "/text"]),
    ];
    for (at, (script, open)) in cases.iter().enumerate() {
        let work = |name: &str| scratch.folder(&format!("{name}-{at}"));
        let next = adopted(vault, &root, &work("alone"), sh(script));
        assert_eq!(open_paths(vault, &next), *open, "{script}");
        let copied = adopted_copy(vault, &root, &work("copied"), sh(script));
        assert_eq!(open_paths(vault, &copied), *open, "{script}, copied");
    }
}

/// The same for commands that work on a plain copy.
#[test]
fn a_plain_copy_keeps_what_is_not_decided() {
    let place = Place::new();
    let root = conflicted(&place);
    let scratch = Scratch::new();
    let copy = scratch.path().join("copy");
    crate::support::export(&place.vault, &root, &copy);
    std::fs::write(copy.join("text"), "decided\n").unwrap();
    std::fs::write(copy.join("gone"), "written to\n").unwrap();
    let captured = place.vault.capture(&copy, &root).unwrap();
    assert_eq!(open_paths(&place.vault, &captured.root), ["/dir", "/gone", "/many/300"]);
    let untouched = scratch.path().join("untouched");
    crate::support::export(&place.vault, &root, &untouched);
    let captured = place.vault.capture(&untouched, &root).unwrap();
    assert_eq!(open_paths(&place.vault, &captured.root), OPEN);
}

/// Two who go on from a state with a conflict.
#[test]
fn merging_what_has_conflicts() {
    let place = Place::new();
    let root = conflicted(&place);
    let vault = &place.vault;
    let decided = place.change(&root, &[("/text", Some("one\nboth\nthree\n"))]);
    assert_eq!(record(vault, &decided, "/text"), None, "put replaces it whole");
    // Untouched by the other side: decided.
    let other = place.change(&root, &[("/new", Some("n\n"))]);
    let merged = place.merge_both_ways(&root, &decided, &other);
    assert_eq!(merged.conflicts, []);
    assert_eq!(open_paths(vault, &merged.root), ["/dir", "/gone", "/many/300"]);
    // Touched by both in different ways: still open, with what each of them made of it.
    let also = place.change(&root, &[("/text", Some("one\nother\nthree\n"))]);
    let merged = place.merge_both_ways(&root, &decided, &also);
    assert_eq!(open_paths(vault, &merged.root), OPEN);
    let found = sides(vault, &record(vault, &merged.root, "/text").unwrap());
    assert_eq!(found[0].1.as_deref(), Some("one\nboth\nthree\n"));
    // Still open on both sides, which changed it elsewhere.
    let edited = |line: &str, at: usize| {
        place.from(&root, |editor| {
            let entry = editor.get(&path("/text")).unwrap().unwrap();
            let text = String::from_utf8(place.bytes(&entry)).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            lines[at] = line;
            let body = file(vault, (lines.join("\n") + "\n").as_bytes()).body;
            editor.put(&path("/text"), Entry { body, ..entry }).unwrap();
        })
    };
    let merged = place.merge_both_ways(&root, &edited("first", 0), &edited("last", 8));
    assert_eq!(merged.conflicts, []);
    assert_eq!(open_paths(vault, &merged.root), OPEN);
    assert_eq!(record(vault, &merged.root, "/text"), record(vault, &root, "/text"));
    let text = &place.texts(&merged.root)["/text"];
    assert!(text.starts_with("first\n<<<<<<< ours\n") && text.ends_with("last\n"), "{text}");
}

/// Markers of a second merge are longer, and both sets have to go.
#[test]
fn a_conflict_over_a_conflict() {
    let place = Place::new();
    let vault = &place.vault;
    let root = conflicted(&place);
    let with = |new: &str| {
        place.from(&root, |editor| {
            let entry = editor.get(&path("/text")).unwrap().unwrap();
            let text = String::from_utf8(place.bytes(&entry)).unwrap().replace("one\n", new);
            let body = file(vault, text.as_bytes()).body;
            editor.put(&path("/text"), Entry { body, ..entry }).unwrap();
        })
    };
    let merged = place.merge_both_ways(&root, &with("1\n"), &with("eins\n"));
    let found = record(vault, &merged.root, "/text").unwrap();
    assert_eq!(found.marker_lengths, [7, 8]);
    assert_eq!(found.sides.len(), 4);
    let entry = |text: &str| file(vault, text.as_bytes());
    let shown = vault.tree(&merged.root).unwrap().find(&path("/text")).unwrap();
    let open = |text: &str| vault.objects().unwrap().still_open(&shown, &entry(text)).unwrap();
    assert!(open("a\n=======\nb\n").is_some() && open("a\n========\nb\n").is_some());
    assert!(open("a\n======\nb\n").is_none());
}

#[test]
fn what_is_put_beside_is_named_and_keeps_its_own_conflict() {
    let place = Place::new();
    let base = place.state(&[("/x", "x\n")]);
    let ours = place.change(&base, &[("/x", None), ("/x/inner", Some("i\n"))]);
    let theirs = place.change(&base, &[("/x", Some("x\nmore\n"))]);
    let merged = place.merge(&base, &[ours, theirs]);
    assert_eq!(open_paths(&place.vault, &merged.root), ["/x", "/x~theirs"]);
    let found = record(&place.vault, &merged.root, "/x").unwrap();
    assert_eq!(found.kinds, [ConflictKind::DirectoryFile]);
    assert_eq!(found.beside, [path("/x~theirs")]);
    let beside = record(&place.vault, &merged.root, "/x~theirs").unwrap();
    assert_eq!(beside.kinds, [ConflictKind::DeleteModify]);
    assert_eq!(
        place.texts(&merged.root),
        texts(&[("/x/inner", "i\n"), ("/x~theirs", "x\nmore\n")])
    );
}
