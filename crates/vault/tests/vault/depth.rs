//! Trees deeper than there are descriptors.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use offshoot_vault::{CheckDepth, ImportOptions, VaultRegistry};
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::children;
use crate::support::{
    KEEP_LIMITS, Scratch, actor, assert_same, everything_kept, export, head, home_at, scanned,
};

const DEPTH: usize = 2_500;
/// Still more than there are descriptors, for what is done several times.
const LESS: usize = 600;

/// A chain of directories with a file in every hundredth.
fn dig(dir: &Path, depth: usize) {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut at: OwnedFd = File::open(dir).unwrap().into();
    for level in 0..depth {
        if level % 100 == 0 || level == depth - 1 {
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
    let scratch = Scratch::new();
    let (source, less) = (scratch.folder("source"), scratch.folder("less"));
    dig(&source, DEPTH);
    dig(&less, LESS);
    let limited = ["sh", "-c", "ulimit -n 256 && exec \"$@\"", "sh"];
    let mut command = children::command("usual limits", scratch.path(), &limited);
    children::assert_passed(&command.env(KEEP_LIMITS, "1").output().unwrap());
    for (source, out) in [(&source, "out"), (&less, "less-out")] {
        let out = scanned(&scratch.path().join(out));
        assert_same(&scanned(source), &out, &everything_kept());
    }
}

/// Import, check, stacks, export and removal of what the other side made.
pub(crate) fn in_usual_limits(place: &Path) {
    let home = home_at(place);
    let (source, less) = (place.join("source"), place.join("less"));
    let created = home.create("v", Some(&source), &ImportOptions::default(), &actor()).unwrap();
    assert_eq!(created.report.skipped, []);
    let vault = created.vault;
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    export(&vault, &head(&vault), &place.join("out"));
    drop(vault);
    home.delete("v").unwrap();
    from_empty(&home, &less, &place.join("less-out"));
    home.delete("e").unwrap();
    let left = std::fs::read_dir(home.dir().join("vaults")).unwrap().count();
    assert_eq!(left, 0);
}

/// A tree brought into an empty vault and stacked upon it as one delta layer.
fn from_empty(home: &VaultRegistry, source: &Path, out: &Path) {
    let vault = home.create("e", None, &ImportOptions::default(), &actor()).unwrap().vault;
    let imported = vault.import(source, &ImportOptions::default()).unwrap();
    let stack = vault.stack(&imported.root, &[head(&vault)]).unwrap();
    assert_eq!(stack.directories.len(), 2);
    export(&vault, &imported.root, out);
}
