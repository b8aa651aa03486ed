//! A vault as programs see it.

use offshoot_engine::vault::Vault;
use offshoot_engine::wire;
use offshoot_protocol::{Text, VaultDoc};

use crate::error::Result;

/// A vault as programs see it.
pub(crate) fn vault_doc(name: &str, vault: &Vault) -> Result<VaultDoc> {
    let bindings = vault.bindings()?;
    Ok(VaultDoc {
        name: name.to_owned(),
        id: vault.id().to_string(),
        directory: Text::new(vault.dir().as_os_str().as_encoded_bytes()),
        bindings: bindings.iter().map(|binding| Text::new(&binding.path)).collect(),
        missing: wire::missing_folders(&bindings),
    })
}
