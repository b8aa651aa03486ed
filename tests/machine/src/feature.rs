//! What tests may ask for.

/// Something that a test needs and a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// To be the root user.
    Root,
    /// To mount an ext4 image through a loop device.
    LoopMount,
    /// To trace system calls, as the fault injection of tests does.
    Ptrace,
    /// To mount an overlay with the `userxattr` option in a mount namespace of one's own.
    Overlay,
    /// To mount an overlay in which a layer has the bytes of its files in another one that only holds bytes.
    DataLayers,
    /// To set `user.` attributes in the directory for temporary files.
    UserXattr,
    /// To make a user namespace.
    UserNamespace,
    /// To make system calls by io_uring.
    IoUring,
    /// To make system calls as programs of 32 bits do.
    Calls32,
    /// A program in [`search_path`](crate::search_path).
    Program(&'static str),
}

/// Everything that a test may ask for. What every Linux has, such as a shell, `cp` or `setpriv`, is not in it.
pub const FEATURES: &[Feature] = &[
    Feature::Root,
    Feature::LoopMount,
    Feature::Ptrace,
    Feature::Overlay,
    Feature::DataLayers,
    Feature::UserXattr,
    Feature::UserNamespace,
    Feature::IoUring,
    Feature::Calls32,
    Feature::Program("bash"),
    Feature::Program("cc"),
    Feature::Program("chattr"),
    Feature::Program("curl"),
    Feature::Program("dash"),
    Feature::Program("fish"),
    Feature::Program("gcc"),
    Feature::Program("git"),
    Feature::Program("hg"),
    Feature::Program("ip"),
    Feature::Program("less"),
    Feature::Program("make"),
    Feature::Program("mvn"),
    Feature::Program("node"),
    Feature::Program("npm"),
    Feature::Program("patch"),
    Feature::Program("perl"),
    Feature::Program("pip3"),
    Feature::Program("python3"),
    Feature::Program("rg"),
    Feature::Program("rsync"),
    Feature::Program("sqlite3"),
    Feature::Program("tmux"),
    Feature::Program("unshare"),
    Feature::Program("vim"),
    Feature::Program("zsh"),
];
