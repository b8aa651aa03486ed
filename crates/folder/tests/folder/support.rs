//! Vaults, and short ways to make them.

use std::path::Path;
use std::time::Duration;

use offshoot_tests::scratch::Scratch;
use offshoot_vault::{Actor, ImportOptions, Imported, Vault, VaultOptions, VaultRegistry};

pub(crate) fn actor() -> Actor {
    Actor::user("tester")
}

pub(crate) fn home_at(dir: &Path) -> VaultRegistry {
    VaultRegistry::new(
        dir.join("home"),
        VaultOptions { busy_timeout: Duration::from_secs(60), ..VaultOptions::default() },
    )
}

/// A vault made from a directory.
pub(crate) fn vault_of(scratch: &Scratch, source: &Path) -> Vault {
    let home = home_at(scratch.path());
    home.create("v", Some(source), &ImportOptions::default(), &actor()).unwrap().vault
}

pub(crate) fn import(vault: &Vault, source: &Path) -> Imported {
    vault.import(source, &ImportOptions::default()).unwrap()
}
