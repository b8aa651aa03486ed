//! Rules in files.

pub(crate) mod example;
pub(crate) mod file;
pub(crate) mod layer;
pub(crate) mod load;
pub(crate) mod rule;
