//! The drivers that there are.

mod copy;
mod overlay;

use offshoot_vault::{ExecNote, LeftoverShape, UpperOwner};
use offshoot_vocabulary::DriverChoice;

use crate::driver::Driver;
use crate::error::{MountError, Result};

/// Every driver, in the order in which they are tried where nobody asks for one.
const DRIVERS: &[&dyn Driver] = &[&overlay::OverlayDriver, &copy::CopyDriver];

/// The drivers to try for a choice, one after the other.
pub fn candidates(choice: DriverChoice) -> Vec<&'static dyn Driver> {
    match choice.only() {
        None => drivers().filter(|driver| driver.is_automatic()).collect(),
        Some(name) => drivers().filter(|driver| driver.name() == name).collect(),
    }
}

/// Every driver, in the order in which they are tried.
pub fn drivers() -> impl Iterator<Item = &'static dyn Driver> {
    DRIVERS.iter().copied()
}

/// The driver that captures what a note is about, and the shape in which it left it.
pub fn driver_of(note: &ExecNote) -> Result<(&'static dyn Driver, LeftoverShape)> {
    if note.owner != UpperOwner::Exec {
        return Err(MountError::UnknownOwner);
    }
    let way = note.way();
    let named = drivers().find(|driver| driver.name().as_str() == way.driver);
    let found = named.and_then(|driver| Some((driver, driver.shape(way.version)?)));
    found.ok_or(MountError::UnknownDriver { driver: way.driver, version: way.version })
}

#[cfg(test)]
mod tests {
    use offshoot_vocabulary::DriverName;

    use super::*;

    #[test]
    fn every_name_has_one_driver() {
        let named: Vec<DriverName> = drivers().map(|driver| driver.name()).collect();
        assert_eq!(named, DriverName::ALL);
        let chosen: Vec<DriverName> =
            DriverChoice::ALL.iter().filter_map(|choice| choice.only()).collect();
        assert_eq!(named, chosen);
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
        for choice in DriverChoice::ALL {
            let tried: Vec<&str> =
                candidates(*choice).into_iter().map(|driver| driver.name().as_str()).collect();
            if *choice != DriverChoice::Auto {
                assert_eq!(tried, [choice.as_str()]);
            }
        }
        assert!(candidates(DriverChoice::Auto).iter().all(|driver| driver.is_automatic()));
        assert!(candidates(DriverChoice::Auto).len() > 1);
    }
}
