//! Which folders of the host can be taken into a vault.

use std::path::Path;

use offshoot_host::mounts::{pseudo_around, pseudo_below};
use offshoot_policy::credentials_in_home;
use offshoot_vault::VaultRegistry;

use super::error::BindingError;

/// Where the system keeps what lives as long as it runs.
const OF_THE_SYSTEM: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// Where everybody's files are, which nobody means when they stand there.
const OF_EVERYBODY: [&str; 17] = [
    "/bin",
    "/boot",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/sbin",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/local",
    "/var",
    "/var/lib",
    "/var/tmp",
];

/// Fails where a folder is no project: the whole machine, a view into the kernel, the vaults themselves, or, unless it is wanted
/// all the same, a directory of the system or somebody's whole home. `directory` has no links in it.
pub fn check_folder(
    registry: &VaultRegistry,
    directory: &Path,
    user_home: Option<&Path>,
    force: bool,
) -> Result<(), BindingError> {
    let refused = check_bindable(registry.dir(), directory, user_home, force);
    refused.map_err(|Refused { why, can_force }| BindingError::Refused {
        path: directory.to_owned(),
        why,
        can_force,
    })
}

/// Why a folder is no project.
pub(super) struct Refused {
    pub(super) why: String,
    /// Whether it can be taken in all the same.
    pub(super) can_force: bool,
}

/// The same where only the place of the vaults is known.
pub(super) fn check_bindable(
    vaults: &Path,
    directory: &Path,
    user_home: Option<&Path>,
    force: bool,
) -> Result<(), Refused> {
    let refused = |why: String, can_force| Err(Refused { why, can_force });
    if directory.parent().is_none() {
        return refused("it is the whole machine".to_owned(), false);
    }
    let vaults = vaults.canonicalize().unwrap_or_else(|_| vaults.to_owned());
    if directory.starts_with(&vaults) {
        return refused("vaults are kept there".to_owned(), false);
    }
    if OF_THE_SYSTEM.iter().any(|path| directory == Path::new(path)) {
        return refused("it belongs to the running system".to_owned(), false);
    }
    if let Some(mount) = pseudo_around(directory) {
        return refused(
            format!("it lies in a {} file system, which has no files", mount.kind),
            false,
        );
    }
    if force {
        return Ok(());
    }
    let user_home = user_home.and_then(|home| home.canonicalize().ok());
    match user_home {
        Some(user_home) if user_home == directory => {
            return refused("it is your home; choose a project in it".to_owned(), true);
        }
        Some(user_home) if user_home.starts_with(directory) => {
            return refused("it holds your home; choose a project in it".to_owned(), true);
        }
        Some(user_home) => {
            if let Some(what) = credentials(directory, &user_home) {
                return refused(format!("it holds {what}"), true);
            }
        }
        None => {}
    }
    if OF_EVERYBODY.iter().any(|path| directory == Path::new(path)) {
        return refused("it is a directory of the system; choose a project in it".to_owned(), true);
    }
    if vaults.starts_with(directory) {
        return refused("vaults are kept in it".to_owned(), true);
    }
    if let Some(mount) = pseudo_below(directory).first() {
        let (kind, path) = (&mount.kind, mount.path.display());
        return refused(format!("a {kind} file system is mounted in it, at {path}"), true);
    }
    Ok(())
}

/// What a folder of somebody's home holds, if that is no project but credentials. A checkout below such a folder is a project all the same:
/// some tools keep checkouts beside their logins.
fn credentials(directory: &Path, user_home: &Path) -> Option<&'static str> {
    let below = directory.strip_prefix(user_home).ok()?;
    let holds = |below: &Path| below.to_str().and_then(credentials_in_home);
    let is_part = below.parent().is_some_and(|above| holds(above).is_some());
    let is_checkout = || directory.join(".git").symlink_metadata().is_ok();
    holds(below).filter(|_| !(is_part && is_checkout()))
}
