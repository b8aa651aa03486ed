//! Differences of two texts, and merges of several.
//!
//! Texts are bytes in memory: nothing here knows a file, a tree or a vault, and nothing assumes an encoding. Lines and words
//! are compared, differences are taken in part or shown as patches, and texts with a common base are merged, with
//! markers where they do not fit. Characters that nobody sees are listed here too. `docs/design/merge.md` says how texts are merged.

pub mod characters;
pub mod decide;
pub mod lines;
pub mod markers;
pub mod merge;
pub mod patch;
pub mod pick;
pub mod similarity;
pub mod words;
