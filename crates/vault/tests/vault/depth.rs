//! Trees deeper than there are descriptors.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use offshoot_tests::skip::{Feature, need};
use offshoot_vault::{CheckDepth, Home, ImportOptions, RootId};
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::children;
use crate::support::{
    KEEP_LIMITS, Scratch, actor, assert_same, everything_kept, export, head, home_at, scanned,
};

const DEPTH: usize = 2_500;

/// A chain of directories with a file in every hundredth.
fn dig(dir: &Path) {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut at: OwnedFd = File::open(dir).unwrap().into();
    for level in 0..DEPTH {
        if level % 100 == 0 || level == DEPTH - 1 {
            let create = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = openat(&at, "file", create, Mode::from_raw_mode(0o644)).unwrap();
            write!(File::from(file), "level {level}").unwrap();
        }
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = openat(&at, "d", flags, Mode::empty()).unwrap();
    }
}

#[test]
fn depth_needs_no_descriptors() {
    if !need(Feature::Program("sh")) {
        return;
    }
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    dig(&source);
    let limited = ["sh", "-c", "ulimit -n 256 && exec \"$@\"", "sh"];
    let mut command = children::command("usual limits", scratch.path(), &limited);
    children::assert_passed(&command.env(KEEP_LIMITS, "1").output().unwrap());
    for out in ["out", "out2"] {
        let out = scanned(&scratch.path().join(out));
        assert_same(&scanned(&source), &out, &everything_kept());
    }
}

/// Import, check, stacks, export and removal of what the other side made.
pub(crate) fn in_usual_limits(place: &Path) {
    let (home, source) = (home_at(place), place.join("source"));
    let created = home.create("v", Some(&source), &ImportOptions::default(), &actor()).unwrap();
    assert_eq!(created.report.skipped, []);
    let vault = created.vault;
    let root = head(&vault);
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    export(&vault, &root, &place.join("out"));
    let root2 = from_empty(&home, &source, &place.join("out2"));
    assert_eq!(root, root2);
    home.delete("v").unwrap();
    home.delete("e").unwrap();
    let left = std::fs::read_dir(home.dir().join("vaults")).unwrap().count();
    assert_eq!(left, 0);
}

/// The same tree, brought into an empty vault and stacked upon it as one delta layer.
fn from_empty(home: &Home, source: &Path, out: &Path) -> RootId {
    let vault = home.create("e", None, &ImportOptions::default(), &actor()).unwrap().vault;
    let imported = vault.import(source, &ImportOptions::default()).unwrap();
    let stack = vault.stack(&imported.root, &[head(&vault)]).unwrap();
    assert_eq!(stack.directories.len(), 2);
    export(&vault, &imported.root, out);
    imported.root
}
