//! How two texts differ: lines, words, and parts that can be taken one by one.

pub use offshoot_text::lines::LineKind;
pub use offshoot_text::patch::write_hunk;
pub use offshoot_text::pick::TextPick;
pub use offshoot_text::words::{Span, diff_words};
pub use offshoot_tree::diff::FileDiff;
