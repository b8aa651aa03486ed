//! Reading configuration files.

use std::path::{Path, PathBuf};

use offshoot_host::{RegularFileError, read_regular};
use toml::de::DeTable;

use super::error::{ConfigError, SettingPlace, printable};
use super::keys;
use super::layer::Layer;
use super::origin::SettingOrigin;
use super::value::Written;

/// What a project's file is called.
pub(super) const PROJECT_FILE: &str = "offshoot.toml";

/// More than any sensible file; reading stops here, whatever a path turns out to be.
const LARGEST: u64 = 1 << 20;

/// The text of a file, or nothing if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let path = path.to_owned();
    match read_regular(&path, LARGEST) {
        Ok(bytes) => decode(&path, bytes).map(Some),
        Err(error) if error.is_absent() => Ok(None),
        Err(RegularFileError::NotRegular) => Err(ConfigError::NoFile { path }),
        Err(RegularFileError::TooLarge { limit }) => Err(ConfigError::TooLarge { path, limit }),
        Err(RegularFileError::Io(source)) => Err(ConfigError::Read { path, source }),
        Err(error) => Err(ConfigError::Read { path, source: std::io::Error::other(error) }),
    }
}

/// The nearest project file from a directory upward, with its text.
pub(super) fn read_project(start: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    for directory in start.ancestors() {
        let path = directory.join(PROJECT_FILE);
        if let Some(text) = read(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// The settings of a file's text, each checked.
pub(super) fn parse(path: &Path, text: &str, origin: SettingOrigin) -> Result<Layer, ConfigError> {
    let place = |offset| place(path, text, offset);
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        place: place(error.span().map_or(text.len(), |span| span.start)),
        message: printable(error.message()),
    })?;
    let mut layer = Layer::new(origin);
    for (section, content) in table.get_ref() {
        let name = section.get_ref();
        let Some(entries) = content.get_ref().as_table() else {
            return Err(not_a_section(
                place(section.span().start),
                name,
                Written::from_toml(content.get_ref()),
            ));
        };
        if entries.is_empty() && !keys::is_section(name) {
            return Err(ConfigError::UnknownKey {
                place: place(section.span().start),
                key: name.to_string(),
            });
        }
        for (key, value) in entries {
            layer.set(
                &format!("{name}.{}", key.get_ref()),
                &Written::from_toml(value.get_ref()),
                place(key.span().start),
            )?;
        }
    }
    Ok(layer)
}

fn decode(path: &Path, bytes: Vec<u8>) -> Result<String, ConfigError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]);
        ConfigError::Syntax { place: place(path, &before, good), message: "not UTF-8".to_owned() }
    })
}

fn not_a_section(place: SettingPlace, name: &str, value: Written) -> ConfigError {
    if keys::is_section(name) {
        ConfigError::Value {
            place,
            key: name.to_owned(),
            value: value.shown(),
            allowed: format!("a section, as in [{name}]"),
        }
    } else {
        ConfigError::UnknownKey { place, key: name.to_owned() }
    }
}

fn place(path: &Path, text: &str, offset: usize) -> SettingPlace {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    SettingPlace::File {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
