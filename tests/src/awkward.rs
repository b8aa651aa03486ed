//! Makes a directory tree with everything that is hard to keep.
//!
//! The tree is the same on every run with the same options, but for owners when run as root or not.
//! Each room (a directory at the top) holds one kind of difficulty, so that a difference found by
//! [`crate::scan::compare`] names its cause.

use std::io;
use std::path::Path;

use crate::rng::Rng;

mod builder;
mod rooms;

use builder::Builder;

/// What [`build`] puts into the tree beside what it always does.
#[derive(Debug, Clone)]
pub struct AwkwardOptions {
    /// The length of one file of real data; 0 for none.
    pub big_bytes: u64,
    /// How many entries one directory has; 0 for no such directory.
    pub many: usize,
    /// A Unix socket, which the product reports and skips.
    pub socket: bool,
    /// Files of other owners and groups. Only done when run as root.
    pub foreign_owners: bool,
    /// Paths that are longer than `PATH_MAX`, and a chain of 300 directories.
    pub deep: bool,
    /// Extended attributes, for file systems that have them.
    pub xattrs: bool,
    /// Extended attributes of 3,000 bytes, which need a file system with blocks of 4 KiB.
    pub large_xattrs: bool,
    /// What the bytes of files are made from.
    pub seed: u64,
}

impl Default for AwkwardOptions {
    /// Everything but the socket and the big file, and 300 entries in one directory.
    fn default() -> Self {
        Self {
            big_bytes: 0,
            many: 300,
            socket: false,
            foreign_owners: true,
            deep: true,
            xattrs: true,
            large_xattrs: true,
            seed: 1,
        }
    }
}

/// Makes the tree in `dir`, which must exist and should be empty.
pub fn build(dir: &Path, options: &AwkwardOptions) -> io::Result<()> {
    let mut builder = Builder::new(dir, Rng::new(options.seed))?;
    rooms::modes(&mut builder)?;
    rooms::links(&mut builder)?;
    rooms::names(&mut builder)?;
    rooms::contents(&mut builder)?;
    rooms::times(&mut builder)?;
    rooms::directories(&mut builder)?;
    if options.xattrs {
        rooms::xattrs(&mut builder, options.large_xattrs)?;
    }
    if options.deep {
        rooms::deep(&mut builder)?;
    }
    if options.foreign_owners && builder.root_user() {
        rooms::owners(&mut builder)?;
    }
    if options.many > 0 {
        rooms::many(&mut builder, options.many)?;
    }
    if options.big_bytes > 0 {
        rooms::big(&mut builder, options.big_bytes)?;
    }
    if options.socket {
        rooms::socket(&mut builder)?;
    }
    builder.finish()
}

/// Removes what is in `dir`, also where directories forbid it to an ordinary user.
pub fn clear(dir: &Path) -> io::Result<()> {
    builder::open_up(dir)?;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
