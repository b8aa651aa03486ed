//! Host files come in with what they are.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use offshoot_host::HostError;
use offshoot_tests::scan::{CompareOptions, compare, scan};
use offshoot_tree::TreeError;
use offshoot_vault::{ExportOptions, ImportOptions, VaultError};

use crate::assert_vault_error;
use crate::support::{Bench, path};

#[test]
fn a_file_keeps_its_mode_and_time() {
    let bench = Bench::new();
    let one = bench.fork("one");
    let tool = bench.place.join("tool");
    fs::write(&tool, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o750)).unwrap();
    let options = ImportOptions::default();
    let (edited, report) = bench.files().import(&one, &tool, &path("/bin/tool"), &options).unwrap();
    assert_eq!((report.files, report.bytes), (1, 10));
    assert_eq!(edited.snapshot.reason, "import");
    let entry = bench.files().stat(&edited.snapshot.root, &path("/bin/tool")).unwrap();
    let host = fs::metadata(&tool).unwrap();
    assert_eq!(entry.meta.mode, 0o750);
    assert_eq!(entry.meta.mtime.seconds, host.mtime());
    assert_eq!(i64::from(entry.meta.mtime.nanoseconds), host.mtime_nsec());
    let (edited, _) = bench.files().import(&one, &tool, &path("/bin/tool"), &options).unwrap();
    assert_eq!(edited.operation, None, "it is there already");
    let import = |to: &str| bench.files().import(&one, &tool, &path(to), &options);
    assert_vault_error!(import("/bin"), VaultError::Tree(TreeError::NotAFile { .. }));
    assert_vault_error!(import("/bin/tool/x"), VaultError::Tree(TreeError::NotADirectory { .. }));
    let missing = bench.place.join("missing");
    assert_vault_error!(
        bench.files().import(&one, &missing, &path("/x"), &options),
        VaultError::Host(HostError::Io { .. })
    );
}

#[test]
fn a_directory_comes_in_and_goes_out_whole() {
    let bench = Bench::of(&[("file", "x")]);
    let one = bench.fork("one");
    let source = bench.place.join("more");
    fs::create_dir_all(source.join("deep/er")).unwrap();
    fs::write(source.join("deep/er/file"), "text").unwrap();
    fs::write(source.join("large"), vec![7; 200_000]).unwrap();
    std::os::unix::fs::symlink("large", source.join("link")).unwrap();
    let options = ImportOptions::default();
    let (_, report) = bench.files().import(&one, &source, &path("/a/b"), &options).unwrap();
    assert_eq!((report.files, report.directories, report.symlinks), (2, 2, 1));
    let import = |to: &str| bench.files().import(&one, &source, &path(to), &options);
    for taken in ["/a/b", "/file", "/"] {
        assert_vault_error!(import(taken), VaultError::Tree(TreeError::EntryExists { .. }));
    }
    let out = bench.place.join("out");
    let root = bench.root("one");
    bench.files().export(&root, &path("/a/b"), &out, &ExportOptions::default()).unwrap();
    let found = compare(&scan(&source).unwrap(), &scan(&out).unwrap(), &CompareOptions::default());
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(bench.read("one", "/file").unwrap(), "x");
}
