//! Making the inside, mount by mount.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, mount_bind_recursive, unmount};

use super::caches;
use super::detached_mount::{RESTRICTED, attach, clone_mount, overlay, sized_tmpfs, tmpfs};
use super::files::{Devices, make_directories, touch, write};
use super::findings;
use super::home;
use super::proc;
use super::resolver;
use super::step::{Failure, Step, step, step_at};
use super::sysfs;
use crate::in_force::{Findings, Restriction};
use crate::layout::{Place, PlaceKind};
use crate::script::{FilesScript, Script, WrittenScript};
use crate::sys;
use offshoot_vocabulary::Demand;

/// What is kept of the mounts while the command runs.
pub(super) struct Made {
    /// The directory where changes go, to open things in for the caller.
    pub(super) upper: Option<OwnedFd>,
    /// The home, without what is mounted in it.
    pub(super) home_upper: Option<OwnedFd>,
    /// The private directory that the workspace lies in.
    pub(super) beside: Option<OwnedFd>,
    /// Where changes of directories go that are shown.
    pub(super) shown_uppers: Option<OwnedFd>,
    /// The directory for temporary files.
    pub(super) temporary: Option<OwnedFd>,
    /// Which caches are in place, a bit for each.
    pub(super) caches: u64,
    /// The devices of those.
    pub(super) devices: caches::Devices,
    /// What is in force by that.
    pub(super) findings: Findings,
    /// The limits of watching files are those of the command.
    pub(super) inotify: bool,
}

/// Makes everything that the command will see.
pub(super) fn make(script: &Script) -> Result<Made, Failure> {
    // Here /proc is the host's still, and can be written.
    for (path, limit) in &script.shared {
        let _older_kernel = overwrite(path, limit).is_err();
    }
    let inotify = script.inotify.iter().all(|(path, limit)| overwrite(path, limit).is_ok());
    let mut caches = caches::kept(script);
    step(Step::Stage, rustix::process::chdir(script.stage.as_c_str()))?;
    // The layers come first: an upper must be made while the vault can be seen and written.
    let (files, upper) = workspace_files(script)?;
    let shown_uppers = caches::thrown_away(script, &mut caches);
    let devices = Devices::take();
    let proc = step(Step::Proc, proc::make(script.walls.own_proc))?;
    let home_upper = enter_root(script)?;
    for written in script.written.iter().filter(|written| !written.covers) {
        make_directories(&written.parents);
        let (content, times) = (&written.content, written.times.as_ref());
        // In a home that is kept there may be one of before, or anything else that a command left in its place.
        let is_kept = script.kept_home.is_some();
        let _none_yet = is_kept && rustix::fs::unlink(written.path.as_c_str()).is_err();
        match write(&written.path, content, times) {
            Err(_) if is_kept => {}
            wrote => step(Step::Private, wrote)?,
        }
    }
    if let Some(resolver) = &script.resolver {
        step(Step::Private, resolver::put(resolver))?;
    }
    let devices = step(Step::Devices, devices.mount(script.tmpfs_size.as_ref())).map(|()| true)?;
    step(Step::Proc, proc::put(&proc))?;
    if script.walls.sysfs != Demand::Off {
        let masked = sysfs::mask();
        if script.walls.sysfs == Demand::Required {
            step(Step::Sysfs, masked)?;
        }
    }
    let (caches, cache_devices) = caches::place(script, &caches);
    hide(script)?;
    make_directories(&script.target_parents);
    let beside = script.beside.as_ref().and_then(|path| directory(path).ok());
    step(Step::Target, attach(files.as_fd(), &script.target))?;
    place_folders(script)?;
    step(Step::Root, sys::restrict_mount(c"/", RESTRICTED))?;
    if script.has_own_network() {
        step(Step::Network, sys::loopback_up())?;
    }
    if script.walls.read_only_root == Demand::Off {
        step(Step::Root, sys::make_writable(c"/"))?;
    }
    let mut findings = findings::of_mounts(&script.target, devices);
    findings.add(Restriction::OwnProc, proc::is_own());
    let temporary = directory(c"/tmp").ok();
    Ok(Made {
        upper,
        home_upper,
        beside,
        shown_uppers,
        temporary,
        caches,
        devices: cache_devices,
        findings,
        inotify,
    })
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

/// Writes to a file that is there.
fn overwrite(path: &CStr, text: &CStr) -> Result<(), Errno> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.to_bytes()).map(drop)
}

/// A directory to open things in later.
fn directory(path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Makes a root of what is on the list, and lets go of the host's. Returns the home, without what is mounted in it.
fn enter_root(script: &Script) -> Result<Option<OwnedFd>, Failure> {
    let root = step(Step::Root, tmpfs(c"0755"))?;
    step(Step::Root, attach(root.as_fd(), c"."))?;
    step(Step::Root, rustix::process::fchdir(&root))?;
    let mut home = None;
    for (at, place) in script.places.iter().enumerate() {
        let in_home = place.in_home.as_ref().filter(|_| place.kind != PlaceKind::Shared);
        if let Some(in_home) = in_home {
            // What others left there in its place is theirs; the command does without.
            let _in_the_way = home::put(script, root.as_fd(), place, in_home).is_err();
            continue;
        }
        // What is the host's is found from its root, and put below the current directory, which is the new one.
        let made = match &place.kind {
            PlaceKind::Directory => make_directory(place.below()),
            PlaceKind::Private(mode) => put_private(script, place, mode),
            PlaceKind::Home if script.kept_home.is_some() => put_kept(script, place),
            PlaceKind::Home => put_private(script, place, c"0700")
                .and_then(|()| clone_mount(place.below()))
                .map(|mount| {
                    home = Some(mount);
                }),
            PlaceKind::Tree => make_directory(place.below()).and_then(|()| put(place)),
            PlaceKind::Shared => Ok(()),
            PlaceKind::File => touch(CWD, place.below()).and_then(|()| put(place)),
            PlaceKind::Link(target) => rustix::fs::symlink(target.as_c_str(), place.below()),
        };
        step_at(Step::Place, at, made)?;
    }
    // All of it at once, and then what the command and this process write to.
    step(Step::Root, sys::restrict_mounts(root.as_fd(), RESTRICTED))?;
    step(Step::Root, sys::make_writable(c"."))?;
    for (at, place) in script.places.iter().enumerate() {
        if matches!(place.kind, PlaceKind::Private(_) | PlaceKind::Home) {
            step_at(Step::Place, at, sys::make_writable(place.below()))?;
        }
    }
    // After all others, which are read-only by now.
    for (at, place) in script.places.iter().enumerate() {
        if let Some(in_home) = place.in_home.as_ref().filter(|_| place.kind == PlaceKind::Shared) {
            // What the command would write elsewhere is not what its user asked for.
            step_at(Step::Place, at, home::put(script, root.as_fd(), place, in_home))?;
        }
    }
    // With the old root put on top of the new one, `.` is the old one: no directory has to be made for it.
    step(Step::Pivot, rustix::process::pivot_root(c".", c"."))?;
    step(Step::Pivot, unmount(c".", UnmountFlags::DETACH))?;
    step(Step::Pivot, rustix::process::chdir(c"/"))?;
    Ok(home)
}

/// Puts what the host has there.
fn put(place: &Place) -> Result<(), Errno> {
    match mount_bind_recursive(&place.path, place.below()) {
        // It was there a moment ago, or nobody but its owner may go there.
        Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
        other => other,
    }
}

fn put_private(script: &Script, place: &Place, mode: &CStr) -> Result<(), Errno> {
    make_directory(place.below())?;
    attach(sized_tmpfs(mode, script.tmpfs_size.as_ref())?.as_fd(), place.below())
}

/// Puts a home that is kept.
fn put_kept(script: &Script, place: &Place) -> Result<(), Errno> {
    let Some(kept) = &script.kept_home else { return Ok(()) };
    make_directory(place.below())?;
    attach(clone_mount(kept)?.as_fd(), place.below())
}

/// Makes a directory, unless there is one.
fn make_directory(path: &CStr) -> Result<(), Errno> {
    match rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
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

/// Covers what the command may not see.
fn hide(script: &Script) -> Result<(), Failure> {
    for (at, path) in script.hidden.iter().enumerate() {
        let is_file = match rustix::fs::stat(path.as_c_str()) {
            Ok(found) => !FileType::from_raw_mode(found.st_mode).is_dir(),
            // Not there, with a directory that is private.
            Err(_) => continue,
        };
        if is_file {
            let instead = script.written.iter().find(|file| file.covers && file.path == *path);
            step_at(Step::Hidden, at, cover_file(path, &script.aside, instead))?;
            continue;
        }
        let cover = step_at(Step::Hidden, at, tmpfs(c"0000"))?;
        step_at(Step::Hidden, at, sys::restrict_mounts(cover.as_fd(), RESTRICTED))?;
        step_at(Step::Hidden, at, attach(cover.as_fd(), path))?;
    }
    Ok(())
}

/// Covers a file by another one, or by an empty one that nobody reads. What it is made of can go once it is in place.
fn cover_file(path: &CStr, aside: &CStr, instead: Option<&WrittenScript>) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    match instead {
        Some(file) => write(aside, &file.content, file.times.as_ref())?,
        None => drop(rustix::fs::open(aside, flags, Mode::empty())?),
    }
    let cover = clone_mount(aside)?;
    sys::restrict_mounts(cover.as_fd(), RESTRICTED)?;
    attach(cover.as_fd(), path)?;
    rustix::fs::unlink(aside)
}
