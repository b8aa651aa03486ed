//! Putting the places together.

use figment::Figment;
use figment::providers::Serialized;
use offshoot_protocol::ProjectRule;
use serde_json::Value as Json;

use super::keys::{KEYS, Key};
use super::layer::Layer;
use super::narrow::{self, IgnoredSetting};
use super::origin::SettingOrigin;
use super::sources::Sources;
use super::{Config, ConfigError, file, layer};

/// Settings, and the places that they come from.
///
/// ```
/// use offshoot_engine::settings::{Sources, load};
///
/// let loaded = load(&Sources::default())?;
/// assert_eq!(loaded.config.diff.context, 3);
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Loaded {
    /// All settings.
    pub config: Config,
    /// The places that set something, the later ones winning.
    layers: Vec<Layer>,
    /// What the project's file asks for and does not get.
    ignored: Vec<IgnoredSetting>,
}

/// One setting.
///
/// ```
/// use offshoot_engine::settings::{Sources, load};
///
/// for setting in load(&Sources::default())?.settings()? {
///     println!("{} = {}", setting.key, setting.value);
/// }
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its key, as in `diff.context`.
    pub key: &'static str,
    /// Its value: sizes as a number of bytes, money as millionths of a dollar, durations as text.
    pub value: Json,
    /// Who set it.
    pub origin: SettingOrigin,
    /// What a project's file may do with it.
    pub project: ProjectRule,
}

/// Reads every place and combines them, the later ones winning.
///
/// ```
/// use offshoot_engine::settings::{Sources, load};
///
/// let wrong = Sources { flags: vec!["exec.timeout=soon".to_owned()], ..Sources::default() };
/// assert!(load(&wrong).is_err());
/// ```
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    load_with(sources, project_layer(sources)?)
}

/// The same without the project's file, which may be wrong.
///
/// ```
/// use offshoot_engine::settings::{Sources, load_without_project};
///
/// let loaded = load_without_project(&Sources::default())?;
/// # Ok::<(), offshoot_engine::settings::ConfigError>(())
/// ```
pub fn load_without_project(sources: &Sources) -> Result<Loaded, ConfigError> {
    load_with(sources, None)
}

/// What the user's own file says, whatever the environment and the command line do.
pub(crate) fn load_own(sources: &Sources) -> Result<Config, ConfigError> {
    let env = Vec::new();
    let own = Sources { user_file: sources.user_file.clone(), env, ..Sources::default() };
    Ok(load_with(&own, None)?.config)
}

fn load_with(sources: &Sources, project: Option<Layer>) -> Result<Loaded, ConfigError> {
    let mut layers = Vec::new();
    layers.extend(user_layer(sources)?);
    let mut ignored = Vec::new();
    if let Some(mut project) = project {
        let reader = combined(&layers);
        ignored = project.narrow(|key| reader.extract_inner(key).map_err(fault))?;
        layers.push(project);
    }
    for (name, value) in &sources.env {
        layers.extend(layer::from_variable(name, value)?);
    }
    layers.push(layer::from_flags(&sources.flags)?);
    layers.retain(|layer| !layer.is_empty());
    let config = match layers.is_empty() {
        // Most commands: nothing to combine.
        true => Config::default(),
        false => combined(&layers).extract().map_err(fault)?,
    };
    Ok(Loaded { config, layers, ignored })
}

impl Loaded {
    /// What the project's file asks for and does not get, since a project may only narrow what its reader has.
    ///
    /// ```
    /// use offshoot_engine::settings::{Sources, load};
    ///
    /// assert!(load(&Sources::default())?.ignored().is_empty());
    /// # Ok::<(), offshoot_engine::settings::ConfigError>(())
    /// ```
    pub fn ignored(&self) -> &[IgnoredSetting] {
        &self.ignored
    }

    /// The settings key by key, in the order in which they are shown, and who set each.
    ///
    /// ```
    /// use offshoot_engine::settings::{Sources, load};
    ///
    /// let all = load(&Sources::default())?.settings()?;
    /// assert!(all.iter().any(|setting| setting.key == "ui.color"));
    /// # Ok::<(), offshoot_engine::settings::ConfigError>(())
    /// ```
    pub fn settings(&self) -> Result<Vec<Setting>, ConfigError> {
        let figment = combined(&self.layers);
        let setting = |key: &Key| {
            let metadata = figment.find_metadata(key.name);
            Ok(Setting {
                key: key.name,
                value: figment.extract_inner(key.name).map_err(fault)?,
                origin: metadata.map_or(SettingOrigin::Default, SettingOrigin::from_metadata),
                project: narrow::rule(key.name).word(),
            })
        };
        KEYS.iter().map(setting).collect()
    }
}

impl Loaded {
    /// Whether a setting was given for this process alone, by a flag or a variable.
    pub(crate) fn is_for_now(&self, key: &str) -> bool {
        self.layers.iter().any(|layer| layer.has_for_now(key))
    }
}

fn project_layer(sources: &Sources) -> Result<Option<Layer>, ConfigError> {
    let Some(start) = &sources.project_start_dir else { return Ok(None) };
    let Some((path, text)) = file::read_project(start)? else { return Ok(None) };
    file::parse(&path, &text, SettingOrigin::ProjectFile(path.clone())).map(Some)
}

fn user_layer(sources: &Sources) -> Result<Option<Layer>, ConfigError> {
    let named = sources.named_user_file();
    let Some(path) = named.as_ref().or(sources.user_file.as_ref()) else {
        return Ok(None);
    };
    match file::read(path)? {
        Some(text) => file::parse(path, &text, SettingOrigin::UserFile(path.clone())).map(Some),
        None if named.is_some() => Err(ConfigError::MissingFile { path: path.clone() }),
        None => Ok(None),
    }
}

fn combined(layers: &[Layer]) -> Figment {
    let defaults = Figment::from(Serialized::defaults(Config::default()));
    layers.iter().fold(defaults, |figment, layer| figment.merge(layer))
}

fn fault(error: figment::Error) -> ConfigError {
    ConfigError::Combine(Box::new(error))
}
