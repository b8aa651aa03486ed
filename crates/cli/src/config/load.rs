//! Putting the places together.

use figment::Figment;
use figment::providers::Serialized;
use serde_json::Value as Json;

use super::keys::KEYS;
use super::origin::Origin;
use super::sources::Sources;
use super::{Config, ConfigError, file, layer};

/// Settings, and where each comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loaded {
    /// All settings.
    pub(crate) config: Config,
    /// The same, key by key, in the order in which they are shown.
    pub(crate) origins: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Its key, as in `diff.context`.
    pub(crate) key: &'static str,
    /// Its value: sizes as a number of bytes, durations as text.
    pub(crate) value: Json,
    /// Who set it.
    pub(crate) origin: Origin,
}

/// Reads every place and combines them, the later ones winning.
pub(crate) fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut figment = Figment::from(Serialized::defaults(Config::default()));
    if let Some(user) = user_layer(sources)? {
        figment = figment.merge(user);
    }
    if let Some(start) = &sources.project_start_dir
        && let Some((path, text)) = file::read_project(start)?
    {
        let origin = Origin::ProjectFile(path.clone());
        figment = figment.merge(file::parse(&path, &text, origin)?);
    }
    for (name, value) in &sources.env {
        if let Some(variable) = layer::from_variable(name, value)? {
            figment = figment.merge(variable);
        }
    }
    figment = figment.merge(layer::from_flags(&sources.flags)?);
    combine(&figment)
}

fn user_layer(sources: &Sources) -> Result<Option<layer::Layer>, ConfigError> {
    let named = sources.named_user_file();
    let Some(path) = named.as_ref().or(sources.user_file.as_ref()) else {
        return Ok(None);
    };
    match file::read(path)? {
        Some(text) => file::parse(path, &text, Origin::UserFile(path.clone())).map(Some),
        None if named.is_some() => Err(ConfigError::MissingFile { path: path.clone() }),
        None => Ok(None),
    }
}

fn combine(figment: &Figment) -> Result<Loaded, ConfigError> {
    let mut origins = Vec::with_capacity(KEYS.len());
    for key in KEYS {
        let origin = figment.find_metadata(key.name).map_or(Origin::Default, Origin::from_metadata);
        origins.push(Setting {
            key: key.name,
            value: figment.extract_inner(key.name).map_err(fault)?,
            origin,
        });
    }
    Ok(Loaded { config: figment.extract().map_err(fault)?, origins })
}

fn fault(error: figment::Error) -> ConfigError {
    ConfigError::Combine(Box::new(error))
}
