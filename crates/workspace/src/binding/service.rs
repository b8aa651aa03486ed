//! The service for the folders of a vault.

use offshoot_vault::{Actor, Vault};

/// Takes what is on the host into the vault's main line.
#[derive(Debug)]
pub struct BindingService<'a> {
    pub(super) vault: &'a Vault,
    pub(super) actor: Actor,
}

impl<'a> BindingService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }
}
