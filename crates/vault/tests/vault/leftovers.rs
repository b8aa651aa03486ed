//! What a crash leaves is cleared or put right, and what is in use is left alone.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_vault::{ImportOptions, Vault, VaultOptions, VaultRegistryError};

use crate::support::{Scratch, actor, empty_vault, head, home, import, vault_of};

fn entries(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn only_entry(dir: &Path) -> PathBuf {
    let names = entries(dir);
    assert_eq!(names.len(), 1, "{names:?}");
    dir.join(&names[0])
}

#[test]
fn half_written_layers_are_cleared_after_an_unclean_stop() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (dir, id) = (vault.dir().to_owned(), vault.id());
    let layers = dir.join("layers");
    let sealed = entries(&layers);
    for name in ["half.tmp", "held.tmp", ".unlocked.tmp"] {
        fs::create_dir_all(layers.join(name).join("fs/deep")).unwrap();
        fs::write(layers.join(name).join("fs/deep/file"), "half").unwrap();
    }
    let held = fs::File::open(layers.join("held.tmp")).unwrap();
    held.lock().unwrap();
    drop(vault);
    // A clean stop: nothing is looked at.
    drop(Vault::open(&dir, id, &VaultOptions::default()).unwrap());
    assert_eq!(entries(&layers).len(), sealed.len() + 3);
    fs::write(dir.join("open/dead"), "").unwrap();
    drop(Vault::open(&dir, id, &VaultOptions::default()).unwrap());
    assert_eq!(entries(&dir.join("open")), Vec::<String>::new());
    let mut expected = sealed.clone();
    expected.push("held.tmp".to_owned());
    assert_eq!(entries(&layers), expected);
    // The first open after a boot looks too.
    // Not by closing it: another test may be starting a program, which has it open until it is executed.
    held.unlock().unwrap();
    fs::write(dir.join("checked"), "another boot").unwrap();
    drop(Vault::open(&dir, id, &VaultOptions::default()).unwrap());
    assert_eq!(entries(&layers), expected[..expected.len() - 1]);
}

#[test]
fn half_made_and_half_deleted_vaults_are_cleared() {
    let scratch = Scratch::new();
    drop(empty_vault(&scratch));
    let home = home(&scratch);
    let vaults = home.dir().join("vaults");
    let good = entries(&vaults);
    for name in ["01abc.tmp", "01abc.del", ".01unlocked.tmp"] {
        fs::create_dir_all(vaults.join(name).join("layers/x/fs")).unwrap();
    }
    let held = vaults.join("01held.tmp");
    fs::create_dir(&held).unwrap();
    let lock = fs::File::open(&held).unwrap();
    lock.lock().unwrap();
    let listed: Vec<String> = home.list().unwrap().into_iter().map(|listed| listed.name).collect();
    assert_eq!(listed, ["v"]);
    let mut expected = vec!["01held.tmp".to_owned()];
    expected.extend(good);
    expected.sort_unstable();
    assert_eq!(entries(&vaults), expected);
}

#[test]
fn lost_links_are_made_again() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    drop(vault_of(&scratch, &source));
    let home = home(&scratch);
    let source = source.canonicalize().unwrap();
    let (names, bindings) = (home.dir().join("names"), home.dir().join("bindings"));
    for lost in [vec![&names], vec![&bindings], vec![&names, &bindings]] {
        for folder in &lost {
            fs::remove_file(only_entry(folder)).unwrap();
        }
        let (listed, bound) = home.find_bound(&source.join("deep/er")).unwrap().unwrap();
        assert_eq!((listed.name.as_str(), bound.as_path()), ("v", source.as_path()));
        // A name that is lost while the directory is still bound is found by asking for it.
        assert!(home.open("v").unwrap().head().is_ok());
        only_entry(&names);
        only_entry(&bindings);
    }
    // The name of a vault without links may be taken meanwhile.
    fs::remove_file(only_entry(&names)).unwrap();
    home.create("v", None, &ImportOptions::default(), &actor()).unwrap();
    assert_eq!(entries(&names), ["v"]);
    let listed: Vec<String> = home.list().unwrap().into_iter().map(|listed| listed.name).collect();
    assert_eq!(listed, ["v", "v-2"]);
}

#[test]
fn links_to_nothing_are_in_nobodys_way() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    let vault = vault_of(&scratch, &source);
    let dir = vault.dir().to_owned();
    drop(vault);
    let home = home(&scratch);
    // A deletion that was cut short: the vault is gone, its links are not.
    fs::rename(&dir, dir.with_extension("del")).unwrap();
    assert!(matches!(home.open("v"), Err(VaultRegistryError::NoVault(_))));
    assert!(home.find_bound(&source.canonicalize().unwrap()).unwrap().is_none());
    assert_eq!(entries(&home.dir().join("vaults")), Vec::<String>::new());
    let options = ImportOptions::default();
    home.create("v", Some(&source), &options, &actor()).unwrap();
    assert!(matches!(
        home.create("w", Some(&source), &options, &actor()),
        Err(VaultRegistryError::AlreadyBound { .. })
    ));
    assert!(matches!(
        home.create("v", None, &options, &actor()),
        Err(VaultRegistryError::NameTaken(_))
    ));
}

#[test]
fn a_broken_vault_does_not_hide_the_others() {
    let scratch = Scratch::new();
    drop(empty_vault(&scratch));
    let home = home(&scratch);
    let broken = home.dir().join("vaults/01hzzzzzzzzzzzzzzzzzzzzzzz");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("catalog.db"), "not a database").unwrap();
    let listed: Vec<String> = home.list().unwrap().into_iter().map(|listed| listed.name).collect();
    assert_eq!(listed, ["v"]);
    assert!(matches!(home.open("w"), Err(VaultRegistryError::NoVault(_))));
    assert!(broken.exists());
}

#[test]
fn a_failed_import_leaves_nothing() {
    let scratch = Scratch::new();
    let home = home(&scratch);
    let missing = scratch.path().join("missing");
    let options = ImportOptions::default();
    assert!(home.create("v", Some(&missing), &options, &actor()).is_err());
    fs::write(&missing, "a file").unwrap();
    assert!(matches!(
        home.create("v", Some(&missing), &options, &actor()),
        Err(VaultRegistryError::NotADirectory(_))
    ));
    assert!(home.create("../v", None, &options, &actor()).is_err());
    assert!(!home.dir().exists());
    let source = scratch.folder("source");
    let vault = vault_of(&scratch, &source);
    let layers = entries(&vault.dir().join("layers"));
    assert!(vault.import(&missing, &options).is_err());
    assert_eq!(import(&vault, &source).root, head(&vault));
    assert_eq!(entries(&vault.dir().join("layers")), layers);
}

#[test]
fn vaults_are_renamed_and_deleted() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    drop(vault_of(&scratch, &source));
    let home = home(&scratch);
    home.create("w", None, &ImportOptions::default(), &actor()).unwrap();
    assert!(matches!(home.rename("v", "w"), Err(VaultRegistryError::NameTaken(_))));
    assert!(matches!(home.rename("none", "x"), Err(VaultRegistryError::NoVault(_))));
    home.rename("v", "x").unwrap();
    let (listed, _) = home.find_bound(&source.canonicalize().unwrap()).unwrap().unwrap();
    assert_eq!(listed.name, "x");
    home.delete("x").unwrap();
    assert!(home.find_bound(&source.canonicalize().unwrap()).unwrap().is_none());
    assert!(matches!(home.delete("x"), Err(VaultRegistryError::NoVault(_))));
    home.delete("w").unwrap();
    for folder in ["vaults", "names", "bindings"] {
        assert_eq!(entries(&home.dir().join(folder)), Vec::<String>::new());
    }
}

/// One that cannot be cleared hides no vault, and whoever clears is told.
#[test]
fn what_cannot_be_cleared_is_in_nobodys_way() {
    let scratch = Scratch::new();
    drop(empty_vault(&scratch));
    let home = home(&scratch);
    // A name that is no directory's is nothing that a deletion leaves.
    let odd = home.dir().join("vaults/01abc.del");
    fs::write(&odd, "").unwrap();
    fs::create_dir_all(home.dir().join("vaults/01def.del/layers")).unwrap();
    assert!(home.sweep().unwrap_err().to_string().contains("01abc.del"));
    assert!(!home.dir().join("vaults/01def.del").exists());
    let listed: Vec<String> = home.list().unwrap().into_iter().map(|listed| listed.name).collect();
    assert_eq!(listed, ["v"]);
    assert!(odd.exists());
}
