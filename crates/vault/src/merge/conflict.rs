//! What could not be merged, with everything that is needed to decide it.

use offshoot_text::merge::Region;

use crate::entry::Entry;
use crate::path::VaultPath;

pub use crate::conflicts::texts_with_markers;

/// Why a path could not be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// Sides changed the same lines, or something that is not merged by lines, in different ways.
    Content,
    /// Sides added different things at one path.
    AddAdd,
    /// One side deleted what another changed.
    DeleteModify,
    /// Sides moved one file to different paths.
    RenameRename,
    /// One side deleted what another moved.
    RenameDelete,
    /// Different files came to the same path, by being moved or added.
    SamePath,
    /// A path is a directory for one side and something else for another.
    DirectoryFile,
    /// Something is new in a directory that another side moved away, and it is not clear where it belongs.
    DirectoryRename,
    /// Sides turned one thing into things of different kinds.
    Kind,
    /// Sides changed the permission bits in different ways.
    Mode,
    /// Sides changed owner or group in different ways.
    Owner,
    /// Sides changed one extended attribute in different ways.
    Xattr,
}

impl ConflictKind {
    /// Every kind. Their places are part of the storage format: new ones come last.
    pub const ALL: [Self; 12] = [
        Self::Content,
        Self::AddAdd,
        Self::DeleteModify,
        Self::RenameRename,
        Self::RenameDelete,
        Self::SamePath,
        Self::DirectoryFile,
        Self::DirectoryRename,
        Self::Kind,
        Self::Mode,
        Self::Owner,
        Self::Xattr,
    ];

    /// The bit that stands for it in a record.
    pub(crate) fn bit(self) -> u32 {
        self as u32
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::AddAdd => "add-add",
            Self::DeleteModify => "delete-modify",
            Self::RenameRename => "rename-rename",
            Self::RenameDelete => "rename-delete",
            Self::SamePath => "same-path",
            Self::DirectoryFile => "directory-file",
            Self::DirectoryRename => "directory-rename",
            Self::Kind => "kind",
            Self::Mode => "mode",
            Self::Owner => "owner",
            Self::Xattr => "xattr",
        }
    }
}

/// An entry and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its path, in the state that it comes from.
    pub path: VaultPath,
    /// All that is recorded of it.
    pub entry: Entry,
}

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
