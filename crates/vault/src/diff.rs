//! Text diffs, patches, diffstats and similarity.

pub mod patch;
pub mod similarity;
pub mod stat;
pub mod text;
