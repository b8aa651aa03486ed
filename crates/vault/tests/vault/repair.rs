//! Repairing what was damaged, from whatever still has the right bytes.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_tests::rng::Rng;
use offshoot_vault::{CheckDepth, RepairReport, Vault};
use rusqlite::Connection;

use crate::support::{Scratch, actor, commit, edit, file, head, path, vault_of};

/// A vault of a folder with a long file and a short one.
fn vault(scratch: &Scratch) -> (Vault, PathBuf) {
    let source = scratch.folder("source");
    fs::write(source.join("long"), Rng::new(1).bytes(2 << 20)).unwrap();
    fs::write(source.join("short"), "short").unwrap();
    (vault_of(scratch, &source), source)
}

fn repair(vault: &Vault) -> RepairReport {
    vault.repair(CheckDepth::Content, &actor()).unwrap()
}

fn problems(vault: &Vault) -> Vec<String> {
    vault.check(CheckDepth::Content).unwrap().problems
}

fn layers(vault: &Vault) -> Vec<PathBuf> {
    let entries = fs::read_dir(vault.dir().join("layers")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The stack of the head shows the folder's own files.
fn assert_shown(vault: &Vault, source: &Path) {
    let shown = vault.stack(&head(vault), &[]).unwrap();
    for name in ["long", "short"] {
        let (found, expected) =
            (fs::read(shown.directories[0].join(name)), fs::read(source.join(name)));
        assert!(found.unwrap() == expected.unwrap(), "{name}");
    }
}

#[test]
fn content_comes_back_from_the_bound_folder() {
    let scratch = Scratch::new();
    let (vault, source) = vault(&scratch);
    for name in ["long", "short"] {
        fs::write(layers(&vault)[0].join("fs").join(name), "damaged").unwrap();
    }
    assert_eq!(problems(&vault).len(), 2);
    let done = repair(&vault);
    assert_eq!(done.check.problems, Vec::<String>::new());
    assert_eq!(done.repaired.len(), 3, "two contents and the layer: {:?}", done.repaired);
    assert_shown(&vault, &source);
    assert_eq!(repair(&vault).repaired, Vec::<String>::new(), "there is nothing left to do");
}

#[test]
fn content_comes_back_from_another_layer() {
    let scratch = Scratch::new();
    let (vault, source) = vault(&scratch);
    let first = layers(&vault)[0].clone();
    // Another layer shows the same file below a change.
    let entry = file(&vault, b"other");
    let root = edit(&vault, &head(&vault), |editor| editor.put(&path("other"), entry).unwrap());
    commit(&vault, &root);
    vault.stack(&root, &[]).unwrap();
    fs::write(source.join("long"), "changed since").unwrap();
    fs::write(first.join("fs/long"), "damaged").unwrap();
    let done = repair(&vault);
    assert_eq!(done.check.problems, Vec::<String>::new());
    assert!(done.repaired[0].contains("was brought back from"), "{:?}", done.repaired);
    assert!(!first.exists(), "a layer that shows something else goes");
}

#[test]
fn content_of_packs_comes_back_too() {
    let scratch = Scratch::new();
    let (vault, source) = vault(&scratch);
    vault.pack(&actor()).unwrap();
    for layer in layers(&vault) {
        fs::remove_dir_all(layer).unwrap();
    }
    let pack = fs::read_dir(vault.dir().join("packs")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&pack, bytes).unwrap();
    assert!(problems(&vault).iter().any(|problem| problem.contains("/packs")));
    let done = repair(&vault);
    assert_eq!(done.check.problems, Vec::<String>::new(), "{:?}", done.repaired);
    assert_shown(&vault, &source);
}

#[test]
fn what_is_nowhere_is_reported_and_nothing_is_taken() {
    let scratch = Scratch::new();
    let (vault, source) = vault(&scratch);
    fs::remove_dir_all(&source).unwrap();
    let layer = layers(&vault)[0].clone();
    fs::write(layer.join("fs/long"), "damaged").unwrap();
    let before = problems(&vault);
    let done = repair(&vault);
    assert_eq!((done.repaired, done.check.problems), (Vec::new(), before));
    assert!(layer.join("fs/short").exists(), "what is still good in it stays");
}

#[test]
fn layers_that_are_gone_are_forgotten_where_they_held_nothing() {
    let scratch = Scratch::new();
    let (vault, source) = vault(&scratch);
    vault.pack(&actor()).unwrap();
    for layer in layers(&vault) {
        fs::remove_dir_all(layer).unwrap();
    }
    assert_eq!(problems(&vault).len(), 1, "{:?}", problems(&vault));
    let done = repair(&vault);
    assert_eq!(done.check.problems, Vec::<String>::new());
    assert_eq!(done.repaired.len(), 2, "the stack and the layer: {:?}", done.repaired);
    assert_shown(&vault, &source);
}

#[test]
fn leftovers_go() {
    let scratch = Scratch::new();
    let (vault, _) = vault(&scratch);
    let stray = vault.dir().join("layers").join(offshoot_store::Id::random().to_string());
    fs::create_dir_all(stray.join("fs")).unwrap();
    let half = vault.dir().join("layers/01h455vb4pex5vsknk084sn02q.tmp");
    fs::create_dir(&half).unwrap();
    let done = repair(&vault);
    assert_eq!(done.repaired.len(), 2, "{:?}", done.repaired);
    assert!(!stray.exists() && !half.exists());
}

#[test]
fn a_ref_that_leads_to_nothing_is_told_and_not_changed() {
    let scratch = Scratch::new();
    let (vault, _) = vault(&scratch);
    let good = vault.operations(offshoot_vault::Scope::Vault, None, 1).unwrap()[0].id;
    let entry = file(&vault, b"other");
    let root = edit(&vault, &head(&vault), |editor| editor.put(&path("other"), entry).unwrap());
    let broken = commit(&vault, &root);
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    catalog.execute("DELETE FROM objects WHERE kind = 3 AND id = ?1", [&root.0]).unwrap();
    let done = repair(&vault);
    assert_eq!(done.check.problems.len(), 1, "{:?}", done.check.problems);
    assert_eq!(vault.head().unwrap().id, broken.id, "refs are for people to change");
    let way_out = format!("`offshoot op restore {} --vault-wide`", good.short());
    assert!(done.advice.iter().any(|advice| advice.contains(&way_out)), "{:?}", done.advice);
    let back = vault.restore_operation(&good, offshoot_vault::Scope::Vault, &actor());
    assert!(back.unwrap().is_some());
    assert!(vault.objects().unwrap().has_root(&head(&vault)).unwrap());
}
