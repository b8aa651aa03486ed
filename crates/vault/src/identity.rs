//! What a folder is told by, wherever it lies.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What tells a folder from others. Moving it on its file system changes nothing of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderIdentity {
    /// Its inode number, which another folder can get when this one is deleted.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970; none where the file system does not say.
    pub born_ns: Option<u64>,
}

impl FolderIdentity {
    /// Of the directory at a path; a link to one is not one.
    pub fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
        let born = found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        // File systems that were made by copying have all that they started with born at the same moment, or never.
        let born_ns = born.and_then(|born| u64::try_from(born.as_nanos()).ok());
        Some(Self { inode: found.ino(), born_ns: born_ns.filter(|born| *born > 0) })
    }

    /// Whether both are one folder, without a doubt.
    pub fn is(&self, other: &Self) -> bool {
        self.born_ns.is_some() && self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inode_alone_is_no_proof() {
        let folder = |inode, born_ns| FolderIdentity { inode, born_ns };
        let known = folder(7, Some(5));
        for (other, is) in [
            (folder(7, Some(5)), true),
            (folder(7, Some(6)), false),
            (folder(7, None), false),
            (folder(8, Some(5)), false),
        ] {
            assert_eq!(known.is(&other), is, "{other:?}");
        }
        assert!(!folder(7, None).is(&folder(7, None)));
    }

    #[test]
    fn a_folder_is_the_same_after_a_move() {
        let scratch = tempfile::tempdir().unwrap();
        let (one, two) = (scratch.path().join("one"), scratch.path().join("two"));
        fs::create_dir(&one).unwrap();
        let before = FolderIdentity::of(&one).unwrap();
        fs::rename(&one, &two).unwrap();
        fs::write(two.join("file"), "").unwrap();
        assert_eq!(FolderIdentity::of(&two), Some(before));
        assert_eq!(FolderIdentity::of(&two.join("file")), None);
    }
}
