//! What a decision costs: parsing and deciding by themselves, and a command that is denied.

pub(super) mod decide;
pub(super) mod denied;
