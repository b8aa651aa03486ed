//! The drivers that there are.

mod copy;
mod overlay;

use offshoot_vault::{ExecNote, LeftShape, UpperOwner};

use crate::driver::Driver;
use crate::error::{MountError, Result};

/// Every driver, in the order in which they are tried where nobody asks for one.
const DRIVERS: &[&dyn Driver] = &[&overlay::OverlayDriver, &copy::CopyDriver];

/// The word for the first driver that works.
const AUTO: &str = "auto";
const AUTO_HELP: &str = "The first that works";

/// Which driver is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub enum DriverChoice {
    /// The first that works.
    #[default]
    Auto,
    /// This one or none.
    Only(&'static dyn Driver),
}

impl DriverChoice {
    /// The choice of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            AUTO => Some(Self::Auto),
            _ => find(name).map(Self::Only),
        }
    }

    /// The name of the choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => AUTO,
            Self::Only(driver) => driver.name(),
        }
    }

    /// The drivers to try, one after the other.
    pub fn candidates(self) -> Vec<&'static dyn Driver> {
        match self {
            Self::Auto => DRIVERS.iter().copied().filter(|driver| driver.is_automatic()).collect(),
            Self::Only(driver) => vec![driver],
        }
    }
}

impl PartialEq for DriverChoice {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for DriverChoice {}

/// Every driver, in the order in which they are tried.
pub fn drivers() -> impl Iterator<Item = &'static dyn Driver> {
    DRIVERS.iter().copied()
}

/// What can be chosen, each with a line of help.
pub fn driver_choices() -> Vec<(&'static str, &'static str)> {
    let named = drivers().map(|driver| (driver.name(), driver.words().help));
    std::iter::once((AUTO, AUTO_HELP)).chain(named).collect()
}

/// The driver that captures what a note is about, and the shape in which it left it.
pub fn driver_of(note: &ExecNote) -> Result<(&'static dyn Driver, LeftShape)> {
    if note.owner != UpperOwner::Exec {
        return Err(MountError::UnknownOwner);
    }
    let way = note.way();
    let found = find(&way.driver).and_then(|driver| Some((driver, driver.shape(way.version)?)));
    found.ok_or(MountError::UnknownDriver { driver: way.driver, version: way.version })
}

fn find(name: &str) -> Option<&'static dyn Driver> {
    drivers().find(|driver| driver.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_found_by_its_name_and_no_other() {
        let names: Vec<&str> = driver_choices().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names[0], AUTO);
        for name in &names {
            assert_eq!(DriverChoice::named(name).map(DriverChoice::as_str), Some(*name));
            assert_eq!(names.iter().filter(|other| other == &name).count(), 1, "{name}");
        }
        assert_eq!(DriverChoice::named("floppy"), None);
    }

    #[test]
    fn every_driver_can_capture_what_it_writes_now_and_nothing_of_a_version_to_come() {
        for driver in drivers() {
            assert!(driver.shape(driver.version()).is_some(), "{driver:?}");
            assert!(driver.shape(driver.version() + 1).is_none(), "{driver:?}");
        }
    }

    #[test]
    fn a_driver_that_is_asked_for_is_the_only_one_tried() {
        for driver in drivers() {
            let tried = DriverChoice::Only(driver).candidates();
            assert!(tried.len() == 1 && tried[0] == driver);
        }
        assert!(DriverChoice::Auto.candidates().iter().all(|driver| driver.is_automatic()));
        assert!(DriverChoice::Auto.candidates().len() > 1);
    }
}
