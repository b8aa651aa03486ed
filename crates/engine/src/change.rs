//! What differs between two states of files, and what of it is folded in lists.

pub use offshoot_tree::diff::{Change, ChangeKind, detect_renames};
pub use offshoot_workspace::{
    ChangeSummaryService, Folded, FoldedKind, Noise, Sorted, Summary, is_telling_metadata,
    without_frames,
};
