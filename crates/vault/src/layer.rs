//! Sealed layers: directories in overlayfs format that hold a root, or its difference to another.
//!
//! A layer is written under a temporary name, made durable, and renamed; from then on it never changes. The vault does
//! not know what a mount is: it only promises that a stack of layers, mounted, shows a root.

mod access;
mod adopt;
mod copy;
mod lock;
mod place;
mod stack;
mod stage;
mod upper;
mod written;

pub use access::{Access, PlainAccess};
pub use adopt::Adopted;
pub use place::{LinkLimit, Placed};
pub use stack::Stack;
pub use upper::Upper;

pub(crate) use lock::{DirLock, clear_abandoned};
pub(crate) use stage::{LayerKind, LayerStage, clear_layers};
pub(crate) use upper::NOTE;
