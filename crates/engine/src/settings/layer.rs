//! The settings of one place, checked, as figment combines them.

use std::ffi::OsStr;

use figment::util::nest;
use figment::value::{Dict, Map, Value as Figured};
use figment::{Metadata, Profile, Provider};
use serde_json::Value as Json;

use super::error::{ConfigError, SettingPlace};
use super::keys;
use super::narrow::{self, IgnoredSetting};
use super::origin::SettingOrigin;
use super::sources::{is_setting, key_of};
use super::value::Written;

/// Settings from one place; a key set twice has the later value.
#[derive(Debug)]
pub(super) struct Layer {
    origin: SettingOrigin,
    values: Vec<Value>,
}

/// One setting of a place.
#[derive(Debug)]
struct Value {
    key: &'static str,
    value: Json,
    /// Where it was written.
    place: SettingPlace,
}

impl Layer {
    pub(super) fn new(origin: SettingOrigin) -> Self {
        Self { origin, values: Vec::new() }
    }

    /// Whether nothing is set here.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether a setting is set here, for this process alone.
    pub(super) fn has_for_now(&self, key: &str) -> bool {
        let is_passing = matches!(self.origin, SettingOrigin::Flag | SettingOrigin::Environment(_));
        is_passing && self.values.iter().any(|value| value.key == key)
    }

    /// Adds a setting if it is one.
    pub(super) fn set(
        &mut self,
        name: &str,
        written: &Written,
        place: SettingPlace,
    ) -> Result<(), ConfigError> {
        let Some(key) = keys::find(name) else {
            return Err(ConfigError::UnknownKey { place, key: name.to_owned() });
        };
        let Some(checked) = key.kind.check(written) else {
            return Err(ConfigError::Value {
                place,
                key: name.to_owned(),
                value: written.shown(),
                allowed: key.kind.allowed(),
            });
        };
        self.values.push(Value { key: key.name, value: checked, place });
        Ok(())
    }

    /// Leaves out what would give more than its reader has, who is asked key by key; gives what that is.
    pub(super) fn narrow(
        &mut self,
        reader: impl Fn(&str) -> Result<Json, ConfigError>,
    ) -> Result<Vec<IgnoredSetting>, ConfigError> {
        let mut ignored = Vec::new();
        for mut set in std::mem::take(&mut self.values) {
            let reader = reader(narrow::compared(set.key))?;
            match narrow::narrowed(set.key, &set.place, &reader, set.value) {
                Ok(value) => {
                    set.value = value;
                    self.values.push(set);
                }
                Err(left_out) => ignored.push(left_out),
            }
        }
        Ok(ignored)
    }
}

/// The setting of one environment variable, or nothing if the variable is none.
pub(super) fn from_variable(name: &OsStr, value: &OsStr) -> Result<Option<Layer>, ConfigError> {
    // A name that is not Unicode is no key; it is still reported if it claims to be one.
    let name = name.to_string_lossy();
    if !is_setting(&name) || value.is_empty() {
        return Ok(None);
    }
    let mut layer = Layer::new(SettingOrigin::Environment(name.to_string()));
    let written = Written::Text(value.to_string_lossy().into_owned());
    let place = SettingPlace::Environment(name.to_string());
    layer.set(&key_of(&name), &written, place)?;
    Ok(Some(layer))
}

/// The settings of all flags.
pub(super) fn from_flags(flags: &[String]) -> Result<Layer, ConfigError> {
    let mut layer = Layer::new(SettingOrigin::Flag);
    for flag in flags {
        let Some((name, value)) = flag.split_once('=') else {
            return Err(ConfigError::FlagForm { flag: flag.clone() });
        };
        layer.set(name.trim(), &Written::Text(value.to_owned()), SettingPlace::Flag)?;
    }
    Ok(layer)
}

impl Provider for &Layer {
    fn metadata(&self) -> Metadata {
        self.origin.to_metadata()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let mut sections = Dict::new();
        for Value { key, value, .. } in &self.values {
            let nested = nest(key, Figured::serialize(value)?).into_dict();
            for (section, entries) in nested.unwrap_or_default() {
                let entries = entries.into_dict().unwrap_or_default();
                match sections.get_mut(&section) {
                    Some(Figured::Dict(_, present)) => present.extend(entries),
                    _ => {
                        sections.insert(section, entries.into());
                    }
                }
            }
        }
        Ok(Profile::Default.collect(sections))
    }
}
