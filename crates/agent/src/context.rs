//! What the model reads: layers of the system prompt, and the conversation within its window.

pub(crate) mod estimate;
pub(crate) mod layers;
pub(crate) mod render;
pub(crate) mod room;
pub(crate) mod skills;
pub(crate) mod sources;
pub(crate) mod transcript;
