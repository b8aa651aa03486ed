//! Hard links are what they were, and never more.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use offshoot_needs::needs;
use offshoot_vault::{ImportOptions, SkipReason};

use crate::support::{
    Scratch, actor, assert_same, edit, everything_kept, export, file, head, home, import, path,
    scanned, vault_of,
};

#[test]
fn links_of_links_and_pipes_are_kept_in_layers_too() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    symlink("nowhere", source.join("b-link")).unwrap();
    fs::hard_link(source.join("b-link"), source.join("a-link")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        source.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    fs::hard_link(source.join("fifo"), source.join("pipe")).unwrap();
    let vault = vault_of(&scratch, &source);
    let out = export(&vault, &head(&vault), &scratch.path().join("out"));
    assert_same(&scanned(&source), &scanned(&out), &everything_kept());
    let layer = &vault.stack(&head(&vault), &[]).unwrap().directories[0];
    assert_same(&scanned(&source), &scanned(layer), &everything_kept());
}

#[test]
fn a_group_number_from_another_time_links_nothing_that_differs() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::write(source.join("a"), "first").unwrap();
    fs::hard_link(source.join("a"), source.join("b")).unwrap();
    let vault = vault_of(&scratch, &source);
    let old_b = vault.tree(&head(&vault)).unwrap().find(&path("/b")).unwrap();
    // The group's number comes from the path `a`, so another group that starts there has it too.
    fs::remove_file(source.join("a")).unwrap();
    fs::remove_file(source.join("b")).unwrap();
    fs::write(source.join("a"), "second").unwrap();
    fs::hard_link(source.join("a"), source.join("c")).unwrap();
    let imported = import(&vault, &source);
    let mixed = edit(&vault, &imported.root, |editor| editor.put(&path("/b"), old_b).unwrap());
    let out = export(&vault, &mixed, &scratch.path().join("out"));
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(
        (read("a"), read("b"), read("c")),
        ("second".into(), "first".into(), "second".into())
    );
    let inode = |name: &str| fs::metadata(out.join(name)).unwrap().ino();
    assert!(inode("a") == inode("c") && inode("a") != inode("b"));
}

#[test]
fn a_group_left_with_one_name_is_an_ordinary_file() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::write(source.join("a"), "shared").unwrap();
    fs::hard_link(source.join("a"), source.join("b")).unwrap();
    let vault = vault_of(&scratch, &source);
    let new = file(&vault, b"own");
    let root = edit(&vault, &head(&vault), |editor| editor.put(&path("/a"), new).unwrap());
    let out = export(&vault, &root, &scratch.path().join("out"));
    assert_eq!(fs::read_to_string(out.join("a")).unwrap(), "own");
    assert_eq!(fs::read_to_string(out.join("b")).unwrap(), "shared");
    assert_eq!(fs::metadata(out.join("b")).unwrap().nlink(), 1);
}

#[needs(UserXattr)]
#[test]
fn attributes_that_cannot_be_kept_are_named() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::write(source.join("file"), "x").unwrap();
    let long = format!("user.overlay.{}", "n".repeat(242));
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(source.join("file"), long.as_str(), b"", flags).unwrap();
    let home = home(&scratch);
    let created = home.create("v", Some(&source), &ImportOptions::default(), &actor()).unwrap();
    let skipped = created.report.skipped;
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0].why, SkipReason::Attributes(vec![long]));
}
