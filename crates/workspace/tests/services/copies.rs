//! Copies share content and nothing else.

use std::fs;
use std::os::unix::fs::MetadataExt;

use offshoot_tree::TreeError;
use offshoot_vault::{ExportOptions, VaultError};
use offshoot_workspace::{CopyOptions, Edited, ServiceError};

use crate::assert_vault_error;
use crate::support::{Bench, path};

const ALL: CopyOptions = CopyOptions { recursive: true };
const FILES: CopyOptions = CopyOptions { recursive: false };

fn cp(bench: &Bench, from: &str, to: &str, options: CopyOptions) -> Result<Edited, ServiceError> {
    let one = bench.resolver().workspace("one").unwrap();
    bench.files().copy(&one, &path(from), &path(to), options)
}

#[test]
fn copying_follows_the_rules_of_cp() {
    let bench = Bench::of(&[("dir/file", "1"), ("dir/sub/deep", "2"), ("other", "3")]);
    let one = bench.fork("one");
    let cp = |from: &str, to: &str, options| cp(&bench, from, to, options);
    assert_vault_error!(
        cp("/dir", "/copy", FILES),
        VaultError::Tree(TreeError::NotAFile { kind: "directory", .. })
    );
    assert_vault_error!(cp("/dir", "/dir", ALL), VaultError::Tree(TreeError::IntoItself { .. }));
    assert_vault_error!(
        cp("/dir", "/dir/sub", ALL),
        VaultError::Tree(TreeError::IntoItself { .. })
    );
    assert_vault_error!(cp("/", "/dir", ALL), VaultError::Tree(TreeError::IntoItself { .. }));
    assert_vault_error!(cp("/none", "/x", ALL), VaultError::Tree(TreeError::NoEntry { .. }));
    assert_vault_error!(cp("/dir", "/other", ALL), VaultError::Tree(TreeError::EntryExists { .. }));
    assert_vault_error!(
        cp("/other", "/no/such", FILES),
        VaultError::Tree(TreeError::NoEntry { .. })
    );
    assert_eq!(cp("/other", "/other", FILES).unwrap().operation, None);
    cp("/other", "/dir/file", FILES).unwrap();
    assert_eq!(bench.read("one", "/dir/file").unwrap(), "3");
    cp("/other", "/dir", FILES).unwrap();
    assert_eq!(bench.read("one", "/dir/other").unwrap(), "3");
    cp("/dir", "/copy", ALL).unwrap();
    cp("/dir", "/copy", ALL).unwrap();
    assert_eq!(bench.read("one", "/copy/dir/sub/deep").unwrap(), "2");
    bench.write(&one, "/copy/file", "own");
    assert_eq!(bench.read("one", "/dir/file").unwrap(), "3");
}

/// Which of the exported files are one inode.
fn inodes(bench: &Bench, names: &[&str]) -> Vec<u64> {
    let out = tempfile::tempdir().unwrap();
    let to = out.path().join("out");
    let root = bench.root("one");
    bench.files().export(&root, &path("/"), &to, &ExportOptions::default()).unwrap();
    names.iter().map(|name| fs::metadata(to.join(name)).unwrap().ino()).collect()
}

#[test]
fn links_inside_a_copy_are_its_own() {
    let bench = Bench::of(&[("dir/a", "shared"), ("single", "x")]);
    let source = bench.place.join("source");
    fs::hard_link(source.join("dir/a"), source.join("dir/b")).unwrap();
    let one = bench.fork("one");
    let options = offshoot_vault::ImportOptions::default();
    for to in ["/x", "/y"] {
        bench.files().import(&one, &source, &path(to), &options).unwrap();
    }
    cp(&bench, "/x/dir", "/z", ALL).unwrap();
    cp(&bench, "/x/dir/a", "/alone", FILES).unwrap();
    let names = ["x/dir/a", "x/dir/b", "y/dir/a", "y/dir/b", "z/a", "z/b", "alone"];
    let found = inodes(&bench, &names);
    assert_eq!((found[0], found[2], found[4]), (found[1], found[3], found[5]));
    let mut different = vec![found[0], found[2], found[4], found[6]];
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 4);
    // A move is no copy: the two names stay one file.
    bench.files().rename(&one, &path("/x/dir/a"), &path("/moved")).unwrap();
    let found = inodes(&bench, &["moved", "x/dir/b"]);
    assert_eq!(found[0], found[1]);
    // And a written name is a file of its own from then on.
    bench.write(&one, "/moved", "own");
    let found = inodes(&bench, &["moved", "x/dir/b"]);
    assert_ne!(found[0], found[1]);
    assert_eq!(bench.read("one", "/x/dir/b").unwrap(), "shared");
}
