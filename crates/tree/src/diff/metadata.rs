//! What of the metadata of a path differs, beside its mode.

use crate::diff::change::Change;

/// A part of the metadata of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetadataField {
    /// When its content was changed.
    Time,
    /// The user that owns it.
    Owner,
    /// The group that owns it.
    Group,
    /// Its extended attributes.
    Attributes,
    /// Which other names it has.
    Links,
}

impl MetadataField {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Owner => "owner",
            Self::Group => "group",
            Self::Attributes => "attributes",
            Self::Links => "links",
        }
    }
}

impl Change {
    /// What differs of the metadata of something that is on both sides.
    pub fn metadata(&self) -> Vec<MetadataField> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        let (old, new) = (&before.meta, &after.meta);
        let differs = [
            (MetadataField::Time, old.mtime != new.mtime),
            (MetadataField::Owner, old.uid != new.uid),
            (MetadataField::Group, old.gid != new.gid),
            (MetadataField::Attributes, old.xattrs != new.xattrs),
            (MetadataField::Links, before.group != after.group),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use offshoot_host::Mtime;

    use super::*;
    use crate::entry::{Body, Entry, Meta};
    use crate::path::VaultPath;

    #[test]
    fn every_field_is_told_from_the_others() {
        let entry = |meta: Meta, group| {
            let (name, body) = (b"f".to_vec(), Body::Fifo);
            Arc::new(Entry { name, meta, group, body, conflict: None })
        };
        let plain = Meta::default();
        let time = Mtime { seconds: 1, nanoseconds: 0 };
        let attributes = vec![(b"user.k".to_vec(), b"v".to_vec())];
        let cases = [
            (Meta { mtime: time, ..plain.clone() }, None, MetadataField::Time),
            (Meta { uid: 1, ..plain.clone() }, None, MetadataField::Owner),
            (Meta { gid: 1, ..plain.clone() }, None, MetadataField::Group),
            (Meta { xattrs: attributes, ..plain.clone() }, None, MetadataField::Attributes),
            (plain.clone(), Some(1), MetadataField::Links),
        ];
        for (meta, group, field) in cases {
            let change = Change {
                path: VaultPath::top(),
                before: Some(entry(plain.clone(), None)),
                after: Some(entry(meta, group)),
                moved: None,
            };
            assert_eq!(change.metadata(), [field]);
        }
    }
}
