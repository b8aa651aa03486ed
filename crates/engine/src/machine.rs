//! Whether a machine can run Offshoot, found out by trying things.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use offshoot_mount::Driver;
use offshoot_protocol::{DoctorCheckDoc, DoctorState};
use offshoot_sandbox::{InForce, Restriction};
use offshoot_store::Id;
use offshoot_workspace::{ServiceError, probe_drivers, try_data_layers};
use rustix::fs::{FileType, Mode, XattrFlags};

use crate::text::{bytes, host_path};

/// What was found out about one thing.
///
/// ```
/// use offshoot_engine::machine::check;
/// use offshoot_protocol::DoctorState;
///
/// let found = check("agent", DoctorState::Ok, "version 2", None);
/// assert_eq!(found.name, "agent");
/// ```
pub fn check(name: &str, state: DoctorState, detail: &str, hint: Option<&str>) -> DoctorCheckDoc {
    DoctorCheckDoc {
        name: name.to_owned(),
        state,
        detail: detail.to_owned(),
        hint: hint.map(str::to_owned),
    }
}

/// Everything about the machine and the place of the vaults.
///
/// ```
/// use offshoot_engine::machine::examine;
/// use offshoot_protocol::DoctorState;
///
/// # fn example() {
/// let checks = examine("/var/lib/offshoot".as_ref());
/// let fit = checks.iter().all(|check| check.state != DoctorState::Problem);
/// # }
/// ```
pub fn examine(home: &Path) -> Vec<DoctorCheckDoc> {
    let mut checks = vec![kernel()];
    // The home is made with the first vault; until then its nearest existing parent tells.
    let place = existing(home);
    match Scratch::new(&place) {
        Ok(scratch) => {
            let detail = format!("{} can be written", host_path(home));
            checks.push(check("home", DoctorState::Ok, &detail, None));
            checks.extend([reflink(&scratch), attributes(&scratch), whiteouts(&scratch)]);
            checks.extend(sandbox(&scratch));
        }
        Err(error) => {
            let detail = format!("{} cannot be written: {error}", host_path(&place));
            let hint = "set OFFSHOOT_HOME to a place you can write to";
            checks.push(check("home", DoctorState::Problem, &detail, Some(hint)));
        }
    }
    checks.push(space(&place));
    checks
}

fn kernel() -> DoctorCheckDoc {
    let system = rustix::system::uname();
    let detail =
        format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy());
    check("kernel", DoctorState::Ok, &detail, None)
}

fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/")).to_owned()
}

/// A directory for trying things, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(place: &Path) -> std::io::Result<Self> {
        let path = place.join(format!(".offshoot-doctor-{}", Id::random()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A hidden directory that stays behind is harmless.
        drop(open_up(&self.0).and_then(|()| fs::remove_dir_all(&self.0)));
    }
}

/// Opens all directories to their owner: overlayfs leaves some that are closed.
fn open_up(dir: &Path) -> std::io::Result<()> {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

fn reflink(scratch: &Scratch) -> DoctorCheckDoc {
    let attempt = || -> std::io::Result<()> {
        let (from, to) = (scratch.0.join("from"), scratch.0.join("to"));
        File::create(&from)?.write_all(b"x")?;
        Ok(rustix::fs::ioctl_ficlone(File::create(to)?, File::open(from)?)?)
    };
    match attempt() {
        Ok(()) => check("reflinks", DoctorState::Ok, "imports share blocks with the source", None),
        Err(_) => {
            let detail = "not on this file system: imports copy";
            check("reflinks", DoctorState::Ok, detail, None)
        }
    }
}

fn attributes(scratch: &Scratch) -> DoctorCheckDoc {
    let path = scratch.0.join("attribute");
    let attempt = || -> std::io::Result<()> {
        let file = File::create(&path)?;
        Ok(rustix::fs::fsetxattr(&file, "user.offshoot", b"x", XattrFlags::empty())?)
    };
    match attempt() {
        Ok(()) => check("attributes", DoctorState::Ok, "user attributes are kept", None),
        Err(error) => {
            let detail = format!("user attributes cannot be set: {error}");
            let hint = "files that have some cannot be kept here; move OFFSHOOT_HOME";
            check("attributes", DoctorState::Problem, &detail, Some(hint))
        }
    }
}

fn whiteouts(scratch: &Scratch) -> DoctorCheckDoc {
    let path = scratch.0.join("whiteout");
    let made =
        rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::CharacterDevice, Mode::empty(), 0);
    match made {
        Ok(()) => check("whiteouts", DoctorState::Ok, "layers can record deletions", None),
        Err(error) => {
            let detail = format!("layers cannot record deletions: {error}");
            let hint = "Linux 5.8 or newer lets ordinary users make them";
            check("whiteouts", DoctorState::Warning, &detail, Some(hint))
        }
    }
}

/// Whether commands can be confined, and how their files are mounted.
fn sandbox(scratch: &Scratch) -> Vec<DoctorCheckDoc> {
    let place = scratch.0.join("sandbox");
    if let Err(error) = fs::create_dir(&place) {
        return vec![check("sandbox", DoctorState::Problem, &error.to_string(), None)];
    }
    let report = probe_drivers(&place);
    let sandbox = match &report.confined {
        Ok(_) => check("sandbox", DoctorState::Ok, "commands can be confined", None),
        Err(error) => {
            let detail = format!("commands cannot be confined: {error}");
            check("sandbox", DoctorState::Problem, &detail, error.hint())
        }
    };
    let mut checks = vec![sandbox];
    checks.extend(report.confined.iter().flat_map(walls));
    let in_use = report.in_use();
    checks.extend(in_use.map(|driver| driver_check(driver, report.refused())));
    if in_use.is_some_and(|driver| driver.stacks()) {
        checks.push(merging(scratch));
    }
    checks
}

/// Each wall, what it keeps commands from, and whether it stands.
fn walls(in_force: &InForce) -> Vec<DoctorCheckDoc> {
    let wall = |wall: Restriction| {
        let name = format!("wall {}", wall.as_str());
        if in_force.restrictions.contains(&wall) {
            return check(&name, DoctorState::Ok, wall.keeps(), None);
        }
        let root = rustix::process::geteuid().is_root();
        match wall {
            Restriction::OwnIds if !root => {
                let detail = "not needed: your commands have your own rights, and no more";
                check(&name, DoctorState::Ok, detail, None)
            }
            Restriction::NoGroups if !root => {
                let detail = "files of your further groups can be read where they are shown: only root can drop groups";
                check(&name, DoctorState::Ok, detail, None)
            }
            _ => {
                let detail = format!("missing, so this does not hold: {}", wall.keeps());
                let hint = "a newer kernel may have it, or the system forbids it; a profile can require it";
                check(&name, DoctorState::Warning, &detail, Some(hint))
            }
        }
    };
    Restriction::ALL.into_iter().map(wall).collect()
}

/// Which driver commands get, and why they do not get a better one.
fn driver_check(
    driver: &dyn Driver,
    refused: Option<(&'static dyn Driver, &ServiceError)>,
) -> DoctorCheckDoc {
    let (name, in_use) = (driver.name(), driver.words().in_use);
    match refused {
        None => check("driver", DoctorState::Ok, &format!("{name}: {in_use}"), None),
        Some((better, error)) => {
            let detail = format!("{name}: {in_use}, because {error}");
            check("driver", DoctorState::Warning, &detail, better.words().remedy)
        }
    }
}

/// Whether merging layers has to copy large files. Nobody has to do anything about it.
fn merging(scratch: &Scratch) -> DoctorCheckDoc {
    let place = scratch.0.join("merging");
    let able = fs::create_dir(&place).is_ok() && try_data_layers(&place).unwrap_or(false);
    let detail = match able {
        true => "large files stay where they are when layers are merged",
        false => "large files are copied when layers are merged: this kernel cannot leave them",
    };
    check("merging", DoctorState::Ok, detail, None)
}

fn space(place: &Path) -> DoctorCheckDoc {
    match rustix::fs::statvfs(place) {
        Ok(stats) => {
            let free = stats.f_bavail.saturating_mul(stats.f_frsize);
            let detail = format!("{} free", bytes(free));
            let tight = free < 256 << 20;
            let state = if tight { DoctorState::Warning } else { DoctorState::Ok };
            check("space", state, &detail, tight.then_some("less than 256 MiB are left"))
        }
        Err(error) => check("space", DoctorState::Warning, &error.to_string(), None),
    }
}
