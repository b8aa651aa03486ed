//! What an import did, and what did not come in.

/// Something that did not come in, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its path below the imported directory.
    pub path: Vec<u8>,
    /// Why.
    pub why: SkipReason,
}

/// Why something did not come in, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// It could not be read.
    Unreadable(String),
    /// It could not be read, so what the main line has of it stays as it was.
    Kept(String),
    /// It is a socket.
    Socket,
    /// It is a device.
    Device,
    /// It is the home of the vaults.
    Home,
    /// Another file system is mounted here, which shows the kernel and no files.
    Pseudo,
    /// The place is that of further folders in the vault's tree.
    Reserved,
    /// These attributes are not kept; the rest came in.
    Attributes(Vec<String>),
    /// It kept changing while it was read; what came in is one of its states, or a mix of several.
    Unstable,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Files that came in.
    pub files: u64,
    /// Directories, without the top.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Named pipes.
    pub fifos: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files that were not read because the stat cache knew them.
    pub unchanged: u64,
    /// Entries that an ignore file kept out.
    pub ignored: u64,
    /// What did not come in, or not whole, by path.
    pub skipped: Vec<Skipped>,
}
