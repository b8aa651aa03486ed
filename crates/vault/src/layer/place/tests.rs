//! Tests of what is left out unread.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::actor::Actor;
use crate::import::options::ImportOptions;
use crate::layer::access::{PlainAccess, Reach};
use crate::layer::written::{OPAQUE, Written};
use crate::registry::VaultRegistry;
use crate::vault::VaultOptions;

const NO_LIMIT: LinkLimit = LinkLimit { names: u64::MAX, bytes: u64::MAX };

/// A vault with a group of two names that is placed first, and one that is placed last.
fn vault(folder: &Path) -> Vault {
    let source = folder.join("source");
    for (dir, first) in [("a", "x"), ("z", "x")] {
        fs::create_dir_all(source.join(dir)).unwrap();
        fs::write(source.join(dir).join(first), dir).unwrap();
        fs::hard_link(source.join(dir).join(first), source.join(dir).join("y")).unwrap();
    }
    let (home, actor) =
        (VaultRegistry::new(folder.join("home"), VaultOptions::default()), Actor::user("t"));
    home.create("v", Some(&source), &ImportOptions::default(), &actor).unwrap().vault
}

/// Places the links; what is in `a` was in place well before the end, what is in `z` was not.
fn placed(vault: &Vault) -> Upper {
    let mut upper = vault.begin_upper(&vault.head().unwrap().root).unwrap();
    upper.place_links(vault, NO_LIMIT).unwrap();
    let changed = |name: &str| {
        let noted = upper.placed.inodes.iter().find(|inode| inode.names[0] == name.as_bytes());
        noted.unwrap().noted.as_ref().unwrap().changed
    };
    let (a, z) = (changed("a/x"), changed("z/x"));
    let (seconds, nanoseconds) = a.max(z);
    upper.placed.settled = (seconds, nanoseconds + 1);
    let late = upper.placed.inodes.iter_mut().find(|inode| inode.names[0] == b"z/x").unwrap();
    late.noted.as_mut().unwrap().changed = upper.placed.settled;
    upper
}

/// The names that are left out unread.
fn untouched(upper: &Upper) -> Vec<String> {
    let reach = Reach::new(&upper.dir(), &PlainAccess).unwrap();
    let mut dirs = Written::scan(&reach).unwrap().dirs;
    upper.placed.mark_untouched(&mut dirs);
    let names = dirs.iter().flat_map(|dir| {
        let left = dir.entries.iter().filter(|entry| matches!(entry.kind, Kind::Untouched));
        left.map(|entry| String::from_utf8(join(&dir.path, &entry.name)).unwrap())
    });
    names.collect()
}

#[test]
fn what_nobody_touched_is_not_read_if_a_change_would_show() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault(folder.path());
    assert_eq!(untouched(&placed(&vault)), ["a/x", "a/y"]);
}

#[test]
fn what_somebody_touched_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault(folder.path());
    let changes: [fn(&Path); 6] = [
        |top| fs::write(top.join("a/x"), "b").unwrap(),
        |top| fs::set_permissions(top.join("a/x"), fs::Permissions::from_mode(0o600)).unwrap(),
        |top| fs::remove_file(top.join("a/y")).unwrap(),
        |top| fs::hard_link(top.join("a/y"), top.join("a/z")).unwrap(),
        |top| fs::rename(top.join("a/y"), top.join("y")).unwrap(),
        |top| {
            fs::remove_file(top.join("a/y")).unwrap();
            fs::create_dir(top.join("a/y")).unwrap();
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let upper = placed(&vault);
        change(&upper.dir());
        assert_eq!(untouched(&upper), Vec::<String>::new(), "change {at}");
    }
}

#[test]
fn what_would_be_gone_without_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault(folder.path());
    let upper = placed(&vault);
    let opaque = disk::bytes_path(OPAQUE).as_os_str();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(upper.dir().join("a"), opaque, b"y", flags).unwrap();
    assert_eq!(untouched(&upper), Vec::<String>::new());
    let base = *upper.base();
    assert_eq!(vault.adopt(upper, &PlainAccess).unwrap().root, base);
}
