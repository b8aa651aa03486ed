//! From the kinds that storage knows to the words of documents: one match for each, which the next value cannot get past.

use offshoot_protocol::{ChangeKindDoc, ConflictKindDoc, EntryKindDoc, MetadataFieldDoc};
use offshoot_tree::diff::{ChangeKind, MetadataField};
use offshoot_tree::{ConflictKind, EntryKind};

pub(crate) fn change_kind(kind: ChangeKind) -> ChangeKindDoc {
    match kind {
        ChangeKind::Added => ChangeKindDoc::Added,
        ChangeKind::Modified => ChangeKindDoc::Modified,
        ChangeKind::Deleted => ChangeKindDoc::Deleted,
        ChangeKind::Renamed => ChangeKindDoc::Renamed,
        ChangeKind::Mode => ChangeKindDoc::Mode,
        ChangeKind::Metadata => ChangeKindDoc::Metadata,
    }
}

pub(crate) fn entry_kind(kind: EntryKind) -> EntryKindDoc {
    match kind {
        EntryKind::File => EntryKindDoc::File,
        EntryKind::Directory => EntryKindDoc::Directory,
        EntryKind::Symlink => EntryKindDoc::Symlink,
        EntryKind::Fifo => EntryKindDoc::Fifo,
    }
}

pub(crate) fn metadata_field(field: MetadataField) -> MetadataFieldDoc {
    match field {
        MetadataField::Time => MetadataFieldDoc::Time,
        MetadataField::Owner => MetadataFieldDoc::Owner,
        MetadataField::Group => MetadataFieldDoc::Group,
        MetadataField::Attributes => MetadataFieldDoc::Attributes,
        MetadataField::Links => MetadataFieldDoc::Links,
    }
}

pub(crate) fn conflict_kind(kind: ConflictKind) -> ConflictKindDoc {
    match kind {
        ConflictKind::Content => ConflictKindDoc::Content,
        ConflictKind::AddAdd => ConflictKindDoc::AddAdd,
        ConflictKind::DeleteModify => ConflictKindDoc::DeleteModify,
        ConflictKind::RenameRename => ConflictKindDoc::RenameRename,
        ConflictKind::RenameDelete => ConflictKindDoc::RenameDelete,
        ConflictKind::SamePath => ConflictKindDoc::SamePath,
        ConflictKind::DirectoryFile => ConflictKindDoc::DirectoryFile,
        ConflictKind::DirectoryRename => ConflictKindDoc::DirectoryRename,
        ConflictKind::Kind => ConflictKindDoc::Kind,
        ConflictKind::Mode => ConflictKindDoc::Mode,
        ConflictKind::Owner => ConflictKindDoc::Owner,
        ConflictKind::Xattr => ConflictKindDoc::Xattr,
    }
}

#[cfg(test)]
mod tests {
    use offshoot_tree::ConflictKind;
    use offshoot_tree::EntryKind;
    use offshoot_tree::diff::{ChangeKind, MetadataField};

    use super::*;

    /// What storage writes elsewhere, such as in audit events, is what documents say.
    #[test]
    fn the_words_below_are_those_of_documents() {
        for kind in [
            ChangeKind::Added,
            ChangeKind::Modified,
            ChangeKind::Deleted,
            ChangeKind::Renamed,
            ChangeKind::Mode,
            ChangeKind::Metadata,
        ] {
            assert_eq!(change_kind(kind).as_str(), kind.word());
        }
        for kind in [EntryKind::File, EntryKind::Directory, EntryKind::Symlink, EntryKind::Fifo] {
            assert_eq!(entry_kind(kind).as_str(), kind.word());
        }
        for field in [
            MetadataField::Time,
            MetadataField::Owner,
            MetadataField::Group,
            MetadataField::Attributes,
            MetadataField::Links,
        ] {
            assert_eq!(metadata_field(field).as_str(), field.word());
        }
        for kind in ConflictKind::ALL {
            assert_eq!(conflict_kind(kind).as_str(), kind.word());
        }
    }
}
