//! Removing trees of any depth and any modes.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{bytes_path, join, open_below, open_dir, split_last};

/// Removes a directory with everything in it, whatever modes its directories have. Missing is fine, also where
/// somebody else removes it at the same time.
///
/// Directories are opened by their paths from the top, one at a time, so that no depth exhausts descriptors or the stack.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default().as_bytes();
    let top = match open_dir(parent.unwrap_or(Path::new("."))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let mut folders = vec![name.to_vec()];
    let mut next = 0;
    while next < folders.len() {
        let found = missing_is_fine(empty(top.as_fd(), &folders[next]))?.unwrap_or_default();
        folders.extend(found);
        next += 1;
    }
    for folder in folders.iter().rev() {
        missing_is_fine(remove_empty(top.as_fd(), folder))?;
    }
    Ok(())
}

/// Removes everything in a directory but its directories, and returns the paths of those.
fn empty(top: std::os::fd::BorrowedFd<'_>, path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let dir = open_up(top, path)?;
    let mut folders = Vec::new();
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if entry.file_type() == FileType::Directory {
            folders.push(join(path, name));
            continue;
        }
        match fs::unlinkat(&dir, bytes_path(name), AtFlags::empty()) {
            // The file system does not say the kinds of names.
            Err(Errno::ISDIR) => folders.push(join(path, name)),
            Err(Errno::NOENT) => {}
            other => other?,
        }
    }
    Ok(folders)
}

/// Opens a directory, after giving its owner the access that reading and emptying it takes.
fn open_up(top: std::os::fd::BorrowedFd<'_>, path: &[u8]) -> Result<std::os::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let dir = match open_below(top, path, flags) {
        Err(Errno::ACCESS) => {
            let (parent, name) = split_last(path);
            let holder = open_below(top, parent, OFlags::PATH | OFlags::DIRECTORY)?;
            fs::chmodat(&holder, bytes_path(name), Mode::RWXU, AtFlags::empty())?;
            open_below(top, path, flags)?
        }
        other => other?,
    };
    if fs::fstat(&dir)?.st_mode & 0o700 != 0o700 {
        match fs::fchmod(&dir, Mode::RWXU) {
            // Somebody else's; what they grant to others may be enough.
            Err(Errno::PERM) => {}
            other => other?,
        }
    }
    Ok(dir)
}

fn remove_empty(top: std::os::fd::BorrowedFd<'_>, path: &[u8]) -> Result<(), Errno> {
    let (parent, name) = split_last(path);
    let holder = open_below(top, parent, OFlags::PATH | OFlags::DIRECTORY)?;
    fs::unlinkat(&holder, bytes_path(name), AtFlags::REMOVEDIR)
}

fn missing_is_fine<T>(result: Result<T, Errno>) -> io::Result<Option<T>> {
    match result {
        Err(Errno::NOENT) => Ok(None),
        other => Ok(Some(other?)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn trees_that_forbid_it_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        std::fs::create_dir_all(tree.join("a/b/c")).unwrap();
        std::fs::write(tree.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("/", tree.join("a/link")).unwrap();
        for (path, mode) in [("a/b/c", 0o000), ("a/b", 0o100), ("a", 0o500)] {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(tree.join(path), mode).unwrap();
        }
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        remove_tree(&tree).unwrap();
    }
}
