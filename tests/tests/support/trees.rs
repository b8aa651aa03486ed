//! The awkward tree is what it should be, and no difference to it goes unseen.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use offshoot_needs::needs;
use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::scan::{CompareOptions, Kind, Node, Scan, compare, scan};
use rustix::fs::XattrFlags;
use tempfile::TempDir;

const ALL: AwkwardOptions = AwkwardOptions {
    big_bytes: 3 << 20,
    many: 2000,
    socket: true,
    foreign_owners: true,
    deep: true,
    xattrs: true,
    large_xattrs: true,
    seed: 5,
};

fn built(options: &AwkwardOptions) -> (TempDir, Scan) {
    let dir = tempfile::tempdir().unwrap();
    awkward::build(dir.path(), options).unwrap();
    let scan = scan(dir.path()).unwrap();
    (dir, scan)
}

fn node<'a>(scan: &'a Scan, path: &str) -> &'a Node {
    scan.0.get(path.as_bytes()).unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn tree_is_the_same_each_time() {
    let (first, one) = built(&ALL);
    let (second, two) = built(&ALL);
    let same = CompareOptions::default();
    assert_eq!(compare(&one, &two, &same), Vec::<String>::new());
    let (third, other) = built(&AwkwardOptions { seed: 6, ..ALL });
    assert!(!compare(&one, &other, &same).is_empty());
    for dir in [&first, &second, &third] {
        awkward::clear(dir.path()).unwrap();
    }
}

#[test]
fn tree_has_every_difficulty() {
    let (dir, scan) = built(&ALL);
    for kind in [Kind::File, Kind::Directory, Kind::Symlink, Kind::Fifo, Kind::Socket] {
        assert!(scan.0.values().any(|node| node.kind == kind), "{kind:?}");
    }
    for bit in 0..12 {
        assert_ne!(node(&scan, &format!("modes/bit{bit}")).mode & (1 << bit), 0, "bit {bit}");
    }
    assert_eq!(node(&scan, "modes/7777").mode, 0o7777);
    assert_eq!(node(&scan, "directories/0555").mode, 0o555);
    assert_eq!(node(&scan, "links/long-target").size, 4000);
    assert_eq!(node(&scan, "links/near/one").links.len(), 3);
    assert_eq!(node(&scan, "links/far/a").links, [&b"links/far/a"[..], b"links/near/b"]);
    assert!(node(&scan, "links/far/alike").links.is_empty());
    assert_eq!(node(&scan, "times/before-epoch").mtime, (-1, 999_999_999));
    assert_eq!(node(&scan, "times/year-2100.d").mtime, (4_102_444_800, 1));
    assert_eq!(node(&scan, "xattrs/file").xattrs[&b"user.binary"[..]], b"\0\xff\n\0");
    assert_eq!(node(&scan, "xattrs/large").xattrs[&b"user.large"[..]].len(), 3000);
    assert_eq!(node(&scan, "xattrs/opaque").xattrs[&b"user.overlay.opaque"[..]], b"y");
    let holes = node(&scan, "contents/holes");
    assert_eq!(holes.size, 64 << 20);
    assert!(holes.blocks * 512 < 1 << 20, "{} blocks", holes.blocks);
    assert_eq!(node(&scan, "big").size, 3 << 20);
    assert!(node(&scan, "big").blocks * 512 >= 3 << 20);
    assert_eq!(scan.0.keys().filter(|path| path.starts_with(b"many/")).count(), 2000);
    assert!(scan.0.keys().filter(|path| path.len() > 4096).count() > 2);
    assert!(scan.0.keys().any(|path| path.iter().filter(|byte| **byte == b'/').count() > 300));
    assert!(scan.0.keys().any(|path| path.ends_with(&[b'n'; 255])));
    assert!(scan.0.keys().any(|path| std::str::from_utf8(path).is_err()));
    if rustix::process::geteuid().is_root() {
        assert_eq!(node(&scan, "modes/none").mode, 0);
        assert_eq!(node(&scan, "owners/far.link").uid, 4_000_000_000);
    }
    awkward::clear(dir.path()).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn faithful_copy_is_equal() {
    // `cp` names things by their whole path, so it cannot follow where the tree is deepest.
    let (dir, original) = built(&AwkwardOptions { deep: false, ..ALL });
    let target = tempfile::tempdir().unwrap();
    let copy = target.path().join("copy");
    let status = Command::new("cp").arg("-a").arg(dir.path()).arg(&copy).status().unwrap();
    assert!(status.success());
    let copied = scan(&copy).unwrap();
    assert_eq!(compare(&original, &copied, &CompareOptions::default()), Vec::<String>::new());

    fs::remove_file(copy.join("sockets/socket")).unwrap();
    let without = scan(&copy).unwrap();
    let options = CompareOptions { special: false, directory_mtimes: false, ..Default::default() };
    assert_eq!(compare(&original, &without, &options), Vec::<String>::new());
    for path in [dir.path(), &copy] {
        awkward::clear(path).unwrap();
    }
}

type Change = fn(&Path);

/// A change, and what must be said of it and of nothing else.
const CHANGES: [(&str, Change); 14] = [
    ("f: mode 0644 != 0600", |dir| {
        fs::set_permissions(dir.join("f"), fs::Permissions::from_mode(0o600)).unwrap();
    }),
    ("f: hash ", |dir| with_times_kept(dir, "f", b"FILE")),
    ("f: size 4 != 5", |dir| with_times_kept(dir, "f", b"file!")),
    ("f: mtime ", |dir| set_time(&dir.join("f"), 1)),
    ("d: mtime ", |dir| set_time(&dir.join("d"), 1)),
    ("(top): mtime ", |dir| set_time(dir, 1)),
    ("f: xattrs [] != [user.x=\\x00]", |dir| set_xattr(&dir.join("f"))),
    ("d: xattrs [] != [user.x=\\x00]", |dir| set_xattr(&dir.join("d"))),
    ("s: target here != there", |dir| {
        replaced(dir, "s", |path| std::os::unix::fs::symlink("there", path).unwrap());
    }),
    ("h1: links [h1, h2] != []", |dir| {
        replaced(dir, "h2", |path| fs::write(path, "hard").unwrap())
    }),
    ("empty: kind File != Directory", |dir| {
        replaced(dir, "empty", |path| fs::create_dir(path).unwrap());
    }),
    ("f: only in the first (File)", |dir| fs::remove_file(dir.join("f")).unwrap()),
    ("\\n\\xff: only in the second (File)", |dir| {
        fs::write(dir.join(OsStr::from_bytes(b"\n\xff")), "").unwrap();
    }),
    ("d/inner: only in the first (Directory)", |dir| fs::remove_dir(dir.join("d/inner")).unwrap()),
];

#[test]
fn no_change_goes_unseen() {
    for (expected, change) in CHANGES {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("f", "file"), ("h1", "hard"), ("empty", "")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        fs::hard_link(dir.path().join("h1"), dir.path().join("h2")).unwrap();
        fs::create_dir_all(dir.path().join("d/inner")).unwrap();
        std::os::unix::fs::symlink("here", dir.path().join("s")).unwrap();
        let before = scan(dir.path()).unwrap();
        change(dir.path());
        let after = scan(dir.path()).unwrap();
        let found = compare(&before, &after, &CompareOptions::default());
        assert!(found.iter().any(|line| line.starts_with(expected)), "{expected}: {found:?}");
        assert_eq!(compare(&after, &after, &CompareOptions::default()), Vec::<String>::new());
        let metadata = ["mode", "mtime", "xattrs", "links"];
        if metadata.iter().any(|field| expected.contains(&format!(": {field} "))) {
            let content = compare(&before, &after, &CompareOptions::content());
            assert_eq!(content, Vec::<String>::new(), "{expected}");
        }
    }
}

#[needs(Root)]
#[test]
fn owners_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "").unwrap();
    let before = scan(dir.path()).unwrap();
    std::os::unix::fs::chown(dir.path().join("f"), Some(7), Some(8)).unwrap();
    let after = scan(dir.path()).unwrap();
    assert_eq!(compare(&before, &after, &CompareOptions::default()), ["f: owner 0:0 != 7:8"]);
    let options = CompareOptions { owners: false, ..Default::default() };
    assert_eq!(compare(&before, &after, &options), Vec::<String>::new());
}

#[test]
fn ordinary_user_gets_error_nodes() {
    let dir = tempfile::tempdir().unwrap();
    crate::children::run_as_ordinary_user("unreadable", dir.path());
}

#[test]
fn a_place_of_an_ordinary_user_is_gone_when_dropped() {
    let dir = tempfile::tempdir().unwrap();
    crate::children::run_as_ordinary_user("closed_places", dir.path());
}

fn with_times_kept(dir: &Path, name: &str, bytes: &[u8]) {
    let time = fs::metadata(dir.join(name)).unwrap().modified().unwrap();
    fs::write(dir.join(name), bytes).unwrap();
    fs::File::open(dir.join(name)).unwrap().set_modified(time).unwrap();
}

fn set_time(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

fn set_xattr(path: &Path) {
    rustix::fs::setxattr(path, "user.x", b"\0", XattrFlags::empty()).unwrap();
}

fn replaced(dir: &Path, name: &str, make: fn(&Path)) {
    fs::remove_file(dir.join(name)).unwrap();
    make(&dir.join(name));
}
