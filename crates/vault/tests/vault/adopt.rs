//! What programs write through a real overlayfs is adopted exactly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_tests::image::private_mounts;
use offshoot_tests::rng::seed_from_env_or;
use offshoot_tests::scan::CompareOptions;
use offshoot_tests::skip::{Feature, need};
use offshoot_vault::{CheckDepth, PlainAccess, RootId, Upper, Vault};

use crate::support::{Scratch, actor, assert_same, export, head, is_long, scanned, vault_of};
use crate::wild::Wild;

/// An overlay over a root, writing into a directory that is to be adopted.
struct Mounted {
    point: PathBuf,
    upper: Upper,
}

impl Mounted {
    fn new(vault: &Vault, base: &RootId, place: &Path) -> Self {
        let upper = vault.begin_upper(base).unwrap();
        upper.note("{}").unwrap();
        assert!(upper.work_dir().is_dir());
        let point = place.join("point");
        fs::create_dir_all(&point).unwrap();
        let stack = vault.stack(base, &[]).unwrap();
        assert_eq!(stack.layers_dir, upper.layers_dir());
        let options = format!(
            "userxattr,volatile,lowerdir={},upperdir={},workdir={}",
            stack.names.join(":"),
            upper.fs_name(),
            upper.work_name()
        );
        let mut mount = Command::new("mount");
        mount.args(["-t", "overlay", "overlay", "-o", &options]).arg(&point);
        mount.current_dir(upper.layers_dir());
        assert!(mount.status().unwrap().success());
        Self { point, upper }
    }

    fn unmount(self) -> Upper {
        assert!(Command::new("umount").arg(&self.point).status().unwrap().success());
        self.upper
    }
}

fn can_mount() -> bool {
    need(Feature::Root) && need(Feature::Overlay)
}

/// Adopts what `work` writes; the adopted root must be what was seen while it was mounted.
fn adopted(vault: &Vault, base: &RootId, place: &Path, work: impl FnOnce(&Path)) -> RootId {
    let mounted = Mounted::new(vault, base, place);
    work(&mounted.point);
    let seen = scanned(&mounted.point);
    let adopted = vault.adopt(mounted.unmount(), &PlainAccess).unwrap();
    let committed = vault.transact("test", &actor(), |tx| adopted.record(tx));
    committed.unwrap();
    for layer in vault.stack(&adopted.root, &[]).unwrap().directories {
        let inside = fs::read_dir(layer.parent().unwrap()).unwrap().count();
        assert_eq!(inside, 1, "a sealed layer holds its files and nothing else");
    }
    let kept = export(vault, &adopted.root, &place.join(format!("kept-{}", adopted.root)));
    // Links into lower layers are split by overlayfs itself, and owners are the vault's on disk.
    let options = CompareOptions { owners: false, hard_links: false, ..CompareOptions::default() };
    assert_same(&seen, &scanned(&kept), &options);
    adopted.root
}

#[test]
fn random_writes_through_an_overlay() {
    if !can_mount() {
        return;
    }
    private_mounts().unwrap();
    let seed = seed_from_env_or(9);
    println!("seed {seed}");
    for history in 0..if is_long() { 100 } else { 10 } {
        let scratch = Scratch::new();
        let mut wild = Wild::new(&scratch.path().join("wild"), seed.wrapping_mul(999) + history);
        wild.change(20);
        let vault = vault_of(&scratch, &wild.dir);
        let mut root = head(&vault);
        for step in 0..3 {
            let place = scratch.folder(&format!("step-{step}"));
            let change = |point: &Path| Wild::at(point, seed + history * 10 + step).change(12);
            root = adopted(&vault, &root, &place, change);
            crate::support::commit(&vault, &root);
        }
        assert_eq!(vault.stack(&root, &[]).unwrap().directories.len(), 4, "each has its layer");
        assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    }
}

#[test]
fn nothing_written_is_no_change() {
    if !can_mount() {
        return;
    }
    private_mounts().unwrap();
    let scratch = Scratch::new();
    let mut wild = Wild::new(&scratch.path().join("wild"), 3);
    wild.change(30);
    let vault = vault_of(&scratch, &wild.dir);
    let base = head(&vault);
    let place = scratch.folder("place");
    assert_eq!(adopted(&vault, &base, &place, |_| {}), base);
}

#[test]
fn a_directory_that_was_replaced_shows_nothing_of_the_old_one() {
    if !can_mount() {
        return;
    }
    private_mounts().unwrap();
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::create_dir_all(source.join("dir/inner")).unwrap();
    fs::write(source.join("dir/inner/old"), "old").unwrap();
    fs::write(source.join("file"), "file").unwrap();
    let vault = vault_of(&scratch, &source);
    let base = head(&vault);
    let place = scratch.folder("place");
    let root = adopted(&vault, &base, &place, |point| {
        fs::remove_dir_all(point.join("dir")).unwrap();
        fs::create_dir(point.join("dir")).unwrap();
        fs::write(point.join("dir/new"), "new").unwrap();
        fs::remove_file(point.join("file")).unwrap();
        fs::create_dir(point.join("file")).unwrap();
    });
    let tree = vault.tree(&root).unwrap();
    assert!(tree.get(&crate::support::path("/dir/inner")).unwrap().is_none());
    assert!(tree.get(&crate::support::path("/dir/new")).unwrap().is_some());
}

#[test]
fn an_upper_that_is_not_adopted_leaves_nothing() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let vault = vault_of(&scratch, &source);
    let upper = vault.begin_upper(&head(&vault)).unwrap();
    let dir = upper.dir();
    fs::write(dir.join("x"), "x").unwrap();
    assert_eq!(*upper.base(), head(&vault));
    drop(upper);
    assert!(!dir.exists());
}
