//! Questions to people and to governance agents.

pub(crate) mod desk;
pub(crate) mod error;
pub(crate) mod record;
pub(crate) mod store;
