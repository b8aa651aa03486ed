//! Vaults: the history of a project's files, the registry that keeps them, and which of them a folder belongs to.

mod adopt;
mod locate;

pub use adopt::Adoption;
pub use locate::{Belongs, instead, unsure};
pub use offshoot_vault::{
    CheckDepth, Created, Home as Registry, HomeError as RegistryError, Listed, Vault, VaultError,
    VaultOptions,
};
pub use offshoot_workspace::delete_vault;
