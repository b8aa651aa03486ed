//! The folder that the vault is bound to, and somebody who works in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use offshoot_tests::rng::Rng;
use offshoot_tests::scan::{self, scan};

use crate::tree::{Kind, Node, Stamp, Tree};

/// A small project.
pub(crate) fn build(project: &Path, rng: &mut Rng) {
    for name in ["a", "b/c", "src/d"] {
        fs::create_dir_all(project.join(name)).unwrap();
    }
    for name in ["one", "a/one", "a/two", "b/c/one", "src/large"] {
        let length = if name == "src/large" { 70_000 } else { rng.below(500) as usize };
        fs::write(project.join(name), rng.bytes(length)).unwrap();
    }
    symlink("a/one", project.join("link")).unwrap();
}

/// Changes something in the project.
pub(crate) fn change(project: &Path, rng: &mut Rng) {
    let names = ["one", "a/one", "a/three", "b/c/one", "b/new", "src/large", "link", "src/d"];
    for _ in 0..=rng.below(3) {
        let path = project.join(rng.pick(&names).unwrap());
        let is_directory = path.is_dir() && !path.is_symlink();
        match rng.below(6) {
            0 if path.symlink_metadata().is_err() => symlink("somewhere", &path).unwrap(),
            0 | 1 if is_directory => fs::remove_dir_all(&path).unwrap(),
            0 | 1 if path.symlink_metadata().is_ok() => fs::remove_file(&path).unwrap(),
            2 if path.is_file() && !path.is_symlink() => {
                let mode = if rng.one_in(2) { 0o755 } else { 0o600 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            3 if path.symlink_metadata().is_err() => fs::create_dir_all(&path).unwrap(),
            _ if !is_directory && !path.is_symlink() => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let length = if rng.one_in(8) { 80_000 } else { rng.below(300) };
                fs::write(&path, rng.bytes(length as usize)).unwrap();
            }
            _ => {}
        }
    }
}

/// A folder of the host as the model sees it.
pub(crate) fn tree(folder: &Path) -> Tree {
    let nodes = scan(folder).unwrap().0.into_iter().map(|(path, node)| {
        let kind = match node.kind {
            scan::Kind::File => Kind::File(node.hash.unwrap()),
            scan::Kind::Directory => Kind::Directory,
            scan::Kind::Symlink => Kind::Symlink(node.target.unwrap()),
            other => panic!("nobody made a {other:?}"),
        };
        let stamp = Stamp::Host(node.mtime.0, node.mtime.1);
        (String::from_utf8(path).unwrap(), Node { kind, mode: node.mode, stamp })
    });
    Tree(nodes.collect())
}
