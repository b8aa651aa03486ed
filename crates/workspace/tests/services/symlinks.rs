//! Symbolic links lead where the kernel would go, and never out of the vault.

use std::fs;
use std::os::unix::fs::symlink;

use offshoot_tree::TreeError;
use offshoot_vault::{ImportOptions, VaultError};

use crate::assert_vault_error;
use crate::support::{Bench, path};

fn bench() -> Bench {
    let bench = Bench::new();
    let source = bench.place.join("tree");
    fs::create_dir_all(source.join("a/b/c")).unwrap();
    fs::write(source.join("a/file"), "in a").unwrap();
    fs::write(source.join("a/b/file"), "in b").unwrap();
    fs::write(source.join("file"), "at the top").unwrap();
    for (target, name) in [
        ("file", "plain"),
        ("a/b", "dir"),
        ("./a//b/./file", "untidy"),
        ("../file", "a/up"),
        ("../../file", "a/b/up-up"),
        ("plain", "twice"),
        ("dir/../file", "behind-a-link"),
        ("b/c/../../file", "a/there-and-back"),
        ("self", "self"),
        ("loop-b", "loop-a"),
        ("loop-a", "loop-b"),
        ("/etc/passwd", "absolute"),
        ("../outside", "outside"),
        ("a/../../outside", "outside-too"),
        ("nothing", "dangling"),
        ("file/x", "through-a-file"),
        ("..", "a/parent"),
    ] {
        symlink(target, source.join(name)).unwrap();
    }
    let one = bench.fork("one");
    bench.files().import(&one, &source, &path("/t"), &ImportOptions::default()).unwrap();
    // The tree itself is the vault's top, so that leaving it is leaving the vault.
    for entry in fs::read_dir(&source).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let from = path(&format!("/t/{name}"));
        bench.files().rename(&one, &from, &path(&format!("/{name}"))).unwrap();
    }
    bench.files().remove(&one, &[path("/t")], false).unwrap();
    bench
}

#[test]
fn links_are_followed_like_the_kernel_does() {
    let bench = bench();
    let host = bench.place.join("tree");
    for name in [
        "plain",
        "untidy",
        "a/up",
        "a/b/up-up",
        "twice",
        "behind-a-link",
        "a/there-and-back",
        "dir/file",
        "dir/up-up",
        "a/parent/a/parent/file",
    ] {
        let expected = fs::read_to_string(host.join(name)).unwrap();
        assert_eq!(bench.read("one", name).unwrap(), expected, "{name}");
    }
    assert_eq!(bench.read("one", "/behind-a-link").unwrap(), "in a");
    let (at, entries) = bench.files().list(&bench.root("one"), &path("/dir")).unwrap();
    assert_eq!((at, entries.len()), (path("/a/b"), 3));
}

#[test]
fn links_that_lead_nowhere_or_out_are_errors() {
    let bench = bench();
    let root = bench.root("one");
    let files = bench.files();
    let open = |name: &str| files.open(&root, &path(name));
    for name in ["/self", "/loop-a", "/loop-b", "/self/x"] {
        assert_vault_error!(open(name), VaultError::Tree(TreeError::LinkLoop { .. }));
    }
    for name in ["/absolute", "/outside", "/outside-too", "/outside/x"] {
        assert_vault_error!(open(name), VaultError::Tree(TreeError::LinkOutside { .. }));
    }
    for name in ["/dangling", "/through-a-file", "/file/x"] {
        assert_vault_error!(open(name), VaultError::Tree(TreeError::NoEntry { .. }));
    }
    let entry = files.stat(&root, &path("/absolute")).unwrap();
    assert_eq!(entry.size(), "/etc/passwd".len() as u64, "the link itself is no secret");
    // Writing does not go through a link; what it leads to would change unasked.
    let one = bench.resolver().workspace("one").unwrap();
    assert_vault_error!(
        bench.try_write(&one, "/plain", "x"),
        VaultError::Tree(TreeError::NotAFile { .. })
    );
    assert_vault_error!(
        bench.try_write(&one, "/dir/new", "x"),
        VaultError::Tree(TreeError::NotADirectory { .. })
    );
}
