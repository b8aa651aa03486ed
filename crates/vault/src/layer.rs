//! Sealed layers: directories in overlayfs format that hold a root, or its difference to another.
//!
//! A layer is written under a temporary name, made durable, and renamed; from then on it never changes. The vault does
//! not know what a mount is: it only promises that a stack of layers, mounted, shows a root.

mod access;
mod adopt;
mod compact;
mod copy;
mod joined;
mod leftover;
mod note;
mod output;
mod place;
mod rebuild;
mod running;
mod stack;
mod stage;
mod sweep;
mod upper;
pub(crate) mod written;

pub use access::{Access, PlainAccess};
pub use adopt::Adopted;
pub use compact::{CompactOptions, CompactWay, Compacted};
pub use joined::JoinNote;
pub use leftover::{Leftover, LeftoverShape, Preview};
pub use note::{CaptureWay, ExecNote, UpperOwner};
pub use output::{OutputReader, OutputWriter};
pub use place::{LinkLimit, Placed};
pub use rebuild::Rebuilt;
pub use running::RunningExec;
pub(crate) use running::running_below;
pub use stack::Stack;
pub use sweep::LeftoverSize;
pub use upper::Upper;

pub(crate) use stage::{LayerKind, LayerStage};
