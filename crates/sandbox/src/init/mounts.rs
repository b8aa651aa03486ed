//! Making the inside, mount by mount.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::caches;
use super::detached_mount::{RESTRICTED, attach, clone_mount, clone_tree, overlay, tmpfs};
use super::files::{Devices, make_directories, touch, write};
use super::findings;
use super::proc;
use super::step::{Failure, Step, step, step_at};
use crate::in_force::Findings;
use crate::script::{FilesScript, HomeScript, Script};
use crate::sys;
use offshoot_vocabulary::HomeView;

/// What is kept of the mounts while the command runs.
pub(super) struct Made {
    /// The directory where changes go, to open things in for the caller.
    pub(super) upper: Option<OwnedFd>,
    /// The same for the home, where that is thrown away.
    pub(super) home_upper: Option<OwnedFd>,
    /// The private directory that the workspace lies in.
    pub(super) beside: Option<OwnedFd>,
    pub(super) home: HomeView,
    /// Which caches are in place, a bit for each.
    pub(super) caches: u64,
    /// What is in force by that.
    pub(super) findings: Findings,
}

/// Makes everything that the command will see.
pub(super) fn make(script: &Script) -> Result<Made, Failure> {
    let mut caches = caches::kept(script);
    step(Step::Stage, rustix::process::chdir(script.stage.as_c_str()))?;
    // The layers come first: the host's root is read-only afterwards, and an upper must not lie on such a mount.
    let (files, upper) = workspace_files(script)?;
    let devices = Devices::take();
    enter_root(script)?;
    let resolver = match &script.resolver {
        Some(placed) => Some(step(Step::Private, clone_mount(&placed.path))?),
        None => None,
    };
    let begun = caches::begin_thrown_away(script);
    let home = script.home.as_ref().map(throw_away);
    caches::finish_thrown_away(script, begun, &mut caches);
    private(script, resolver)?;
    let devices = step(Step::Devices, devices.mount()).map(|()| true)?;
    step(Step::Proc, proc::mount())?;
    let (home, home_upper) = match (home, &script.home) {
        (Some(Ok((mount, upper))), Some(home)) => {
            make_directories(&home.parents);
            step(Step::Home, attach(mount.as_fd(), &home.path))?;
            (HomeView::ThrowAway, upper)
        }
        // A home that cannot be covered stays as it is: read-only like all of the host.
        (Some(Err(_)), _) => (HomeView::ReadOnly, None),
        _ => (script.home_view, None),
    };
    let caches = caches::place(script, &caches);
    hide(script)?;
    make_directories(&script.target_parents);
    let beside = script.beside.as_ref().and_then(|path| directory(path).ok());
    step(Step::Target, attach(files.as_fd(), &script.target))?;
    place_folders(script)?;
    if script.composed.is_some() {
        step(Step::Compose, sys::restrict_mount(c"/", RESTRICTED))?;
    }
    if script.own_network {
        step(Step::Network, sys::loopback_up())?;
    }
    let findings = findings::of_mounts(&script.target, devices);
    Ok(Made { upper, home_upper, beside, home, caches, findings })
}

/// The workspace as a mount that is not attached anywhere yet.
fn workspace_files(script: &Script) -> Result<(OwnedFd, Option<OwnedFd>), Failure> {
    let (mount, upper) = match &script.files {
        FilesScript::Overlay(layers) => {
            let mount = overlay(layers, Step::Layers)?;
            for path in &layers.look_up {
                let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                let _gone = rustix::fs::statat(&mount, path.as_c_str(), flags).is_err();
            }
            let upper = layers.upper.as_ref().map(|upper| directory(&upper.directory));
            (mount, step(Step::Layers, upper.transpose())?)
        }
        FilesScript::Directory(path) => (step(Step::Directory, clone_mount(path))?, None),
    };
    if script.read_only {
        let attributes = libc::MOUNT_ATTR_RDONLY;
        step(Step::Layers, sys::restrict_mounts(mount.as_fd(), attributes))?;
    }
    Ok((mount, upper))
}

/// A directory to open things in later.
fn directory(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Makes a read-only copy of the host's mounts the root, and lets go of the original.
fn enter_root(script: &Script) -> Result<(), Failure> {
    let root = match &script.composed {
        None => {
            let root = step(Step::Root, clone_tree(c"/"))?;
            step(Step::Root, attach(root.as_fd(), c"."))?;
            step(Step::Pivot, rustix::process::fchdir(&root))?;
            root
        }
        Some(_) => compose(script)?,
    };
    drop(root);
    // With the old root put on top of the new one, `.` is the old one: no directory has to be made for it.
    step(Step::Pivot, rustix::process::pivot_root(c".", c"."))?;
    step(Step::Pivot, unmount(c".", UnmountFlags::DETACH))?;
    step(Step::Pivot, rustix::process::chdir(c"/"))
}

/// A new top with the host's directories in it, so that a name can be added.
fn compose(script: &Script) -> Result<OwnedFd, Failure> {
    let root = step(Step::Compose, tmpfs(c"0755"))?;
    step(Step::Compose, attach(root.as_fd(), c"."))?;
    step(Step::Compose, rustix::process::fchdir(&root))?;
    let names = script.composed.as_deref().unwrap_or_default();
    for (at, top) in names.iter().enumerate() {
        if let Some(link) = &top.link {
            step_at(Step::Compose, at, rustix::fs::symlink(link.as_c_str(), top.name()))?;
            continue;
        }
        let mode = Mode::from_raw_mode(0o755);
        step_at(Step::Compose, at, rustix::fs::mkdir(top.name(), mode))?;
        match clone_tree(&top.path) {
            Ok(tree) => step_at(Step::Compose, at, attach(tree.as_fd(), top.name()))?,
            // The first is the one that the host does not have.
            Err(Errno::NOENT) => {}
            Err(errno) => step_at(Step::Compose, at, Err(errno))?,
        }
    }
    Ok(root)
}

/// The host's home with a scratch directory above it, not attached yet, and where its changes go. Leaves the home as it was where
/// that fails.
fn throw_away(home: &HomeScript) -> Result<(OwnedFd, Option<OwnedFd>), Failure> {
    step(Step::Home, rustix::process::chdir(home.path.as_c_str()))?;
    let scratch = step(Step::Home, tmpfs(c"0700"))?;
    step(Step::Home, attach(scratch.as_fd(), &home.path))?;
    let mut changes = None;
    if let Some(upper) = &home.overlay.upper {
        for name in [&upper.directory, &upper.work] {
            let made = rustix::fs::mkdir(name.as_c_str(), Mode::from_raw_mode(0o755));
            step(Step::Home, made)?;
        }
        changes = directory(&upper.directory).ok();
    }
    let mount = overlay(&home.overlay, Step::Home);
    if mount.is_err() {
        step(Step::Home, unmount(home.path.as_c_str(), UnmountFlags::DETACH))?;
    }
    step(Step::Home, rustix::process::chdir(c"/"))?;
    mount.map(|mount| (mount, changes))
}

/// Shows directories of the workspace at places of their own, and there alone.
fn place_folders(script: &Script) -> Result<(), Failure> {
    for (at, folder) in script.folders.iter().enumerate() {
        make_directories(&folder.parents);
        // A copy of the workspace's mount has its restrictions.
        let placed =
            clone_mount(&folder.source).and_then(|mount| attach(mount.as_fd(), &folder.target));
        step_at(Step::Folders, at, placed)?;
    }
    let Some(covered) = &script.covered else { return Ok(()) };
    let cover = step(Step::Target, tmpfs(c"0555"))?;
    step(Step::Target, sys::restrict_mounts(cover.as_fd(), RESTRICTED))?;
    step(Step::Target, attach(cover.as_fd(), covered))
}

/// Private directories, and in one of them what name resolution needs.
fn private(script: &Script, resolver: Option<OwnedFd>) -> Result<(), Failure> {
    for (at, path) in script.private.iter().enumerate() {
        let mode = if path.as_c_str() == c"/run" { c"0755" } else { c"1777" };
        let mounted = tmpfs(mode).and_then(|mount| attach(mount.as_fd(), path));
        step_at(Step::Private, at, mounted)?;
    }
    if let (Some(file), Some(placed)) = (resolver, &script.resolver) {
        make_directories(&placed.parents);
        let put = touch(CWD, &placed.path).and_then(|()| attach(file.as_fd(), &placed.path));
        step(Step::Private, put)?;
    }
    for (placed, content) in &script.written {
        make_directories(&placed.parents);
        step(Step::Private, write(&placed.path, content))?;
    }
    Ok(())
}

/// Covers what the command may not see.
fn hide(script: &Script) -> Result<(), Failure> {
    for (at, path) in script.hidden.iter().enumerate() {
        let cover = step_at(Step::Hidden, at, tmpfs(c"0000"))?;
        step_at(Step::Hidden, at, sys::restrict_mounts(cover.as_fd(), RESTRICTED))?;
        match attach(cover.as_fd(), path) {
            // Hidden already, with a directory that is private.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            other => step_at(Step::Hidden, at, other)?,
        }
    }
    Ok(())
}
