//! Stacks whose layers were merged show what they showed before, and can be written upon.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use offshoot_needs::needs;
use offshoot_store::Id;
use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::scan::CompareOptions;
use offshoot_tree::RootId;
use offshoot_tree::TreeError;
use offshoot_vault::{
    CheckDepth, CompactOptions, CompactWay, Compacted, ImportOptions, Vault, VaultError,
};

use crate::children;
use crate::overlay::{adopted, as_mounted, mounts_of_ones_own, shown};
use crate::stacks::Mounts;
use crate::support::{
    Scratch, actor, assert_same, commit, edit, export, file, head, home_at, import, is_long, path,
    scanned, vault_of,
};
use crate::wild::Wild;

const WAYS: [CompactWay; 2] = [CompactWay::Merge, CompactWay::Flatten];

/// Everything that has more layers than it must.
fn all(way: CompactWay) -> CompactOptions<'static> {
    CompactOptions { depth: 2, data_layers: &|| true, way: Some(way) }
}

#[track_caller]
fn compacted(vault: &Vault, root: &RootId, options: &CompactOptions<'_>) -> Compacted {
    vault.compact(root, options).unwrap().expect("there is something to merge")
}

#[track_caller]
fn assert_in_order(vault: &Vault) {
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

/// Everything but owners, which are the vault's on disk.
fn exactly() -> CompareOptions {
    CompareOptions { owners: false, special: false, ..CompareOptions::default() }
}

/// The mounted stack must be what an export is.
fn assert_shown(vault: &Vault, root: &RootId, place: &Path, options: &CompareOptions) {
    let expected = place.join(format!("expected-{root}"));
    if !expected.exists() {
        export(vault, root, &expected);
    }
    assert_same(&scanned(&expected), &shown(vault, root, place), options);
}

/// Commands that write at random, with compactions between them: what is written upon a merged stack is adopted exactly.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn random_histories_are_merged_and_go_on() {
    mounts_of_ones_own();
    let seed = seed_from_env_or(11);
    println!("seed {seed}");
    for history in 0..if is_long() { 40 } else { 4 } {
        let scratch = Scratch::new();
        let mut rng = Rng::new(seed.wrapping_mul(77) + history);
        let mut wild = Wild::new(&scratch.path().join("wild"), seed.wrapping_mul(999) + history);
        wild.change(30);
        let vault = vault_of(&scratch, &wild.dir);
        let mut root = head(&vault);
        for step in 0..14 {
            let place = scratch.folder(&format!("step-{step}"));
            let change = |point: &Path| Wild::at(point, seed + history * 100 + step).change(10);
            root = adopted(&vault, &root, &place, change);
            commit(&vault, &root);
            if rng.one_in(3) {
                let way = *rng.pick(&WAYS).unwrap();
                let depth = 2 + rng.below(6) as usize;
                let options = CompactOptions { depth, ..all(way) };
                if vault.compact(&root, &options).unwrap().is_some() {
                    assert_shown(&vault, &root, &place, &as_mounted());
                }
            }
        }
        for way in WAYS {
            let done = vault.compact(&root, &all(way)).unwrap();
            assert!(done.is_none_or(|done| done.layers_after <= 2));
            let place = scratch.folder(&format!("end-{way:?}"));
            assert_shown(&vault, &root, &place, &exactly());
        }
        assert_in_order(&vault);
    }
}

#[needs(Root, Overlay, DataLayers)]
#[test]
fn merged_stacks_show_their_roots() {
    let scratch = Scratch::new();
    merged_stacks(scratch.path(), seed_from_env_or(12));
}

#[needs(Overlay, DataLayers, UserNamespace)]
#[test]
fn merged_stacks_show_their_roots_to_an_ordinary_user() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("merged stacks", scratch.path());
}

pub(crate) fn as_ordinary_user(place: &Path) {
    merged_stacks(place, seed_from_env_or(13));
}

/// Histories of random trees and an awkward one, stacked step upon step and then merged.
fn merged_stacks(place: &Path, seed: u64) {
    println!("seed {seed}");
    let mut mounts = Mounts::new(place);
    for history in 0..if is_long() { 30 } else { 6 } {
        let mut wild =
            Wild::new(&place.join(format!("wild-{history}")), seed.wrapping_mul(1000) + history);
        wild.change(20);
        let options = ImportOptions::default();
        let home = home_at(place);
        let name = format!("v{history}");
        let vault = home.create(&name, Some(&wild.dir), &options, &actor()).unwrap().vault;
        let mut root = head(&vault);
        for step in 0..8 {
            wild.change(6);
            let next = import(&vault, &wild.dir).root;
            let closed = edit(&vault, &next, |editor| {
                let mut entry = file(&vault, format!("nobody reads {step}").as_bytes());
                entry.meta.mode = 0;
                editor.put(&path("/closed"), entry).unwrap();
            });
            vault.stack(&closed, &[root]).unwrap();
            commit(&vault, &closed);
            root = closed;
        }
        let way = WAYS[history as usize % 2];
        let done = compacted(&vault, &root, &all(way));
        assert_eq!((done.layers_before, done.way), (9, way));
        assert_eq!(done.layers_after, if way == CompactWay::Merge { 2 } else { 1 });
        mounts.add(&vault, &root, &[]);
        assert_in_order(&vault);
    }
    mounts.look();
}

/// The awkward tree, with a command above it, both ways.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn an_awkward_tree_is_merged() {
    mounts_of_ones_own();
    for way in WAYS {
        let scratch = Scratch::new();
        let source = scratch.folder("source");
        awkward::build(&source, &AwkwardOptions::default()).unwrap();
        // It has an attribute that overlayfs lists and cannot read.
        fs::remove_file(source.join("xattrs/escaped")).unwrap();
        let vault = vault_of(&scratch, &source);
        let mut root = head(&vault);
        for step in 0..3 {
            let place = scratch.folder(&format!("step-{step}"));
            root = adopted(&vault, &root, &place, |point| {
                fs::write(point.join(format!("new-{step}")), vec![step as u8; 40_000]).unwrap();
            });
            commit(&vault, &root);
        }
        compacted(&vault, &root, &all(way));
        assert_shown(&vault, &root, scratch.path(), &exactly());
        assert_in_order(&vault);
    }
}

/// A vault with a history of files of several sizes, and its newest root.
fn grown(scratch: &Scratch, steps: u64) -> (Vault, RootId) {
    let source = scratch.folder("source");
    fs::create_dir(source.join("dir")).unwrap();
    for (name, length) in [("small", 10), ("dir/large", 50_000), ("twin", 30_000)] {
        fs::write(source.join(name), vec![b'x'; length]).unwrap();
    }
    fs::hard_link(source.join("twin"), source.join("dir/twin")).unwrap();
    let vault = vault_of(scratch, &source);
    let mut root = head(&vault);
    for step in 0..steps {
        let place = scratch.folder(&format!("grow-{step}"));
        root = adopted(&vault, &root, &place, |point| {
            fs::write(point.join(format!("new-{step}")), vec![step as u8; 20_000]).unwrap();
            fs::write(point.join("dir/large"), vec![step as u8; 60_000]).unwrap();
            fs::write(point.join("small"), format!("{step}")).unwrap();
        });
        commit(&vault, &root);
    }
    (vault, root)
}

/// The topmost layer of a root's stack: its id, and where its files are.
fn top_layer(vault: &Vault, root: &RootId) -> (Id, PathBuf) {
    let dir = vault.stack(root, &[]).unwrap().directories.swap_remove(0);
    let name = dir.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    (name.parse().unwrap(), dir)
}

fn flip(path: &Path) {
    let mode = fs::metadata(path).unwrap().permissions();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[0] ^= 1;
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, mode).unwrap();
}

/// What is copied when layers are merged is no home of any content: damage there is found, and done without.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn a_damaged_copy_is_found_and_built_again() {
    mounts_of_ones_own();
    for way in WAYS {
        let scratch = Scratch::new();
        let (vault, root) = grown(&scratch, 4);
        compacted(&vault, &root, &all(way));
        let (layer, dir) = top_layer(&vault, &root);
        flip(&dir.join("small"));
        let report = vault.check(CheckDepth::Content).unwrap();
        assert_eq!(report.damaged_layers, [layer], "{:?}", report.problems);
        assert!(report.problems[0].contains("small"), "{:?}", report.problems);
        let done = vault.rebuild_layer(&layer).unwrap();
        assert_eq!((done.rebuilt, done.forgotten), (1, 0));
        assert_ne!(top_layer(&vault, &root).0, layer);
        assert_shown(&vault, &root, scratch.path(), &exactly());
        assert_in_order(&vault);
        // Gone altogether, and not in use any more.
        fs::remove_dir_all(dir.parent().unwrap()).unwrap();
        assert_in_order(&vault);
    }
}

#[needs(Root, Overlay, DataLayers)]
#[test]
fn an_incomplete_copy_is_found_and_built_again() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, root) = grown(&scratch, 4);
    compacted(&vault, &root, &all(CompactWay::Flatten));
    let (layer, dir) = top_layer(&vault, &root);
    fs::remove_file(dir.join("dir/large")).unwrap();
    assert_eq!(vault.check(CheckDepth::Structure).unwrap().damaged_layers, [layer]);
    vault.rebuild_layer(&layer).unwrap();
    assert_shown(&vault, &root, scratch.path(), &exactly());
    // The next exec builds upon what was built again.
    let place = scratch.folder("next");
    adopted(&vault, &root, &place, |point| fs::write(point.join("small"), "next").unwrap());
    fs::remove_dir_all(dir.parent().unwrap()).unwrap();
    assert_in_order(&vault);
}

#[needs(Root, Overlay, DataLayers)]
#[test]
fn repairing_does_without_a_damaged_copy() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, root) = grown(&scratch, 4);
    compacted(&vault, &root, &all(CompactWay::Flatten));
    let (layer, dir) = top_layer(&vault, &root);
    flip(&dir.join("small"));
    let report = vault.repair(CheckDepth::Content, &actor()).unwrap();
    assert_eq!(report.repaired.len(), 1, "{:?}", report.repaired);
    assert!(report.check.problems.is_empty(), "{:?}", report.check.problems);
    assert_ne!(top_layer(&vault, &root).0, layer);
    assert_shown(&vault, &root, scratch.path(), &exactly());
}

/// Where the bytes are nowhere else, nothing can be built, and what is there stays in use.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn a_layer_with_the_only_copy_stays() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, root) = grown(&scratch, 2);
    let (layer, dir) = top_layer(&vault, &root);
    let stack = vault.stack(&root, &[]).unwrap();
    flip(&dir.join("new-1"));
    let refused = vault.rebuild_layer(&layer);
    assert!(matches!(refused, Err(VaultError::Tree(TreeError::Damaged { .. }))), "{refused:?}");
    assert_eq!(vault.stack(&root, &[]).unwrap(), stack);
    // Whole again, it can be done without.
    flip(&dir.join("new-1"));
    assert_eq!(vault.rebuild_layer(&layer).unwrap().rebuilt, 1);
    assert_shown(&vault, &root, scratch.path(), &exactly());
    assert_in_order(&vault);
}

/// A stack that was lost with a layer is built again by whoever needs it.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn a_lost_merged_layer_is_built_again() {
    mounts_of_ones_own();
    for way in WAYS {
        let scratch = Scratch::new();
        let (vault, root) = grown(&scratch, 4);
        compacted(&vault, &root, &all(way));
        let (layer, dir) = top_layer(&vault, &root);
        fs::remove_dir_all(dir.parent().unwrap()).unwrap();
        assert_eq!(vault.check(CheckDepth::Structure).unwrap().damaged_layers, [layer]);
        assert_ne!(top_layer(&vault, &root).0, layer);
        assert_shown(&vault, &root, scratch.path(), &exactly());
        assert_in_order(&vault);
    }
}

/// The kernel takes the first file of a path from the layers that hold bytes. What it would find there is what is to be
/// shown, or the file is copied; whatever else is at that path it passes over.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn bytes_are_found_where_they_are() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let first = |name: &str| name.repeat(10_000);
    for name in ["same", "gone", "folder", "link", "deep"] {
        fs::write(source.join(name), first(name)).unwrap();
    }
    let vault = vault_of(&scratch, &source);
    let step = |root: &RootId, name: &str, work: &dyn Fn(&Path)| -> RootId {
        let root = adopted(&vault, root, &scratch.folder(name), work);
        commit(&vault, &root);
        root
    };
    // The newer layer is the home of `other`, so it is searched before the first.
    let root = step(&head(&vault), "away", &|top| {
        fs::write(top.join("other"), "other".repeat(9_000)).unwrap();
        fs::write(top.join("same"), "emas".repeat(10_000)).unwrap();
        for name in ["gone", "folder", "link", "deep"] {
            fs::remove_file(top.join(name)).unwrap();
        }
        fs::create_dir(top.join("folder")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", top.join("link")).unwrap();
        fs::write(top.join("deep"), "short").unwrap();
    });
    let root = step(&root, "back", &|top| {
        fs::remove_dir(top.join("folder")).unwrap();
        for name in ["same", "gone", "folder", "link", "deep"] {
            drop(fs::remove_file(top.join(name)));
            fs::write(top.join(name), first(name)).unwrap();
        }
    });
    let done = compacted(&vault, &root, &all(CompactWay::Flatten));
    let copied = (first("same").len() + first("deep").len()) as u64;
    assert_eq!((done.data_layers, done.bytes_copied), (2, copied));
    assert_shown(&vault, &root, scratch.path(), &exactly());
    // A kernel that cannot take bytes from elsewhere gets a stack without.
    let plain = vault.plain_stack(&root, &[]).unwrap();
    assert_eq!(plain.data, Vec::<String>::new());
    assert_shown(&vault, &root, scratch.path(), &exactly());
    assert_in_order(&vault);
}

/// Where the kernel cannot, everything is copied.
#[needs(Root, Overlay)]
#[test]
fn without_layers_of_bytes_everything_is_copied() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, root) = grown(&scratch, 4);
    let options = CompactOptions { data_layers: &|| false, ..all(CompactWay::Flatten) };
    let done = compacted(&vault, &root, &options);
    assert_eq!((done.way, done.data_layers), (CompactWay::Merge, 0));
    assert_shown(&vault, &root, scratch.path(), &exactly());
}

/// Small differences are copied, large ones are left where they are.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn the_cheaper_way_is_taken() {
    mounts_of_ones_own();
    let scratch = Scratch::new();
    let (vault, root) = grown(&scratch, 4);
    let options = CompactOptions { way: None, ..all(CompactWay::Merge) };
    assert_eq!(compacted(&vault, &root, &options).way, CompactWay::Merge);
    let mut root = root;
    for step in 0..3u8 {
        root = adopted(&vault, &root, &scratch.folder(&format!("big-{step}")), |top| {
            fs::write(top.join(format!("big-{step}")), vec![step + 1; 5 << 20]).unwrap();
        });
        commit(&vault, &root);
    }
    let done = compacted(&vault, &root, &options);
    assert_eq!((done.way, done.layers_after), (CompactWay::Flatten, 1));
    assert!(done.bytes_copied < 1 << 20 && done.data_layers >= 3, "{done:?}");
    assert_shown(&vault, &root, scratch.path(), &exactly());
}

/// Commands that end while layers are merged stand upon what was merged.
#[needs(Root, Overlay, DataLayers)]
#[test]
fn stacks_that_stand_upon_it_become_lower_too() {
    mounts_of_ones_own();
    for way in WAYS {
        let scratch = Scratch::new();
        let (vault, root) = grown(&scratch, 5);
        let above = adopted(&vault, &root, &scratch.folder("above"), |top| {
            fs::write(top.join("above"), "above").unwrap();
            fs::remove_file(top.join("new-1")).unwrap();
        });
        commit(&vault, &above);
        assert_eq!(vault.stack_depth(&above).unwrap(), 7);
        let done = compacted(&vault, &root, &all(way));
        assert_eq!(done.stacks, 2);
        let lower = done.layers_after as usize;
        assert_eq!(vault.stack_depth(&above).unwrap(), lower + 1);
        assert_shown(&vault, &above, scratch.path(), &as_mounted());
        assert_shown(&vault, &root, scratch.path(), &exactly());
        assert_in_order(&vault);
    }
}
