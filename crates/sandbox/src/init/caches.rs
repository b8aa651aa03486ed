//! Directories that outlive the command, over those of its home.
//!
//! One that cannot be mounted is left out: the command does without what it holds.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, fsconfig_set_flag, fsconfig_set_string, fsopen};

use super::detached_mount::{attach, finish_mount, overlay, tmpfs};
use super::files::make_directories;
use super::step::Step;
use crate::script::{CacheScript, MOST_CACHES, Script, UpperScript};

/// A descriptor for each cache.
pub(super) type PerCache = [Option<OwnedFd>; MOST_CACHES];

/// Those whose changes are kept, as mounts that are not attached anywhere yet. Made while the vault can still be written.
pub(super) fn kept(script: &Script) -> PerCache {
    let mut mounts = [const { None }; MOST_CACHES];
    for (mount, cache) in mounts.iter_mut().zip(&script.caches) {
        if cache.layers.upper.is_some() && rustix::process::chdir(cache.stage.as_c_str()).is_ok() {
            *mount = overlay(&cache.layers, Step::Layers).ok();
        }
    }
    mounts
}

/// Those whose changes are thrown away, with a scratch directory for them over the current directory, which is returned.
pub(super) fn thrown_away(script: &Script, mounts: &mut PerCache) -> Option<OwnedFd> {
    if script.caches.iter().all(|cache| cache.layers.upper.is_some()) {
        return None;
    }
    let scratch = tmpfs(c"0700").and_then(|scratch| {
        attach(scratch.as_fd(), c".")?;
        Ok(scratch)
    });
    let scratch = scratch.ok()?;
    for (mount, cache) in mounts.iter_mut().zip(&script.caches) {
        if cache.layers.upper.is_none() {
            *mount = over(cache, &scratch).ok();
        }
    }
    let _fails_later = rustix::process::fchdir(&scratch).is_err();
    Some(scratch)
}

fn over(cache: &CacheScript, scratch: &OwnedFd) -> Result<OwnedFd, Errno> {
    let context = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"source", c"offshoot")?;
    fsconfig_set_flag(&context, c"userxattr")?;
    rustix::process::chdir(cache.stage.as_c_str())?;
    for lower in &cache.layers.lower {
        fsconfig_set_string(&context, c"lowerdir+", lower.as_c_str())?;
    }
    rustix::process::fchdir(scratch)?;
    let UpperScript { directory, work } = &cache.scratch;
    for name in [directory, work] {
        rustix::fs::mkdir(name.as_c_str(), Mode::from_raw_mode(0o755))?;
    }
    fsconfig_set_string(&context, c"upperdir", directory.as_c_str())?;
    fsconfig_set_string(&context, c"workdir", work.as_c_str())?;
    finish_mount(context.as_fd())
}

/// The number of the device of each cache; 0 where it is not in place.
pub(super) type Devices = [[u8; 8]; MOST_CACHES];

/// Puts the caches over what the home has at their places. Returns which are in place, a bit for each, and their devices.
pub(super) fn place(script: &Script, mounts: &PerCache) -> (u64, Devices) {
    let (mut placed, mut devices) = (0, [[0; 8]; MOST_CACHES]);
    for (at, (mount, cache)) in mounts.iter().zip(&script.caches).enumerate() {
        let Some(mount) = mount else { continue };
        make_directories(&cache.parents);
        if attach(mount.as_fd(), &cache.target).is_ok() {
            placed |= 1 << at;
            let device = rustix::fs::fstat(mount).map_or(0, |found| found.st_dev);
            devices[at] = device.to_le_bytes();
        }
    }
    (placed, devices)
}
