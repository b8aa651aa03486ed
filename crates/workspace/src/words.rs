//! From the kinds that storage and policy know to the words of documents: one match for each, which the next value cannot get past.

use offshoot_policy::{AccessKind as Access, Category, Layer, PartKind};
use offshoot_protocol::{
    ChangeKindDoc, CommandPart, ConflictKindDoc, EffectCategory, EntryKindDoc, MetadataFieldDoc,
    PathAccess, PolicyLayer,
};
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

/// Whose rules they are.
pub fn policy_layer(layer: Layer) -> PolicyLayer {
    match layer {
        Layer::BuiltIn => PolicyLayer::BuiltIn,
        Layer::User => PolicyLayer::User,
        Layer::Project => PolicyLayer::Project,
        Layer::Request => PolicyLayer::Request,
    }
}

/// The layer that a word stands for.
pub fn layer_of(layer: PolicyLayer) -> Layer {
    match layer {
        PolicyLayer::BuiltIn => Layer::BuiltIn,
        PolicyLayer::User => Layer::User,
        PolicyLayer::Project => Layer::Project,
        PolicyLayer::Request => Layer::Request,
    }
}

pub(crate) fn category(category: Category) -> EffectCategory {
    match category {
        Category::ReadOnly => EffectCategory::ReadOnly,
        Category::Interactive => EffectCategory::Interactive,
        Category::Mutating => EffectCategory::Mutating,
        Category::Networked => EffectCategory::Networked,
        Category::Destructive => EffectCategory::Destructive,
        Category::HostEscapeRisk => EffectCategory::HostEscapeRisk,
    }
}

pub(crate) fn part(part: PartKind) -> CommandPart {
    match part {
        PartKind::Program => CommandPart::Program,
        PartKind::Redirection => CommandPart::Redirection,
        PartKind::Assignment => CommandPart::Assignment,
        PartKind::Unclear => CommandPart::Unclear,
    }
}

pub(crate) fn access(access: Access) -> PathAccess {
    match access {
        Access::Read => PathAccess::Read,
        Access::Write => PathAccess::Write,
        Access::Delete => PathAccess::Delete,
    }
}

#[cfg(test)]
mod tests {
    use offshoot_policy::{AccessKind as Access, Category, Layer, PartKind};
    use offshoot_tree::ConflictKind;
    use offshoot_tree::EntryKind;
    use offshoot_tree::diff::{ChangeKind, MetadataField};

    use super::*;

    /// What storage and policy write elsewhere, such as in audit events and in the input of rules, is what documents say.
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
        for one in Category::ALL {
            assert_eq!(category(one).as_str(), one.as_str());
        }
        for layer in [Layer::BuiltIn, Layer::User, Layer::Project, Layer::Request] {
            assert_eq!(policy_layer(layer).as_str(), layer.as_str());
            assert_eq!(layer_of(policy_layer(layer)), layer);
        }
        for one in
            [PartKind::Program, PartKind::Redirection, PartKind::Assignment, PartKind::Unclear]
        {
            assert_eq!(part(one).as_str(), one.as_str());
        }
        for one in [Access::Read, Access::Write, Access::Delete] {
            assert_eq!(access(one).as_str(), one.as_str());
        }
    }
}
