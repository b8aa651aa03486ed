//! The driver as a setting: whatever `mount` has, by its name.

use offshoot_mount::{DriverChoice, driver_choices};
use serde::{Deserialize, Deserializer, Serializer, de};

/// What `exec.driver` may be.
pub(super) fn driver_names() -> Vec<&'static str> {
    driver_choices().into_iter().map(|(name, _)| name).collect()
}

pub(super) fn serialize<S: Serializer>(choice: &DriverChoice, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(choice.as_str())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DriverChoice, D::Error> {
    let name = String::deserialize(from)?;
    DriverChoice::named(&name)
        .ok_or_else(|| de::Error::custom(format!("there is no driver {name}")))
}
