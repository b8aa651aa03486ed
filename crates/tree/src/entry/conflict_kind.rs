//! Why something could not be merged.

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
