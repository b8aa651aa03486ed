//! Symbolic links are found once, and after that by what changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use offshoot_tree::{Body, Entry, RootId};
use offshoot_vault::{CheckDepth, Vault};

use crate::garbage::NOTHING;
use crate::support::{Scratch, actor, commit, edit, file, head, import, meta, path, vault_of};

/// A vault with links at the top, in directories, and to nowhere.
fn linked(scratch: &Scratch) -> (Vault, RootId) {
    let source = scratch.folder("source");
    fs::create_dir_all(source.join("dir/inner")).unwrap();
    fs::create_dir_all(source.join("empty")).unwrap();
    fs::write(source.join("file"), "text").unwrap();
    for (link, target) in [("dir-link", "dir"), ("dir/inner/up", "../.."), ("dir/none", "/a/b")] {
        symlink(target, source.join(link)).unwrap();
    }
    let vault = vault_of(scratch, &source);
    let root = head(&vault);
    (vault, root)
}

fn found(vault: &Vault, root: &RootId) -> Vec<(String, String)> {
    let links = vault.symlinks(root).unwrap().into_iter();
    links.map(|(path, target)| (path.to_string(), String::from_utf8(target).unwrap())).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, target)| ((*path).to_owned(), (*target).to_owned())).collect()
}

fn link(target: &[u8]) -> Entry {
    Entry::new(meta(0o777), Body::Symlink { target: target.to_vec() })
}

fn remembered(vault: &Vault) -> PathBuf {
    vault.dir().join("cache/symlinks")
}

/// Has the vault remember another target than the one that is in the tree, as only somebody notices who reads what is remembered.
fn tell_apart(vault: &Vault, target: &[u8], other: &[u8]) {
    let mut bytes = fs::read(remembered(vault)).unwrap();
    bytes.truncate(bytes.len() - 32);
    let at = bytes.windows(target.len()).position(|part| part == target).unwrap();
    bytes[at..at + target.len()].copy_from_slice(other);
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    fs::write(remembered(vault), bytes).unwrap();
}

const ALL: [(&str, &str); 3] =
    [("/dir/inner/up", "../.."), ("/dir/none", "/a/b"), ("/dir-link", "dir")];

#[test]
fn links_are_remembered_and_then_found_by_the_difference() {
    let scratch = Scratch::new();
    let (vault, base) = linked(&scratch);
    assert!(!remembered(&vault).exists(), "nobody asked so far");
    assert_eq!(found(&vault, &base), pairs(&ALL));
    tell_apart(&vault, b"../..", b".././");
    let told = [("/dir/inner/up", ".././"), ALL[1], ALL[2]];
    assert_eq!(found(&vault, &base), pairs(&told), "no tree was read");
    let (plain, new, changed) = (file(&vault, b"plain"), link(b"new"), link(b"file"));
    let edited = edit(&vault, &base, |editor| {
        editor.put(&path("/dir/none"), plain).unwrap();
        editor.put(&path("/empty/deep"), new).unwrap();
        editor.put(&path("/dir-link"), changed).unwrap();
    });
    let told = [("/dir/inner/up", ".././"), ("/dir-link", "file"), ("/empty/deep", "new")];
    assert_eq!(found(&vault, &edited), pairs(&told), "only what differs was read");
    assert_eq!(found(&vault, &edited), pairs(&told));
    // Whole directories come and go.
    let without = edit(&vault, &edited, |editor| drop(editor.remove(&path("/dir")).unwrap()));
    assert_eq!(found(&vault, &without), pairs(&told[1..]));
    assert_eq!(found(&vault, &base), pairs(&ALL), "they come back as they are in the tree");
    let source = scratch.path().join("source");
    symlink("x", source.join("later")).unwrap();
    let imported = import(&vault, &source).root;
    let later = [ALL[0], ALL[1], ALL[2], ("/later", "x")];
    assert_eq!(found(&vault, &imported), pairs(&later));
}

#[test]
fn a_list_that_is_damaged_is_made_again() {
    let scratch = Scratch::new();
    let (vault, base) = linked(&scratch);
    assert_eq!(found(&vault, &base), pairs(&ALL));
    let whole = fs::read(remembered(&vault)).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(remembered(&vault), bytes).unwrap();
        assert_eq!(found(&vault, &base), pairs(&ALL), "byte {at}");
        assert_eq!(fs::read(remembered(&vault)).unwrap(), whole);
        fs::write(remembered(&vault), &whole[..at]).unwrap();
        assert_eq!(found(&vault, &base), pairs(&ALL), "cut at {at}");
    }
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_list_goes_with_its_root() {
    let scratch = Scratch::new();
    let (vault, base) = linked(&scratch);
    let new = link(b"new");
    let edited = edit(&vault, &base, |editor| editor.put(&path("/new"), new).unwrap());
    assert_eq!(found(&vault, &edited).len(), 4);
    // Another process may be in the middle of taking the root: what is remembered of it helps nobody then.
    let kept = fs::read(remembered(&vault)).unwrap();
    let report = vault.collect(&NOTHING, &actor()).unwrap();
    assert!(report.caches.count >= 1 && !remembered(&vault).exists(), "{report:?}");
    fs::write(remembered(&vault), kept).unwrap();
    tell_apart(&vault, b"../..", b".././");
    assert_eq!(found(&vault, &base), pairs(&ALL));
    // One whose root is kept stays.
    commit(&vault, &base);
    vault.collect(&NOTHING, &actor()).unwrap();
    assert!(remembered(&vault).exists());
}
