//! Reading configuration files.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
    match read_bytes(path) {
        Ok(bytes) if bytes.len() as u64 > LARGEST => {
            Err(ConfigError::TooLarge { path: path.to_owned(), limit: LARGEST })
        }
        Ok(bytes) => decode(path, bytes).map(Some),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

/// The nearest project file from a directory upward, with its text.
pub(super) fn read_project(start: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    for directory in start.ancestors() {
        let path = directory.join(PROJECT_FILE);
        // Commands make these too: a pipe would be waited for.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(ConfigError::NoFile { path });
        }
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

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Also a file in place of the directory means that there is none.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
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
