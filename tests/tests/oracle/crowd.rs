//! Many commands at once in one vault.
