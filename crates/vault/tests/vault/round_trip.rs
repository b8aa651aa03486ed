//! What is imported comes back.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::scan::{Kind, Scan};
use offshoot_tree::RootId;
use offshoot_vault::{CheckDepth, Created, ExportOptions, ImportOptions, SkipReason};

use crate::children;
use crate::support::{
    Scratch, actor, assert_same, everything_kept, export, head, home, home_at, import, is_long,
    path, scanned, vault_of,
};

fn options() -> AwkwardOptions {
    let (big_bytes, many) = if is_long() { (1 << 30, 20_000) } else { (8 << 20, 3_000) };
    AwkwardOptions { big_bytes, many, socket: true, ..AwkwardOptions::default() }
}

#[needs(UserXattr)]
#[test]
fn the_awkward_tree_survives() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    awkward::build(&source, &options()).unwrap();
    let before = scanned(&source);
    let created = home(&scratch).create("v", Some(&source), &ImportOptions::default(), &actor());
    let Created { vault, report, .. } = created.unwrap();
    assert_same(&before, &scanned(&source), &everything_kept());
    let skipped: Vec<_> = report.skipped.iter().map(|s| (s.path.as_slice(), &s.why)).collect();
    assert_eq!(skipped, [(&b"sockets/socket"[..], &SkipReason::Socket)]);
    let count = |kind| before.0.values().filter(|node| node.kind == kind).count() as u64;
    assert_eq!(report.files, count(Kind::File));
    assert_eq!(report.directories + 1, count(Kind::Directory));
    assert_eq!(report.symlinks, count(Kind::Symlink));
    assert_eq!(report.fifos, count(Kind::Fifo));

    let checked = vault.check(CheckDepth::Content).unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
    let out = export(&vault, &head(&vault), &scratch.path().join("out"));
    let after = scanned(&out);
    assert_same(&before, &after, &everything_kept());
    for name in ["contents/holes", "contents/hole-inside", "contents/only-hole"] {
        let (old, new) = (&before.0[name.as_bytes()], &after.0[name.as_bytes()]);
        assert!(new.blocks <= old.blocks, "{name}: {} blocks became {}", old.blocks, new.blocks);
    }
    let again = import(&vault, &source);
    assert_eq!(again.root, head(&vault));
    // Another vault of the same files reaches the same root by the other way of keeping them.
    let content_only = import_into_empty(&scratch, &source, &before);
    assert_eq!(content_only, head(&vault));
}

/// The root that a directory has when it comes into a vault that was made empty, and survives that too.
fn import_into_empty(scratch: &Scratch, source: &Path, before: &Scan) -> RootId {
    let home = home_at(&scratch.folder("second"));
    let vault = home.create("e", None, &ImportOptions::default(), &actor()).unwrap().vault;
    let imported = import(&vault, source);
    let out = export(&vault, &imported.root, &scratch.path().join("out2"));
    assert_same(before, &scanned(&out), &everything_kept());
    imported.root
}

#[needs(UserXattr)]
#[test]
fn an_ordinary_user_keeps_all_but_owners_and_hears_of_the_unreadable() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("ordinary user", scratch.path());
}

pub(crate) fn as_ordinary_user(place: &Path) {
    let source = place.join("source");
    fs::create_dir(&source).unwrap();
    awkward::build(&source, &AwkwardOptions { socket: true, ..AwkwardOptions::default() }).unwrap();
    for (name, mode) in [("secret", 0o000), ("write-only", 0o200)] {
        fs::write(source.join(name), name).unwrap();
        fs::set_permissions(source.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (name, mode) in [("closed", 0o000), ("no-list", 0o300), ("no-enter", 0o600)] {
        fs::create_dir(source.join(name)).unwrap();
        fs::write(source.join(name).join("inside"), name).unwrap();
        fs::set_permissions(source.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let home = home_at(place);
    let created = home.create("v", Some(&source), &ImportOptions::default(), &actor()).unwrap();
    let skipped: Vec<String> = created.report.skipped.iter().map(short).collect();
    let expected = [
        "closed unreadable",
        "no-enter unreadable",
        "no-list unreadable",
        "secret unreadable",
        "sockets/socket Socket",
        "write-only unreadable",
    ];
    assert_eq!(skipped, expected);

    let vault = created.vault;
    let out = export(&vault, &head(&vault), &place.join("out"));
    // The scanner would give up on a directory whose names can be listed but not looked at.
    fs::set_permissions(source.join("no-enter"), fs::Permissions::from_mode(0o700)).unwrap();
    let odd = ["closed", "no-enter", "no-list", "secret", "write-only"];
    let [mut before, mut after] = [scanned(&source), scanned(&out)];
    for scan in [&mut before, &mut after] {
        scan.0.retain(|path, _| !odd.iter().any(|odd| path.starts_with(odd.as_bytes())));
    }
    assert_same(&before, &after, &everything_kept());
    drop(vault);
    home.delete("v").unwrap();
    assert_eq!(fs::read_dir(place.join("home/vaults")).unwrap().count(), 0);
    awkward::clear(place).unwrap();
}

fn short(skipped: &offshoot_vault::Skipped) -> String {
    let path = String::from_utf8_lossy(&skipped.path).into_owned();
    match &skipped.why {
        SkipReason::Unreadable(_) => format!("{path} unreadable"),
        why => format!("{path} {why:?}"),
    }
}

#[test]
fn parts_are_exported_alone_and_never_over_anything() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::create_dir_all(source.join("a/b")).unwrap();
    fs::write(source.join("a/b/file"), "text").unwrap();
    let vault = vault_of(&scratch, &source);
    let (root, options) = (head(&vault), ExportOptions::default());
    let to = |name: &str| scratch.path().join(name);
    vault.export(&root, &path("/a/b/file"), &to("one"), &options).unwrap();
    assert_eq!(fs::read_to_string(to("one")).unwrap(), "text");
    let empty = scratch.folder("empty");
    vault.export(&root, &path("/a"), &empty, &options).unwrap();
    assert_eq!(fs::read_to_string(empty.join("b/file")).unwrap(), "text");
    for taken in ["one", "empty"] {
        assert!(vault.export(&root, &path("/a"), &to(taken), &options).is_err());
    }
    assert!(vault.export(&root, &path("/no"), &to("new"), &options).is_err());
    assert!(vault.export(&root, &path("/a"), &to("no/such/place"), &options).is_err());
    let left: Vec<_> =
        fs::read_dir(scratch.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[needs(Root)]
#[test]
fn rights_of_others_are_not_lent() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let (uid, gid) = (rustix::fs::Uid::from_raw(1000), rustix::fs::Gid::from_raw(1000));
    for (name, owner) in [("own", None), ("foreign", Some((uid, gid)))] {
        fs::write(source.join(name), name).unwrap();
        if let Some((uid, gid)) = owner {
            rustix::fs::chown(source.join(name), Some(uid), Some(gid)).unwrap();
        }
        fs::set_permissions(source.join(name), fs::Permissions::from_mode(0o6755)).unwrap();
    }
    let vault = vault_of(&scratch, &source);
    let out = scratch.path().join("out");
    vault.export(&head(&vault), &path("/"), &out, &ExportOptions::default()).unwrap();
    let mode = |name: &str| fs::metadata(out.join(name)).unwrap().mode() & 0o7777;
    assert_eq!((mode("own"), mode("foreign")), (0o6755, 0o755));
}

#[test]
fn ignored_files_and_the_home_itself_stay_out() {
    let scratch = Scratch::new();
    let source = scratch.path();
    fs::write(source.join(".offshootignore"), "*.log\n/target/\n").unwrap();
    fs::create_dir_all(source.join("target/deep")).unwrap();
    fs::create_dir(source.join("src")).unwrap();
    for name in ["a.log", "src/b.log", "src/main", "target/deep/x"] {
        fs::write(source.join(name), name).unwrap();
    }
    let created = home(&scratch).create("v", Some(source), &ImportOptions::default(), &actor());
    let created = created.unwrap();
    assert_eq!(created.report.ignored, 3);
    let why: Vec<_> = created.report.skipped.iter().map(|skipped| &skipped.why).collect();
    assert_eq!(why, [&SkipReason::Home]);
    let vault = created.vault;
    let mut names = Vec::new();
    let tree = vault.tree(&head(&vault)).unwrap();
    let mut visit = |path: &offshoot_tree::VaultPath, _: &_| {
        names.push(path.to_string());
        Ok(())
    };
    tree.walk(&path("/"), tree.top().directory().unwrap(), &mut visit).unwrap();
    assert_eq!(names, ["/.offshootignore", "/src", "/src/main"]);
}
