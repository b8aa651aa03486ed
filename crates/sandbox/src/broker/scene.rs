//! What the threads of a broker know.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

/// What all threads of a broker know.
pub(super) struct Shared {
    /// Where calls are told about.
    pub(super) listener: OwnedFd,
    pub(super) scene: Arc<Scene>,
    /// The receiving thread has nothing to do, and no other thread is at work.
    pub(super) idle: AtomicBool,
    /// How many calls are moved for, or wait for that.
    pub(super) waiting: AtomicUsize,
}

/// Where the workspace is mounted and who works on it.
pub(crate) struct Scene {
    /// The device number of the workspace's mount.
    pub(crate) device: u64,
    /// Those of other stacked layers that were mounted for the command, in its home. Nothing elsewhere is touched.
    pub(crate) others: Vec<u64>,
    /// The first process inside, whose children are all others.
    pub(crate) init: i32,
    /// The command has ids of its own.
    pub(crate) own_ids: bool,
    /// The directory that changes go to, where it can be reached from here.
    pub(crate) upper: Option<OwnedFd>,
    /// Where the command sees directories of its workspace, each with its path in the workspace.
    pub(crate) places: Vec<(PathBuf, PathBuf)>,
    /// One directory moves at a time, as in the kernel, whichever command moves it.
    pub(crate) moving: Mutex<()>,
}
