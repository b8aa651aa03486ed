//! What could not be merged, with everything that is needed to decide it.

use offshoot_text::merge::Region;

use crate::entry::conflict_kind::ConflictKind;
use crate::entry::record::Version;
use crate::path::VaultPath;

/// A path that somebody has to decide about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Where it is in the merged root, or would be.
    pub path: VaultPath,
    /// Why.
    pub kind: ConflictKind,
    /// What it was.
    pub base: Option<Version>,
    /// What each side has, in the order of the sides; nothing where it is not there.
    pub sides: Vec<Option<Version>>,
    /// Where sides have a file that another side moved to the path, by side: who decides for one of them needs to know.
    pub elsewhere: Vec<(usize, Version)>,
    /// The lines that do not fit, where it was merged by lines.
    pub regions: Vec<Region>,
    /// The length of the markers in the merged root's file, where it has some.
    pub marker_length: Option<usize>,
    /// Where else in the merged root something was put that could not be at the path.
    pub beside: Vec<VaultPath>,
}
