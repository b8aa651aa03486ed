//! Damage is found and named, and nothing panics over it.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tree::TreeError;
use offshoot_tree::{Body, DirRef, Entry, Node, RootId};
use offshoot_vault::{CheckDepth, ExportOptions, Vault, VaultError, VaultRegistryError};
use rusqlite::{Connection, params};

use crate::support::{
    Scratch, commit, edit as edit_tree, empty_vault, file, head, home, path, vault_of,
};

/// A vault with content in a layer and in the catalog, and an index node.
fn vault(scratch: &Scratch) -> Vault {
    let source = scratch.folder("source");
    fs::write(source.join("in-layer"), "in a layer").unwrap();
    fs::create_dir(source.join("many")).unwrap();
    for number in 0..300 {
        fs::write(source.join(format!("many/{number}")), "x").unwrap();
    }
    let vault = vault_of(scratch, &source);
    let inline = file(&vault, b"in the catalog");
    let root =
        edit_tree(&vault, &head(&vault), |editor| editor.put(&path("/inline"), inline).unwrap());
    commit(&vault, &root);
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    vault
}

fn entry(vault: &Vault, at: &str) -> Entry {
    vault.tree(&head(vault)).unwrap().find(&path(at)).unwrap()
}

fn blob(vault: &Vault, at: &str) -> offshoot_tree::BlobId {
    let Body::File { blob, .. } = entry(vault, at).body else { panic!("{at} is not a file") };
    blob
}

fn layer_file(vault: &Vault, name: &str) -> PathBuf {
    let layers = fs::read_dir(vault.dir().join("layers")).unwrap();
    let found = layers.map(|layer| layer.unwrap().path().join("fs").join(name));
    found.into_iter().find(|path| path.exists()).unwrap()
}

/// Changes the value of an object behind the vault's back.
fn change_object(vault: &Vault, kind: u8, id: &[u8; 32], change: impl FnOnce(&mut Vec<u8>)) {
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let get = "SELECT value FROM objects WHERE kind = ?1 AND id = ?2";
    let mut value: Vec<u8> = catalog.query_row(get, params![kind, id], |row| row.get(0)).unwrap();
    change(&mut value);
    let set = "UPDATE objects SET value = ?3 WHERE kind = ?1 AND id = ?2";
    assert_eq!(catalog.execute(set, params![kind, id, value]).unwrap(), 1);
}

fn drop_object(vault: &Vault, kind: u8, id: &[u8; 32]) {
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let delete = "DELETE FROM objects WHERE kind = ?1 AND id = ?2";
    assert_eq!(catalog.execute(delete, params![kind, id]).unwrap(), 1);
}

fn flip_last(bytes: &mut [u8]) {
    *bytes.last_mut().unwrap() ^= 1;
}

#[track_caller]
fn assert_damaged<T, E: Into<VaultError>>(result: Result<T, E>, object: &str, place: &Path) {
    match result.map(drop).map_err(Into::into) {
        Err(VaultError::Tree(TreeError::Damaged { object: found, place: at, .. })) => {
            assert!(found.contains(object), "{found} is not {object}");
            assert!(at.contains(place.to_str().unwrap()), "{at} is not {}", place.display());
        }
        other => panic!("{other:?}"),
    }
}

fn export(vault: &Vault, scratch: &Scratch) -> Result<Entry, VaultError> {
    let to = scratch.path().join("out");
    let result = vault.export(&head(vault), &path("/"), &to, &ExportOptions::default());
    assert!(!to.exists(), "an export appears whole or not at all");
    let names = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().contains("offshoot-export")));
    result
}

#[track_caller]
fn assert_found(vault: &Vault, depth: CheckDepth, words: &[&str]) {
    let problems = vault.check(depth).unwrap().problems;
    let found = problems.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(found, "{words:?} is not in {problems:?}");
}

#[test]
fn a_flipped_byte_in_a_layer_is_found() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let (blob, host) = (blob(&vault, "/in-layer"), layer_file(&vault, "in-layer"));
    fs::set_permissions(&host, fs::Permissions::from_mode(0o600)).unwrap();
    fs::OpenOptions::new().write(true).open(&host).unwrap().write_all_at(b"X", 3).unwrap();
    assert_damaged(vault.objects().unwrap().blob(&blob), &blob.to_hex(), &host);
    assert_damaged(export(&vault, &scratch), &blob.to_hex(), &host);
    assert_found(&vault, CheckDepth::Content, &[&blob.to_hex(), host.to_str().unwrap()]);
    // The length is right, so a look at the structure alone finds nothing; a cut it finds.
    assert_eq!(vault.check(CheckDepth::Structure).unwrap().problems, Vec::<String>::new());
    fs::OpenOptions::new().write(true).open(&host).unwrap().set_len(4).unwrap();
    assert_found(&vault, CheckDepth::Structure, &[&blob.to_hex(), "4 bytes"]);
}

#[test]
fn a_lost_file_of_a_layer_is_found() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let (blob, host) = (blob(&vault, "/in-layer"), layer_file(&vault, "in-layer"));
    fs::remove_file(&host).unwrap();
    assert_damaged(vault.objects().unwrap().blob(&blob), &blob.to_hex(), &host);
    assert_damaged(export(&vault, &scratch), &blob.to_hex(), &host);
    assert_found(&vault, CheckDepth::Structure, &[&blob.to_hex(), host.to_str().unwrap()]);
    // A link in its place, to a file with the very bytes, is none of the layer's files.
    fs::write(scratch.path().join("elsewhere"), "in a layer").unwrap();
    std::os::unix::fs::symlink(scratch.path().join("elsewhere"), &host).unwrap();
    assert_damaged(vault.objects().unwrap().blob(&blob), &blob.to_hex(), &host);
    fs::remove_dir_all(host.parent().unwrap().parent().unwrap()).unwrap();
    assert_found(&vault, CheckDepth::Structure, &["layer", "is missing"]);
}

#[test]
fn flipped_bytes_in_the_catalog_are_found() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let (root, catalog) = (head(&vault), vault.dir().join("catalog.db"));
    let inline = blob(&vault, "/inline");
    let many = *entry(&vault, "/many").directory().unwrap();
    let objects = vault.objects().unwrap();

    change_object(&vault, 1, &inline.0, |value| flip_last(value));
    assert_damaged(objects.blob(&inline), &inline.to_hex(), &catalog);
    assert_damaged(export(&vault, &scratch), &inline.to_hex(), &catalog);
    assert_found(&vault, CheckDepth::Content, &[&inline.to_hex(), "catalog.db"]);
    change_object(&vault, 1, &inline.0, |value| value[0] = 99);
    assert_damaged(objects.place(&inline), &inline.to_hex(), &catalog);

    change_object(&vault, 2, &many.node.0, |value| flip_last(value));
    assert_damaged(objects.node(&many.node), &many.node.to_hex(), &catalog);
    assert_damaged(objects.entry(&many, b"5"), &many.node.to_hex(), &catalog);
    assert_found(&vault, CheckDepth::Structure, &[&many.node.to_hex(), "catalog.db"]);

    change_object(&vault, 3, &root.0, |value| flip_last(value));
    assert_damaged(objects.root(&root), &root.to_hex(), &catalog);
    assert_damaged(vault.tree(&root), &root.to_hex(), &catalog);
    assert_found(&vault, CheckDepth::Structure, &[&root.to_hex(), "catalog.db"]);
}

#[test]
fn a_damaged_vault_does_not_open_after_a_crash_and_can_still_be_checked() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let root = head(&vault);
    change_object(&vault, 3, &root.0, |value| flip_last(value));
    fs::write(vault.dir().join("open/dead"), "").unwrap();
    drop(vault);
    for _ in 0..2 {
        match home(&scratch).open("v") {
            Err(VaultRegistryError::Vault(error)) => {
                assert!(error.to_string().contains(&root.to_hex()))
            }
            other => panic!("{other:?}"),
        }
    }
    let vault = home(&scratch).inspect("v").unwrap();
    assert_found(&vault, CheckDepth::Structure, &[&root.to_hex()]);
}

#[test]
fn lost_objects_are_found() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let root = head(&vault);
    let inline = blob(&vault, "/inline");
    let many = *entry(&vault, "/many").directory().unwrap();
    let objects = vault.objects().unwrap();
    let Node::Index(children) = objects.node(&many.node).unwrap() else { panic!("not an index") };
    let leaf = children[0].dir.node;
    for (kind, id) in [(1, inline.0), (2, leaf.0)] {
        drop_object(&vault, kind, &id);
        assert!(matches!(
            export(&vault, &scratch),
            Err(VaultError::Tree(TreeError::MissingObject(_)))
        ));
    }
    let missing = |result: Result<(), TreeError>, hex: String| match result {
        Err(TreeError::MissingObject(what)) => {
            assert!(what.contains(&hex), "{what}")
        }
        other => panic!("{other:?}"),
    };
    missing(objects.blob(&inline).map(drop), inline.to_hex());
    missing(objects.entries(&many).map(drop), leaf.to_hex());
    drop_object(&vault, 3, &root.0);
    missing(objects.root(&root).map(drop), root.to_hex());
    assert_found(&vault, CheckDepth::Structure, &[&root.to_hex(), "missing"]);
}

#[test]
fn records_that_make_no_sense_are_listed() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
    let run = |sql: &str| assert!(catalog.execute(sql, []).unwrap() > 0, "{sql}");
    run("UPDATE refs SET value = '{}' WHERE kind = 'head'");
    assert_found(&vault, CheckDepth::Structure, &["ref head", "not what its hash says"]);
    run("UPDATE snapshots SET actor = 'nobody'");
    assert_found(&vault, CheckDepth::Structure, &["snapshot", "not what its hash says"]);
    run("UPDATE snapshots SET root = zeroblob(32)");
    vault.check(CheckDepth::Content).unwrap();
    run("UPDATE snapshots SET root = zeroblob(3)");
    vault.check(CheckDepth::Content).unwrap();
}

#[test]
fn the_audit_log_cannot_be_changed_unseen() {
    let edits = [
        "UPDATE audit SET event = replace(event, 'tester', 'nobody') WHERE seq = 1",
        "DELETE FROM audit WHERE seq = 1",
        "DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)",
        "UPDATE audit SET seq = -seq",
        "UPDATE audit SET chain = zeroblob(32) WHERE seq = 2",
    ];
    for edit in edits {
        let scratch = Scratch::new();
        let vault = empty_vault(&scratch);
        let one = file(&vault, b"one");
        let root = edit_tree(&vault, &head(&vault), |editor| editor.put(&path("/1"), one).unwrap());
        commit(&vault, &root);
        let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
        assert!(catalog.execute(edit, []).unwrap() > 0, "{edit}");
        assert_found(&vault, CheckDepth::Structure, &["audit"]);
    }
}

/// Every object of a vault in turn, changed at random, and everything that reads it.
#[test]
fn nothing_panics_over_random_damage() {
    let scratch = Scratch::new();
    let vault = vault(&scratch);
    let seed = seed_from_env_or(3);
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let root = head(&vault);
    let many = *entry(&vault, "/many").directory().unwrap();
    for _ in 0..60 {
        let catalog = Connection::open(vault.dir().join("catalog.db")).unwrap();
        let pick = "SELECT kind, id, value FROM objects ORDER BY random() LIMIT 1";
        let (kind, id, value): (u8, [u8; 32], Vec<u8>) =
            catalog.query_row(pick, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        change_object(&vault, kind, &id, |value| spoil(value, &mut rng));
        look_at_all(&vault, &root, &many);
        change_object(&vault, kind, &id, |now| now.clone_from(&value));
    }
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
}

fn spoil(value: &mut Vec<u8>, rng: &mut Rng) {
    match rng.below(3) {
        0 => value.truncate(rng.below(value.len() as u64) as usize),
        1 => value.push(rng.next_u64() as u8),
        _ => {
            let at = rng.below(value.len() as u64) as usize;
            value[at] ^= 1 << rng.below(8);
        }
    }
}

/// Reads everything; what comes out does not matter, that it comes out does.
fn look_at_all(vault: &Vault, root: &RootId, many: &DirRef) {
    let objects = vault.objects().unwrap();
    let listed = objects.entries(many).is_ok();
    let found = vault.tree(root).is_ok_and(|tree| tree.find(&path("/inline")).is_ok());
    let problems = vault.check(CheckDepth::Content).unwrap().problems;
    assert!((listed && found) || !problems.is_empty());
}
