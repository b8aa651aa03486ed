//! Whether commands can be confined here, and which drivers work, found by trying.

use std::fs;
use std::path::Path;

use offshoot_mount::{Driver, drivers};
use offshoot_sandbox::{Files, InForce, SandboxError, attempt};

use super::launch::files;
use crate::error::{Result, ServiceError};

/// What was found.
#[derive(Debug)]
pub struct DriverReport {
    /// Whether a command can be confined at all, on a plain directory, and what is in force then.
    pub confined: Result<InForce, SandboxError>,
    /// Every driver that is used where nobody asks for one, in the order in which they are tried; none where nothing can be confined.
    pub drivers: Vec<(&'static dyn Driver, Result<()>)>,
}

impl DriverReport {
    /// The driver that commands get: the first that works.
    pub fn in_use(&self) -> Option<&'static dyn Driver> {
        self.drivers.iter().find(|(_, tried)| tried.is_ok()).map(|(driver, _)| *driver)
    }

    /// The driver that they would rather have, and why they cannot.
    pub fn refused(&self) -> Option<(&'static dyn Driver, &ServiceError)> {
        let (driver, tried) = self.drivers.first()?;
        Some((*driver, tried.as_ref().err()?))
    }
}

/// Tries all in an existing empty directory, which should be where layers are to be.
pub fn probe_drivers(scratch: &Path) -> DriverReport {
    let confined = attempt(Files::Directory(scratch.to_owned()));
    let wanted = drivers().filter(|driver| driver.is_automatic() && confined.is_ok());
    let tried =
        wanted.map(|driver| (driver, try_driver(driver, &scratch.join(driver.name().as_str()))));
    let drivers = tried.collect();
    DriverReport { confined, drivers }
}

fn try_driver(driver: &dyn Driver, scratch: &Path) -> Result<()> {
    let made = fs::create_dir(scratch).and_then(|()| driver.trial(scratch));
    let view = made.map_err(|error| ServiceError::Request(error.to_string()))?;
    Ok(attempt(files(view)).map(drop)?)
}
