//! What programs write through a real overlayfs is adopted exactly.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::rng::seed_from_env_or;
use offshoot_tests::scan::CompareOptions;
use offshoot_tree::RootId;
use offshoot_vault::{CheckDepth, PlainAccess, SkipReason, Vault};
use rustix::fs::{CWD, FileType, Mode, XattrFlags};

use crate::overlay::{
    Mounted, adopted, adopted_copy, as_mounted, check_adopted, layer_count, mounts_of_ones_own,
    shown,
};
use crate::support::{
    Scratch, assert_same, commit, export, head, is_long, path, scanned, vault_of,
};
use crate::wild::Wild;

#[needs(Root, Overlay)]
#[test]
fn random_writes_through_an_overlay() {
    mounts_of_ones_own();
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
            root = match history % 3 {
                0 => adopted_copy(&vault, &root, &place, change),
                _ => adopted(&vault, &root, &place, change),
            };
            commit(&vault, &root);
        }
        assert_eq!(vault.stack(&root, &[]).unwrap().directories.len(), 4, "each has its layer");
        assert_in_order(&vault);
    }
}

/// A vault of a small tree, and what is in it.
fn small(scratch: &Scratch) -> (Vault, RootId) {
    let source = scratch.folder("source");
    fs::create_dir_all(source.join("dir/inner")).unwrap();
    for name in ["file", "other", "dir/one", "dir/inner/old"] {
        fs::write(source.join(name), name).unwrap();
    }
    symlink("file", source.join("link")).unwrap();
    fs::hard_link(source.join("other"), source.join("twin")).unwrap();
    let vault = vault_of(scratch, &source);
    let base = head(&vault);
    (vault, base)
}

#[track_caller]
fn assert_in_order(vault: &Vault) {
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

/// Every case by itself over the same tree, and then all of them one above the other.
#[needs(Root, Overlay, UserXattr)]
#[test]
fn every_kind_of_change() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    let mut above = base;
    for (at, (_, change)) in CHANGES.iter().enumerate() {
        let place = scratch.folder(&format!("alone-{at}"));
        let root = adopted(&vault, &base, &place, change);
        assert_ne!(root, base, "{}", CHANGES[at].0);
        let place = scratch.folder(&format!("above-{at}"));
        above = adopted(&vault, &above, &place, change);
        commit(&vault, &above);
    }
    assert_in_order(&vault);
}

type Case = (&'static str, fn(&Path));

const CHANGES: [Case; 15] = [
    ("a directory is replaced", |top| {
        fs::remove_dir_all(top.join("dir")).unwrap();
        fs::create_dir(top.join("dir")).unwrap();
        fs::write(top.join("dir/new"), "new").unwrap();
    }),
    ("a directory becomes a file", |top| {
        fs::remove_dir_all(top.join("dir")).unwrap();
        fs::write(top.join("dir"), "now a file").unwrap();
    }),
    ("a file becomes a directory", |top| {
        fs::remove_file(top.join("file")).unwrap();
        fs::create_dir(top.join("file")).unwrap();
        fs::write(top.join("file/inside"), "").unwrap();
    }),
    ("the link becomes a directory", |top| {
        fs::remove_file(top.join("link")).unwrap();
        fs::create_dir(top.join("link")).unwrap();
    }),
    ("the top's mode", |top| {
        fs::set_permissions(top, fs::Permissions::from_mode(0o1711)).unwrap();
    }),
    ("the top's attributes", |top| set_xattr(top, "user.mine", b"1")),
    ("the top's time", |top| {
        fs::write(top.join("passing"), "x").unwrap();
        fs::remove_file(top.join("passing")).unwrap();
    }),
    ("a pipe", |top| {
        rustix::fs::mknodat(CWD, top.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    }),
    ("a file with holes", |top| {
        let file = fs::File::create(top.join("sparse")).unwrap();
        file.set_len(10 << 20).unwrap();
        file.write_all_at(b"end", 9 << 20).unwrap();
    }),
    ("attributes that overlayfs reads itself", |top| {
        fs::write(top.join("marked"), "").unwrap();
        set_xattr(&top.join("marked"), "user.overlay.opaque", b"y");
        set_xattr(&top.join("marked"), "user.overlay.overlay.metacopy", b"");
        set_xattr(&top.join("marked"), &format!("user.overlay.{}", "n".repeat(230)), b"long");
    }),
    ("long names", |top| {
        fs::create_dir_all(top.join("d".repeat(255))).unwrap();
        fs::write(top.join("d".repeat(255)).join("f".repeat(255)), "").unwrap();
    }),
    ("files of no length", |top| {
        fs::write(top.join("empty"), "").unwrap();
        fs::write(top.join("dir2"), "").unwrap();
    }),
    ("new hard links", |top| {
        fs::write(top.join("b1"), "linked").unwrap();
        fs::hard_link(top.join("b1"), top.join("a1")).unwrap();
    }),
    ("a hard link to what was there", |top| {
        fs::hard_link(top.join("other"), top.join("another")).unwrap();
    }),
    ("one name of two is written to", |top| {
        fs::write(top.join("twin"), "alone now").unwrap();
    }),
];

fn set_xattr(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty()).unwrap();
}

#[needs(Root, Overlay)]
#[test]
fn hard_links_come_out_as_they_were_seen() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    let options = CompareOptions { hard_links: true, ..as_mounted() };
    for (at, (what, change)) in CHANGES[12..].iter().enumerate() {
        println!("{what}");
        let place = scratch.folder(&format!("place-{at}"));
        let mounted = Mounted::new(&vault, &base, &place);
        change(&mounted.point);
        let seen = scanned(&mounted.point);
        let adopted = vault.adopt(mounted.unmount(), &PlainAccess).unwrap();
        check_adopted(&vault, adopted, &seen, &place, &options);
    }
}

#[needs(Root, Overlay, UserXattr)]
#[test]
fn a_copy_is_adopted_like_the_first() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    for (at, (what, change)) in CHANGES.iter().enumerate() {
        println!("{what}");
        adopted_copy(&vault, &base, &scratch.folder(&format!("copy-{at}")), change);
    }
    let layers = layer_count(&vault);
    let same = adopted_copy(&vault, &base, &scratch.folder("same"), |_| {});
    assert_eq!((same, layer_count(&vault)), (base, layers));
    let place = scratch.folder("all");
    let mounted = Mounted::new(&vault, &base, &place);
    CHANGES[8].1(&mounted.point);
    CHANGES[12].1(&mounted.point);
    UnixListener::bind(mounted.point.join("socket")).unwrap();
    let copy = mounted.unmount().into_copy(&vault, &PlainAccess).unwrap();
    let found = |name: &str| fs::metadata(copy.dir().join(name)).unwrap();
    assert!(found("sparse").blocks() * 512 < 1 << 20, "holes are kept");
    assert_eq!((found("a1").nlink(), found("a1").ino()), (2, found("b1").ino()));
    assert!(copy.dir().with_file_name("exec.json").exists(), "the note goes with the files");
    assert_eq!(vault.adopt(copy, &PlainAccess).unwrap().skipped.len(), 1);
}

#[needs(Root, Overlay)]
#[test]
fn trees_deeper_than_a_path_can_be() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    let place = scratch.folder("place");
    let root = adopted(&vault, &base, &place, |top| {
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY;
        let mut at = rustix::fs::open(top, flags, Mode::empty()).unwrap();
        let name = "n".repeat(200);
        for _ in 0..30 {
            rustix::fs::mkdirat(&at, &name, Mode::RWXU).unwrap();
            at = rustix::fs::openat(&at, &name, flags, Mode::empty()).unwrap();
        }
        let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
        rustix::fs::openat(&at, "bottom", flags, Mode::RUSR).unwrap();
    });
    let names = "n".repeat(200) + "/";
    let bottom = path(&(names.repeat(30) + "bottom"));
    assert!(vault.tree(&root).unwrap().get(&bottom).unwrap().is_some());
    commit(&vault, &root);
    assert_in_order(&vault);
}

#[needs(Root, Overlay)]
#[test]
fn nothing_written_is_no_change() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let mut wild = Wild::new(&scratch.path().join("wild"), 3);
    wild.change(30);
    let vault = vault_of(&scratch, &wild.dir);
    let (base, layers) = (head(&vault), layer_count(&vault));
    let place = scratch.folder("place");
    assert_eq!(adopted(&vault, &base, &place, |_| {}), base);
    assert_eq!(layer_count(&vault), layers);
    assert_eq!(vault.figures().unwrap().layers as usize, layers);
}

#[needs(Root, Overlay)]
#[test]
fn what_makes_no_difference_is_not_kept() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    // Opened for writing, and so copied up, but left as it was.
    let open = |top: &Path, name: &str| {
        fs::File::options().write(true).open(top.join(name)).unwrap();
    };
    let layers = layer_count(&vault);
    let same = adopted(&vault, &base, &scratch.folder("none"), |top| {
        open(top, "dir/inner/old");
        open(top, "twin");
    });
    assert_eq!((same, layer_count(&vault)), (base, layers));
    let root = adopted(&vault, &base, &scratch.folder("some"), |top| {
        open(top, "dir/inner/old");
        open(top, "twin");
        fs::write(top.join("file"), "changed").unwrap();
    });
    let layer = &vault.stack(&root, &[]).unwrap().directories[0];
    let names: Vec<_> = fs::read_dir(layer).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["file"]);
    // Both names are still those of one file.
    let seen = shown(&vault, &root, &scratch.folder("again"));
    let out = export(&vault, &root, &scratch.path().join("out"));
    let options = CompareOptions { owners: false, ..CompareOptions::default() };
    assert_same(&scanned(&out), &seen, &options);
    assert_eq!(fs::metadata(out.join("twin")).unwrap().nlink(), 2);
}

#[test]
fn many_files_at_once() {
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    for count in [63, 64, 700] {
        let upper = vault.begin_upper(&base).unwrap();
        for number in 0..count {
            fs::write(upper.dir().join(format!("new-{number}")), format!("{count}")).unwrap();
        }
        let adopted = vault.adopt(upper, &PlainAccess).unwrap();
        let top = vault.objects().unwrap().root(&adopted.root).unwrap();
        assert_eq!(top.directory().unwrap().entries, count + 8);
        commit(&vault, &adopted.root);
    }
    assert_in_order(&vault);
}

#[test]
fn what_is_being_written_is_no_stray_layer() {
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    let upper = vault.begin_upper(&base).unwrap();
    let stray = || vault.check(CheckDepth::Structure).unwrap().stray_layers;
    assert_eq!(stray(), Vec::<String>::new());
    drop(upper);
    fs::create_dir(vault.dir().join("layers/left.tmp")).unwrap();
    assert_eq!(stray(), ["left.tmp"]);
}

#[needs(Root, Overlay)]
#[test]
fn sockets_and_devices_hide_what_was_below_them() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = small(&scratch);
    let place = scratch.folder("place");
    let mounted = Mounted::new(&vault, &base, &place);
    let top = &mounted.point;
    fs::set_permissions(top.join("dir"), fs::Permissions::from_mode(0o500)).unwrap();
    for name in ["file", "dir/one", "dir/new"] {
        fs::remove_file(top.join(name)).ok();
        UnixListener::bind(top.join(name)).unwrap();
    }
    let made = rustix::fs::mknodat(
        CWD,
        top.join("device"),
        FileType::CharacterDevice,
        Mode::RUSR,
        rustix::fs::makedev(1, 3),
    );
    made.unwrap();
    let seen = scanned(top);
    let adopted = vault.adopt(mounted.unmount(), &PlainAccess).unwrap();
    let not_kept = adopted.skipped.clone();
    let root = check_adopted(&vault, adopted, &seen, &place, &as_mounted());
    let skipped: Vec<_> = not_kept.iter().map(|s| (s.path.as_slice(), &s.why)).collect();
    let expected: [(&[u8], _); 4] = [
        (b"device", &SkipReason::Device),
        (b"file", &SkipReason::Socket),
        (b"dir/new", &SkipReason::Socket),
        (b"dir/one", &SkipReason::Socket),
    ];
    assert_eq!(skipped, expected);
    let layer = &vault.stack(&root, &[]).unwrap().directories[0];
    assert!(!layer.join("dir/new").exists() && !layer.join("device").exists());
    assert_eq!(fs::symlink_metadata(layer.join("dir/one")).unwrap().rdev(), 0);
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
    assert!(!dir.exists() && !dir.parent().unwrap().exists());
}
