//! What a folder is told by, wherever it lies.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What `statfs` calls an overlay.
const OVERLAY: u64 = 0x794c_7630;

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

    /// Whether the folder that is found at a path now, `found`, is another than this one. The inode number alone does not tell: it is
    /// used again when a folder is deleted, and the tops of file systems of one kind all have the same. Where nobody says when one of
    /// the two was made, it has to do.
    pub fn is_other_than(&self, found: &Self, path: &Path) -> bool {
        let births = self.born_ns.zip(found.born_ns);
        let another_birth = births.is_some_and(|(bound, now)| bound != now);
        self.inode != found.inode || another_birth && keeps_births(path)
    }

    /// Whether both are one folder, without a doubt.
    pub fn is(&self, other: &Self) -> bool {
        self.born_ns.is_some() && self == other
    }
}

/// Whether the birth of a folder stays what it was: an overlay gives it another one when it is first written to.
fn keeps_births(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| u64::try_from(found.f_type) != Ok(OVERLAY))
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
    fn another_birth_is_another_folder_and_no_birth_says_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path();
        let folder = |inode, born_ns| FolderIdentity { inode, born_ns };
        let known = folder(7, Some(5));
        for (found, is_other) in [
            (folder(7, Some(5)), false),
            (folder(7, Some(6)), keeps_births(path)),
            (folder(7, None), false),
            (folder(8, Some(5)), true),
        ] {
            assert_eq!(known.is_other_than(&found, path), is_other, "{found:?}");
        }
        assert!(!folder(7, None).is_other_than(&known, path));
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
