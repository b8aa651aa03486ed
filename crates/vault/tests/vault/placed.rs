//! Hard links of the base stay together when they are written to through an overlay.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use offshoot_needs::needs;
use offshoot_tests::rng::seed_from_env_or;
use offshoot_tests::scan::CompareOptions;
use offshoot_tree::{Entry, RootId};
use offshoot_vault::{CheckDepth, ImportOptions, LinkLimit, Placed, PlainAccess, Upper, Vault};
use rustix::fs::XattrFlags;

use crate::children;
use crate::overlay::{Mounted, as_mounted, check_adopted, layer_count, mounts_of_ones_own};
use crate::support::{
    Scratch, actor, commit, edit, file, head, home_at, import, is_long, path, scanned, vault_of,
};
use crate::wild::Wild;

const NO_LIMIT: LinkLimit = LinkLimit { names: u64::MAX, bytes: u64::MAX };

/// Longer than a tick of the clock.
const TICK: Duration = Duration::from_millis(25);

/// A tree with three groups: two names in two directories, three in one, and two links.
fn linked_tree(source: &Path) {
    fs::create_dir_all(source.join("dir/inner")).unwrap();
    fs::write(source.join("a"), "two names").unwrap();
    fs::hard_link(source.join("a"), source.join("dir/inner/b")).unwrap();
    fs::write(source.join("dir/x"), "x".repeat(1000)).unwrap();
    fs::hard_link(source.join("dir/x"), source.join("dir/y")).unwrap();
    fs::hard_link(source.join("dir/x"), source.join("dir/z")).unwrap();
    std::os::unix::fs::symlink("a", source.join("l1")).unwrap();
    fs::hard_link(source.join("l1"), source.join("l2")).unwrap();
    fs::write(source.join("single"), "one name").unwrap();
}

fn linked_vault(scratch: &Scratch) -> (Vault, RootId) {
    let source = scratch.folder("source");
    linked_tree(&source);
    let vault = vault_of(scratch, &source);
    let base = head(&vault);
    (vault, base)
}

fn placed_upper(vault: &Vault, base: &RootId) -> Upper {
    let mut upper = vault.begin_upper(base).unwrap();
    let placed = upper.place_links(vault, NO_LIMIT).unwrap();
    assert_eq!(placed.left_names, 0);
    upper
}

fn exactly() -> CompareOptions {
    CompareOptions { hard_links: true, ..as_mounted() }
}

/// Adopts what `work` writes where all links were placed; hard links must come out as they were seen.
fn adopted(vault: &Vault, base: &RootId, place: &Path, work: impl FnOnce(&Path)) -> RootId {
    let mounted = Mounted::over(vault, placed_upper(vault, base), place);
    work(&mounted.point);
    let seen = scanned(&mounted.point);
    let adopted = vault.adopt(mounted.unmount(), &PlainAccess).unwrap();
    let root = check_adopted(vault, adopted, &seen, place, &exactly());
    assert_eq!(vault.links(&root, &[]).unwrap(), walked(vault, &root));
    root
}

/// The paths that carry a group, found by walking.
fn walked(vault: &Vault, root: &RootId) -> Vec<Vec<u8>> {
    let objects = vault.objects().unwrap();
    let mut pending = vec![(Vec::new(), objects.root(root).unwrap())];
    let mut found = Vec::new();
    while let Some((path, entry)) = pending.pop() {
        found.extend(entry.group.map(|_| path.clone()));
        let entries: Vec<Entry> =
            entry.directory().map(|dir| objects.entries(dir).unwrap()).unwrap_or_default();
        for entry in entries {
            let parts: Vec<&[u8]> = [path.as_slice(), &entry.name].to_vec();
            let below = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            pending.push((below.join(&b'/'), entry));
        }
    }
    found.sort_unstable();
    found
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

#[needs(Root, Overlay)]
#[test]
fn a_write_through_one_name_is_seen_through_the_others() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = linked_vault(&scratch);
    let root = adopted(&vault, &base, &scratch.folder("place"), |top| {
        fs::write(top.join("a"), "changed").unwrap();
        assert_eq!(fs::read_to_string(top.join("dir/inner/b")).unwrap(), "changed");
        assert_eq!(fs::metadata(top.join("dir/y")).unwrap().nlink(), 3);
    });
    let layer = &vault.stack(&root, &[]).unwrap().directories[0];
    assert_eq!(names_in(layer), ["a", "dir"], "what nobody touched is not kept");
    assert_eq!(names_in(&layer.join("dir")), ["inner"]);
    let again = adopted(&vault, &root, &scratch.folder("again"), |top| {
        fs::set_permissions(top.join("dir/inner/b"), fs::Permissions::from_mode(0o600)).unwrap();
    });
    commit(&vault, &again);
    let tree = vault.tree(&again).unwrap();
    assert_eq!(tree.find(&path("/a")).unwrap().meta.mode, 0o600);
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

#[test]
fn what_nobody_touches_adopts_nothing() {
    let scratch = Scratch::new();
    let (vault, base) = linked_vault(&scratch);
    let layers = layer_count(&vault);
    for wait in [Duration::ZERO, TICK] {
        let upper = placed_upper(&vault, &base);
        assert_eq!(fs::metadata(upper.dir().join("dir/x")).unwrap().nlink(), 3);
        std::thread::sleep(wait);
        let copied = upper.into_copy(&vault, &PlainAccess).unwrap();
        assert_eq!(vault.adopt(copied, &PlainAccess).unwrap().root, base);
        let upper = placed_upper(&vault, &base);
        std::thread::sleep(wait);
        assert_eq!(vault.adopt(upper, &PlainAccess).unwrap().root, base);
    }
    assert_eq!(layer_count(&vault), layers);
}

#[needs(UserXattr)]
#[test]
fn changes_in_the_tick_of_the_placing_are_noticed() {
    let scratch = Scratch::new();
    let (vault, base) = linked_vault(&scratch);
    let changes: [fn(&Path); 3] = [
        |top| {
            let found = fs::metadata(top.join("a")).unwrap();
            fs::write(top.join("a"), "TWO NAMES").unwrap();
            let file = fs::File::options().write(true).open(top.join("a")).unwrap();
            file.set_modified(found.modified().unwrap()).unwrap();
        },
        |top| {
            let flags = XattrFlags::empty();
            rustix::fs::setxattr(top.join("a"), "user.mine", b"1", flags).unwrap();
        },
        |top| fs::set_permissions(top.join("a"), fs::Permissions::from_mode(0o600)).unwrap(),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        for _ in 0..20 {
            let upper = placed_upper(&vault, &base);
            change(&upper.dir());
            assert_ne!(vault.adopt(upper, &PlainAccess).unwrap().root, base, "change {at}");
        }
    }
}

#[needs(Root, Overlay)]
#[test]
fn groups_come_apart_and_together_as_they_were_seen() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, base) = linked_vault(&scratch);
    let copy = |top: &Path, from: &str, to: &str| {
        let mut copy = std::process::Command::new("cp");
        copy.arg("-p").arg(top.join(from)).arg(top.join("copy"));
        assert!(copy.status().unwrap().success());
        fs::rename(top.join("copy"), top.join(to)).unwrap();
    };
    type Change<'a> = &'a dyn Fn(&Path);
    let changes: [Change<'_>; 7] = [
        &|top| fs::remove_file(top.join("a")).unwrap(),
        &|top| fs::remove_file(top.join("dir/x")).unwrap(),
        // The same in everything but that it is another file.
        &|top| copy(top, "dir/x", "dir/y"),
        &|top| {
            copy(top, "dir/x", "dir/y");
            fs::remove_file(top.join("dir/z")).unwrap();
            fs::hard_link(top.join("dir/y"), top.join("dir/z")).unwrap();
            fs::hard_link(top.join("dir/x"), top.join("dir/zz")).unwrap();
        },
        &|top| fs::hard_link(top.join("single"), top.join("another")).unwrap(),
        &|top| fs::rename(top.join("dir/inner/b"), top.join("0")).unwrap(),
        &|top| {
            fs::remove_dir_all(top.join("dir")).unwrap();
            fs::create_dir_all(top.join("dir/inner")).unwrap();
            fs::hard_link(top.join("a"), top.join("dir/inner/b")).unwrap();
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        println!("change {at}");
        adopted(&vault, &base, &scratch.folder(&format!("place-{at}")), change);
    }
}

#[test]
fn groups_past_the_limit_are_left_whole() {
    let scratch = Scratch::new();
    let (vault, base) = linked_vault(&scratch);
    let place = |names, bytes| {
        let mut upper = vault.begin_upper(&base).unwrap();
        let placed = upper.place_links(&vault, LinkLimit { names, bytes }).unwrap();
        assert_eq!(vault.adopt(upper, &PlainAccess).unwrap().root, base);
        placed
    };
    let placed = |names, bytes, left_names| Placed { names, bytes, left_names };
    assert_eq!(place(0, 0), placed(0, 0, 7));
    assert_eq!(place(6, u64::MAX), placed(4, 9, 3));
    assert_eq!(place(7, 1009), placed(7, 1009, 0));
    assert_eq!(place(100, 1008), placed(4, 9, 3));
    assert_eq!(place(100, 8), placed(2, 0, 5));
}

#[needs(Root, Overlay)]
#[test]
fn random_writes_keep_links_as_they_are_seen() {
    mounts_of_ones_own();
    let seed = seed_from_env_or(31);
    println!("seed {seed}");
    for history in 0..if is_long() { 100 } else { 10 } {
        let scratch = Scratch::new();
        let mut wild = Wild::new(&scratch.path().join("wild"), seed.wrapping_mul(777) + history);
        wild.change(40);
        let vault = vault_of(&scratch, &wild.dir);
        let mut root = head(&vault);
        for step in 0..3 {
            let place = scratch.folder(&format!("step-{step}"));
            let change = |point: &Path| Wild::at(point, seed + history * 10 + step).change(15);
            root = adopted(&vault, &root, &place, change);
            commit(&vault, &root);
        }
        assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    }
}

#[test]
fn links_of_every_root_are_known() {
    let scratch = Scratch::new();
    let (vault, base) = linked_vault(&scratch);
    let all = [&b"a"[..], b"dir/inner/b", b"dir/x", b"dir/y", b"dir/z", b"l1", b"l2"];
    assert_eq!(vault.links(&base, &[]).unwrap(), all);
    let new = file(&vault, b"new");
    let edited = edit(&vault, &base, |editor| {
        editor.put(&path("/a"), new).unwrap();
        drop(editor.remove(&path("/dir")).unwrap());
    });
    assert_eq!(vault.links(&edited, &[base]).unwrap(), [b"l1", b"l2"]);
    let other = edit(&vault, &edited, |editor| drop(editor.remove(&path("/l1")).unwrap()));
    assert_eq!(vault.links(&other, &[]).unwrap(), [b"l2"]);
    fs::hard_link(scratch.path().join("source/single"), scratch.path().join("source/0")).unwrap();
    let imported = import(&vault, &scratch.path().join("source"));
    assert_eq!(vault.links(&imported.root, &[base]).unwrap(), walked(&vault, &imported.root));
}

#[test]
fn long_lists_of_links_are_known_through_many_commands() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    for number in 0..60 {
        fs::write(source.join(format!("first-name-{number}")), "").unwrap();
        let (from, to) = (format!("first-name-{number}"), format!("second-name-{number}"));
        fs::hard_link(source.join(from), source.join(to)).unwrap();
    }
    let vault = vault_of(&scratch, &source);
    let mut root = head(&vault);
    for step in 0..4 {
        let mut upper = vault.begin_upper(&root).unwrap();
        if step == 2 {
            upper.place_links(&vault, NO_LIMIT).unwrap();
            fs::remove_file(upper.dir().join("first-name-1")).unwrap();
            fs::remove_file(upper.dir().join("second-name-1")).unwrap();
            fs::write(upper.dir().join("first-name-1"), "no link").unwrap();
        }
        fs::write(upper.dir().join("new"), format!("{step}")).unwrap();
        let adopted = vault.adopt(upper, &PlainAccess).unwrap();
        vault.transact("test", &actor(), |tx| adopted.record(tx)).unwrap();
        root = adopted.root;
        let links = vault.links(&root, &[]).unwrap();
        assert_eq!(links, walked(&vault, &root));
        assert_eq!(links.len(), if step < 2 { 120 } else { 119 });
    }
}

#[test]
fn an_ordinary_user_places_links_in_closed_directories() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("placed links", scratch.path());
}

pub(crate) fn as_ordinary_user(place: &Path) {
    let source = place.join("source");
    linked_tree(&source);
    fs::set_permissions(source.join("dir"), fs::Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(source.join("a"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(&source, fs::Permissions::from_mode(0o500)).unwrap();
    let options = ImportOptions::default();
    let vault = home_at(place).create("v", Some(&source), &options, &actor()).unwrap().vault;
    let base = head(&vault);
    let upper = placed_upper(&vault, &base);
    assert_eq!(vault.adopt(upper, &PlainAccess).unwrap().root, base);
    let upper = placed_upper(&vault, &base);
    fs::write(upper.dir().join("dir/x"), "changed").unwrap();
    let adopted = vault.adopt(upper, &PlainAccess).unwrap();
    vault.transact("test", &actor(), |tx| adopted.record(tx)).unwrap();
    let layer = &vault.stack(&adopted.root, &[]).unwrap().directories[0];
    assert_eq!(names_in(layer), ["dir"]);
    assert_eq!(names_in(&layer.join("dir")), ["x", "y", "z"]);
    fs::set_permissions(&source, fs::Permissions::from_mode(0o700)).unwrap();
}
