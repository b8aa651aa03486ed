//! A vault where nothing can be written can be read, and says why it cannot be changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use offshoot_store::StoreError;
use offshoot_vault::{CheckDepth, ImportOptions, Vault, VaultError};

use crate::children;
use crate::support::{Scratch, actor, commit, edit, export, file, head, home_at, path};

#[test]
fn a_vault_that_cannot_be_written_can_be_read() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("read only", scratch.path());
}

pub(crate) fn as_ordinary_user(place: &Path) {
    let source = place.join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("file"), "text").unwrap();
    let home = home_at(place);
    let vault = home.create("v", Some(&source), &ImportOptions::default(), &actor()).unwrap().vault;
    let dir = vault.dir().to_owned();
    let own = file(&vault, b"more");
    commit(&vault, &edit(&vault, &head(&vault), |editor| editor.put(&path("/more"), own).unwrap()));
    drop(vault);
    for checked in [true, false] {
        if !checked {
            fs::write(dir.join("checked"), "another boot").unwrap();
        }
        close(&dir, true);
        close(home.dir(), true);
        look(&home.open("v").unwrap(), place);
        assert_eq!(home.list().unwrap().len(), 1);
        close(home.dir(), false);
        close(&dir, false);
        assert!(!home.open("v").unwrap().is_read_only());
    }
}

/// Takes away or gives back the right to write to a directory and the files in it.
fn close(dir: &Path, closed: bool) {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let mode = if closed { 0o400 } else { 0o600 };
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mode = if closed { 0o500 } else { 0o700 };
    fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
}

fn look(vault: &Vault, place: &Path) {
    assert!(vault.is_read_only());
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    let out = export(vault, &head(vault), &place.join("out"));
    assert_eq!(fs::read_to_string(out.join("file")).unwrap(), "text");
    fs::remove_dir_all(out).unwrap();
    assert_eq!(vault.symlinks(&head(vault)).unwrap().len(), 0, "found and not remembered");
    let changed = vault.transact("test", &actor(), |_| Ok(()));
    assert!(matches!(changed, Err(VaultError::Store(StoreError::ReadOnly(_)))), "{changed:?}");
    let imported = vault.import(&place.join("source"), &ImportOptions::default());
    assert!(matches!(imported, Err(VaultError::Store(StoreError::ReadOnly(_)))), "{imported:?}");
}
