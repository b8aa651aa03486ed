//! Files that an ordinary user closed to themselves are adopted, and can be read later.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_host::HostError;
use offshoot_needs::needs;
use offshoot_tree::{Body, RootId};
use offshoot_vault::{
    Access, CheckDepth, GcOptions, ImportOptions, PlainAccess, SkipReason, Upper, Vault, VaultError,
};
use rustix::fs::{Mode, OFlags, XattrFlags};

use crate::children;
use crate::overlay::upper_options;
use crate::stacks::Mounts;
use crate::support::{Scratch, actor, head, home_at, path};

/// Opens what its owner may open up, and leaves the modes as they were.
struct OwnersAccess(PathBuf);

impl Access for OwnersAccess {
    fn open(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        let path = self.0.join(std::ffi::OsStr::from_bytes(path));
        let mut closed = Vec::new();
        let ways: Vec<&Path> =
            path.ancestors().take_while(|way| way.starts_with(&self.0)).collect();
        for way in ways.into_iter().rev() {
            let found = fs::symlink_metadata(way)?;
            if !found.is_symlink() && found.permissions().mode() & 0o700 != 0o700 {
                fs::set_permissions(way, fs::Permissions::from_mode(0o700))?;
                closed.push((way, found.permissions()));
            }
        }
        let opened = rustix::fs::open(&path, flags, Mode::empty());
        for (way, mode) in closed.into_iter().rev() {
            fs::set_permissions(way, mode)?;
        }
        Ok(opened?)
    }
}

#[needs(Overlay, UserXattr, UserNamespace)]
#[test]
fn closed_files_of_an_ordinary_user() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("closed files", scratch.path());
}

pub(crate) fn as_ordinary_user(place: &Path) {
    let source = place.join("source");
    fs::create_dir_all(source.join("dir")).unwrap();
    for name in ["file", "dir/gone", "dir/left"] {
        fs::write(source.join(name), name).unwrap();
    }
    let options = ImportOptions::default();
    let vault = home_at(place).create("v", Some(&source), &options, &actor()).unwrap().vault;
    refused_without_access(&vault);
    let base = head(&vault);
    let mut mounts = Mounts::new(place);
    for copied in [false, true] {
        let mut upper = write_inside(&vault, &base, place);
        if copied {
            let access = OwnersAccess(upper.dir());
            upper = upper.into_copy(&vault, &access).unwrap();
        }
        let access = OwnersAccess(upper.dir());
        let adopted = vault.adopt(upper, &access).unwrap();
        vault.transact("test", &actor(), |tx| adopted.record(tx)).unwrap();
        crate::support::commit(&vault, &adopted.root);
        assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
        let skipped: Vec<_> = adopted.skipped.iter().map(|s| (s.path.as_slice(), &s.why)).collect();
        assert_eq!(skipped, [(b"dir/gone".as_slice(), &SkipReason::Socket)]);
        look(&vault, &adopted.root);
        mounts.add(&vault, &adopted.root, &[]);
    }
    mounts.look();
}

fn refused_without_access(vault: &Vault) {
    let upper = vault.begin_upper(&head(vault)).unwrap();
    let file = upper.dir().join("closed");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let refused = vault.adopt(upper, &PlainAccess);
    assert!(matches!(refused, Err(VaultError::Host(HostError::Io { .. }))), "{refused:?}");
}

/// Writes through an overlay in a namespace of this user's own; it is gone with the process that writes.
fn write_inside(vault: &Vault, base: &RootId, place: &Path) -> Upper {
    let upper = vault.begin_upper(base).unwrap();
    fs::create_dir_all(place.join("point")).unwrap();
    let script = "cd \"$1\" && mount -t overlay overlay \"$3/point\" -o \"$2\" && cd \"$3\" || exit 1; \
                  shift 3; exec \"$@\"";
    let (layers, options) = (upper.layers_dir().to_str().unwrap(), upper_options(vault, &upper));
    let at = place.to_str().unwrap();
    let behind = ["unshare", "-Urm", "sh", "-c", script, "sh", layers, &options, at];
    let output = children::command("write closed files", place, &behind).output().unwrap();
    children::assert_passed(&output);
    upper
}

/// Runs inside the namespace.
pub(crate) fn write(place: &Path) {
    let top = place.join("point");
    let close = |name: &str, mode: u32| {
        fs::set_permissions(top.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(top.join("shut")).unwrap();
    fs::write(top.join("short"), "secret").unwrap();
    fs::write(top.join("shut/long"), "l".repeat(100_000)).unwrap();
    std::os::unix::fs::symlink("long", top.join("shut/link")).unwrap();
    fs::write(top.join("file"), "changed").unwrap();
    rustix::fs::setxattr(top.join("short"), "user.mine", b"1", XattrFlags::empty()).unwrap();
    rustix::fs::setxattr(top.join("shut"), "user.mine", b"2", XattrFlags::empty()).unwrap();
    fs::remove_file(top.join("dir/gone")).unwrap();
    UnixListener::bind(top.join("dir/gone")).unwrap();
    close("short", 0);
    close("shut", 0);
    close("dir", 0o500);
    close("", 0o300);
}

fn look(vault: &Vault, root: &RootId) {
    let tree = vault.tree(root).unwrap();
    let read = |name: &str| match tree.find(&path(name)).unwrap().body {
        Body::File { blob, .. } => vault.objects().unwrap().blob(&blob).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(read("/short"), b"secret");
    assert_eq!(read("/shut/long"), "l".repeat(100_000).as_bytes());
    assert_eq!(read("/file"), b"changed");
    assert!(tree.get(&path("/dir/gone")).unwrap().is_none());
    assert!(tree.get(&path("/dir/left")).unwrap().is_some());
    let xattr = |name: &str| tree.find(&path(name)).unwrap().meta.xattrs;
    assert_eq!(xattr("/short"), [(b"user.mine".to_vec(), b"1".to_vec())]);
    assert_eq!(xattr("/shut"), [(b"user.mine".to_vec(), b"2".to_vec())]);
    let mode = |name: &str| tree.find(&path(name)).unwrap().meta.mode;
    assert_eq!([mode("/"), mode("/short"), mode("/shut"), mode("/dir")], [0o300, 0, 0, 0o500]);
}

/// Whatever modes a command leaves to directories, its layer and its vault can be removed.
#[needs(Overlay, UserXattr, UserNamespace)]
#[test]
fn closed_directories_are_removed() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("remove closed directories", scratch.path());
}

pub(crate) fn removed_as_ordinary_user(place: &Path) {
    let home = home_at(place);
    let vault = home.create("v", None, &ImportOptions::default(), &actor()).unwrap().vault;
    let closed = |top: &Path| {
        for mode in [0o000, 0o100, 0o200, 0o300, 0o400, 0o500, 0o600] {
            let outer = top.join(format!("{mode:o}"));
            fs::create_dir_all(outer.join("inner")).unwrap();
            fs::write(outer.join("inner/file"), "x").unwrap();
            fs::write(outer.join("file"), "x").unwrap();
            for dir in [outer.join("inner"), outer] {
                fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    };
    let upper = vault.begin_upper(&head(&vault)).unwrap();
    closed(&upper.dir());
    let access = OwnersAccess(upper.dir());
    let adopted = vault.adopt(upper, &access).unwrap();
    vault.transact("test", &actor(), |tx| adopted.record(tx)).unwrap();
    let layers = || fs::read_dir(vault.dir().join("layers")).unwrap().count();
    let before = layers();
    let all = GcOptions {
        keep_operations: 0,
        keep_age: Duration::ZERO,
        max_size: None,
        dry_run: false,
        pack: true,
    };
    vault.collect(&all, &actor()).unwrap();
    assert!(layers() < before, "the layer that nothing refers to is still there");

    // A deletion that was cut short, and one that is not.
    let vaults = home.dir().join("vaults");
    for name in ["01abc.del", "01def.del"] {
        closed(&vaults.join(name));
    }
    home.list().unwrap();
    assert_eq!(fs::read_dir(&vaults).unwrap().count(), 1);
    closed(&vault.dir().join("layers/x"));
    drop(vault);
    home.delete("v").unwrap();
    assert_eq!(fs::read_dir(&vaults).unwrap().count(), 0);
}
