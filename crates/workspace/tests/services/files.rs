//! Files are written, made, removed, moved and brought back.

use std::os::unix::fs::PermissionsExt;

use offshoot_tree::EntryKind;
use offshoot_tree::TreeError;
use offshoot_tree::diff::{ChangeKind, DiffOptions};
use offshoot_vault::VaultError;
use offshoot_workspace::{ChangeSummaryService, ServiceError};

use crate::assert_vault_error;
use crate::support::{Bench, path};

#[test]
fn writing_makes_and_replaces_files() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    let edited = bench.write(&one, "/dir/deep/new", "new");
    let changed: Vec<String> =
        edited.changes.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(changed, ["/dir", "/dir/deep", "/dir/deep/new"]);
    assert!(edited.operation.is_some());
    let edited = bench.write(&one, "/file", "base");
    assert_eq!((edited.operation, edited.changes.len()), (None, 0), "it was that already");
    let long = "x".repeat(100_000);
    bench.write(&one, "/file", &long);
    assert_eq!(bench.read("one", "/file").unwrap(), long);
    let files = bench.files();
    let mut source: &[u8] = b"";
    let write = files.write(&one, &path("/no/parent"), &mut source, "x".as_ref(), false);
    assert_vault_error!(write, VaultError::Tree(TreeError::NoEntry { .. }));
    let write = files.write(&one, &path("/file/below"), &mut source, "x".as_ref(), false);
    assert_vault_error!(write, VaultError::Tree(TreeError::NotADirectory { .. }));
    for directory in ["/dir", "/"] {
        assert_vault_error!(
            bench.try_write(&one, directory, "x"),
            VaultError::Tree(TreeError::NotAFile { .. })
        );
    }
    assert_vault_error!(
        bench.try_write(&one, "/file/x/y", "x"),
        VaultError::Tree(TreeError::NotADirectory { .. })
    );
}

#[test]
fn writing_keeps_mode_and_owner_and_sets_the_time() {
    let bench = Bench::new();
    let one = bench.fork("one");
    let tool = bench.place.join("tool");
    std::fs::write(&tool, "#!/bin/sh").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o750)).unwrap();
    let options = offshoot_vault::ImportOptions::default();
    bench.files().import(&one, &tool, &path("/tool"), &options).unwrap();
    let before = bench.files().stat(&bench.root("one"), &path("/tool")).unwrap();
    assert_eq!(before.meta.mode, 0o750);
    bench.write(&one, "/tool", "#!/bin/bash");
    let after = bench.files().stat(&bench.root("one"), &path("/tool")).unwrap();
    assert_eq!((after.meta.mode, after.meta.uid), (before.meta.mode, before.meta.uid));
    assert!(after.meta.mtime > before.meta.mtime);
}

#[test]
fn directories_are_made_and_removed() {
    let bench = Bench::new();
    let one = bench.fork("one");
    let files = bench.files();
    files.mkdir(&one, &path("/a"), false).unwrap();
    assert_vault_error!(
        files.mkdir(&one, &path("/a"), false),
        VaultError::Tree(TreeError::EntryExists { .. })
    );
    assert_vault_error!(
        files.mkdir(&one, &path("/"), false),
        VaultError::Tree(TreeError::EntryExists { .. })
    );
    assert_vault_error!(
        files.mkdir(&one, &path("/x/y"), false),
        VaultError::Tree(TreeError::NoEntry { .. })
    );
    assert_eq!(files.mkdir(&one, &path("/a"), true).unwrap().operation, None);
    files.mkdir(&one, &path("/a/b/c"), true).unwrap();
    bench.write(&one, "/file", "x");
    assert_vault_error!(
        files.mkdir(&one, &path("/file/x"), true),
        VaultError::Tree(TreeError::NotADirectory { .. })
    );
    let remove = |paths: &[&str], recursive| {
        let paths: Vec<_> = paths.iter().map(|text| path(text)).collect();
        files.remove(&one, &paths, recursive)
    };
    assert_vault_error!(
        remove(&["/a"], false),
        VaultError::Tree(TreeError::NotEmpty { entries: 2, .. })
    );
    assert_vault_error!(remove(&["/none"], true), VaultError::Tree(TreeError::NoEntry { .. }));
    assert_vault_error!(remove(&["/"], true), VaultError::Tree(TreeError::TopDirectory));
    // All or nothing: the first of the two is still there.
    assert_vault_error!(
        remove(&["/file", "/none"], true),
        VaultError::Tree(TreeError::NoEntry { .. })
    );
    assert_eq!(bench.paths("one"), ["/a", "/a/b", "/a/b/c", "/file"]);
    // What one call empties it can remove as well.
    remove(&["/a/b/c", "/a/b", "/a", "/file"], false).unwrap();
    assert_eq!(bench.paths("one"), Vec::<String>::new());
    bench.undo(&one);
    remove(&["/a"], true).unwrap();
    assert_eq!(bench.paths("one"), ["/file"]);
}

#[test]
fn moving_follows_the_rules_of_mv() {
    let bench =
        Bench::of(&[("dir/file", "1"), ("dir/sub/deep", "2"), ("other", "3"), ("into/x", "4")]);
    let one = bench.fork("one");
    let files = bench.files();
    let mv = |from: &str, to: &str| files.rename(&one, &path(from), &path(to));
    assert_vault_error!(mv("/dir", "/dir/sub"), VaultError::Tree(TreeError::IntoItself { .. }));
    assert_vault_error!(mv("/dir", "/dir/sub/new"), VaultError::Tree(TreeError::IntoItself { .. }));
    assert_vault_error!(mv("/", "/into"), VaultError::Tree(TreeError::IntoItself { .. }));
    assert_vault_error!(mv("/none", "/x"), VaultError::Tree(TreeError::NoEntry { .. }));
    assert_vault_error!(mv("/other", "/no/such"), VaultError::Tree(TreeError::NoEntry { .. }));
    assert_vault_error!(
        mv("/other", "/dir/file/x"),
        VaultError::Tree(TreeError::NotADirectory { .. })
    );
    assert_vault_error!(mv("/dir", "/other"), VaultError::Tree(TreeError::EntryExists { .. }));
    assert_eq!(mv("/other", "/other").unwrap().operation, None);
    assert_eq!(mv("/dir/file", "/dir").unwrap().operation, None, "it is in there already");
    // Over a file; into a directory; a directory to a new name.
    mv("/other", "/dir/file").unwrap();
    assert_eq!(bench.read("one", "/dir/file").unwrap(), "3");
    mv("/dir", "/into").unwrap();
    mv("/into", "/moved").unwrap();
    let expected = [
        "/moved",
        "/moved/dir",
        "/moved/dir/file",
        "/moved/dir/sub",
        "/moved/dir/sub/deep",
        "/moved/x",
    ];
    assert_eq!(bench.paths("one"), expected);
    assert_eq!(bench.read("one", "/moved/dir/sub/deep").unwrap(), "2");
    // A directory that would meet one of its own name is not mixed with it.
    bench.write(&one, "/again/dir/y", "5");
    assert_vault_error!(
        mv("/again/dir", "/moved"),
        VaultError::Tree(TreeError::EntryExists { .. })
    );
}

#[test]
fn paths_are_brought_back_from_other_roots() {
    let bench = Bench::of(&[("file", "base"), ("dir/a", "a"), ("dir/b", "b")]);
    let one = bench.fork("one");
    let base = bench.root("head");
    bench.write(&one, "/file", "changed");
    bench.write(&one, "/new", "new");
    bench.files().remove(&one, &[path("/dir")], true).unwrap();
    let revert = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|text| path(text)).collect();
        bench.files().revert(&one, &paths, &bench.point("head"))
    };
    revert(&["/dir/a"]).unwrap();
    assert_eq!(bench.paths("one"), ["/dir", "/dir/a", "/file", "/new"]);
    revert(&["/file", "/new"]).unwrap();
    assert_eq!(bench.read("one", "/file").unwrap(), "base");
    assert_eq!(bench.read("one", "/new"), None, "it was not there");
    assert_vault_error!(revert(&["/none"]), VaultError::Tree(TreeError::NoEntry { .. }));
    bench.write(&one, "/extra/x", "x");
    assert!(revert(&["/"]).unwrap().operation.is_some());
    assert_eq!(bench.root("one"), base, "all of it, to the last hash");
    assert_eq!(revert(&["/"]).unwrap().operation, None);
}

#[test]
fn the_versions_of_a_file_are_found() {
    let bench = Bench::of(&[("file", "1"), ("other", "x")]);
    let one = bench.fork("one");
    bench.write(&one, "/file", "2");
    bench.write(&one, "/other", "y");
    bench.files().remove(&one, &[path("/file")], false).unwrap();
    bench.write(&one, "/file", "3");
    let history = bench.files().history(&bench.point("one").snapshot, &path("/file")).unwrap();
    let reasons: Vec<(&str, bool)> =
        history.iter().map(|v| (v.snapshot.reason.as_str(), v.entry.is_some())).collect();
    assert_eq!(reasons, [("write", true), ("rm", false), ("write", true), ("import", true)]);
    let none = bench.files().history(&bench.point("one").snapshot, &path("/none"));
    assert!(matches!(none, Err(ServiceError::NoHistory(_))));
}

#[test]
fn changes_are_summarised() {
    let text = "one\ntwo\nthree\nfour\n";
    let bench = Bench::of(&[("keep", "k"), ("old-name", text), ("gone", "completely different")]);
    let one = bench.fork("one");
    bench.files().rename(&one, &path("/old-name"), &path("/new-name")).unwrap();
    bench.write(&one, "/keep", "changed");
    bench.files().remove(&one, &[path("/gone")], false).unwrap();
    let service = ChangeSummaryService::new(&bench.vault, DiffOptions::default());
    let summary = service.between(&bench.root("head"), &bench.root("one"), false).unwrap();
    let kinds: Vec<(String, ChangeKind)> =
        summary.changes.iter().map(|c| (c.path.to_string(), c.kind())).collect();
    let expected = [
        ("/gone".to_owned(), ChangeKind::Deleted),
        ("/keep".to_owned(), ChangeKind::Modified),
        ("/new-name".to_owned(), ChangeKind::Renamed),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(summary.metadata_only(), 1, "the time of the top directory");
}

#[test]
fn lists_show_what_is_there() {
    let bench = Bench::of(&[("dir/a", "a"), ("dir/b", "bb")]);
    let root = bench.root("head");
    let (at, entries) = bench.files().list(&root, &path("/dir")).unwrap();
    assert_eq!((at, entries.len()), (path("/dir"), 2));
    let (at, entries) = bench.files().list(&root, &path("/dir/b")).unwrap();
    assert_eq!((at, entries[0].size(), entries[0].kind()), (path("/dir/b"), 2, EntryKind::File));
    assert_vault_error!(
        bench.files().list(&root, &path("/no")),
        VaultError::Tree(TreeError::NoEntry { .. })
    );
    assert_vault_error!(
        bench.files().open(&root, &path("/dir")),
        VaultError::Tree(TreeError::NotAFile { .. })
    );
}
