//! Changing a configuration file: one key, and nothing else in it.

use std::path::PathBuf;

use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item, Table, Value};

use super::error::{ConfigError, SettingPlace};
use super::file::{self, PROJECT_FILE};
use super::origin::SettingOrigin;
use super::sources::Sources;
use super::value::Written;
use super::{keys, layer, narrow};
use crate::config_file;

/// Whose file is changed.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use offshoot_engine::settings::{Sources, Whose, edit};
///
/// let folder = tempfile::tempdir()?;
/// let sources = Sources { project_start_dir: Some(folder.path().to_owned()), ..Sources::default() };
/// edit(&sources, Whose::Project, "diff.context", Some("5"))?;
/// assert_eq!(std::fs::read_to_string(folder.path().join("offshoot.toml"))?.trim(), "[diff]\ncontext = 5");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The user's, for all projects.
    User,
    /// The project's: the nearest from the current directory upward, or a new one there.
    Project,
}

/// What was changed.
///
/// ```
/// # fn example(sources: &offshoot_engine::settings::Sources) -> offshoot_engine::Result<()> {
/// use offshoot_engine::settings::{Whose, edit};
///
/// let edited = edit(sources, Whose::User, "exec.timeout", None)?;
/// println!("{} is not set in {} any more", edited.key, edited.path.display());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SettingEdit {
    /// The key.
    pub key: &'static str,
    /// Its value in the file now; none where it is not set there any more.
    pub value: Option<Json>,
    /// The file.
    pub path: PathBuf,
    /// Whether the file is other than before.
    pub changed: bool,
}

/// Sets a key in a file, or takes it out. The file is checked whole before it is written; comments and order stay.
///
/// ```
/// # fn example(sources: &offshoot_engine::settings::Sources) -> offshoot_engine::Result<()> {
/// use offshoot_engine::settings::{Whose, edit};
///
/// edit(sources, Whose::User, "exec.timeout", Some("30m"))?;
/// # Ok(())
/// # }
/// ```
pub fn edit(
    sources: &Sources,
    whose: Whose,
    name: &str,
    value: Option<&str>,
) -> Result<SettingEdit, ConfigError> {
    let unknown = || ConfigError::UnknownKey { place: SettingPlace::Command, key: name.to_owned() };
    let key = keys::find(name).ok_or_else(unknown)?;
    let (path, text) = place(sources, whose)?;
    let origin = match whose {
        Whose::User => SettingOrigin::UserFile(path.clone()),
        Whose::Project => SettingOrigin::ProjectFile(path.clone()),
    };
    let checked = match value {
        Some(value) => {
            let written = Written::Text(value.to_owned());
            // Checked by itself first, so that a mistake is one of the command line and not of the file.
            layer::Layer::new(origin.clone()).set(name, &written, SettingPlace::Command)?;
            if whose == Whose::Project && narrow::rule(name) == narrow::Rule::Never {
                let (place, key) = (SettingPlace::Command, name.to_owned());
                return Err(ConfigError::NotForProjects { place, key });
            }
            key.kind.check(&written)
        }
        None => None,
    };
    let syntax = |error: toml_edit::TomlError| ConfigError::Syntax {
        place: SettingPlace::Command,
        message: super::error::printable(error.message()),
    };
    // What is wrong with the file already is said with its line.
    file::parse(&path, &text, origin.clone())?;
    let mut document: DocumentMut = text.parse().map_err(syntax)?;
    match &checked {
        Some(checked) => {
            let toml = key.kind.to_toml(checked);
            put(&mut document, key.name, toml.parse::<Value>().map_err(syntax)?);
        }
        None => take_out(&mut document, key.name),
    }
    let edited = document.to_string();
    file::parse(&path, &edited, origin)?;
    let changed = edited != text;
    if changed {
        config_file::replace(&path, &edited)
            .map_err(|source| ConfigError::Write { path: path.clone(), source })?;
    }
    Ok(SettingEdit { key: key.name, value: checked, path, changed })
}

/// The file and what is in it.
fn place(sources: &Sources, whose: Whose) -> Result<(PathBuf, String), ConfigError> {
    let path = match whose {
        Whose::User => sources.named_user_file().or_else(|| sources.user_file.clone()),
        Whose::Project => {
            let start = sources.project_start_dir.as_deref();
            if let Some(found) = start.map(file::read_project).transpose()?.flatten() {
                return Ok(found);
            }
            start.map(|start| start.join(PROJECT_FILE))
        }
    };
    let path = path.ok_or(ConfigError::NoPlace)?;
    let text = file::read(&path)?.unwrap_or_default();
    Ok((path, text))
}

fn put(document: &mut DocumentMut, key: &str, mut value: Value) {
    let (section, name) = key.split_once('.').unwrap_or(("", key));
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let Some(table) = table.as_table_like_mut() else { return };
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(before) => {
            // A comment behind the value stays there.
            *value.decor_mut() = before.decor().clone();
            *before = value;
        }
        None => {
            table.insert(name, Item::Value(value));
        }
    }
}

fn take_out(document: &mut DocumentMut, key: &str) {
    let (section, name) = key.split_once('.').unwrap_or(("", key));
    if let Some(table) = document.get_mut(section).and_then(Item::as_table_like_mut) {
        table.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn sources(folder: &Path) -> Sources {
        Sources {
            user_file: Some(folder.join("user/config.toml")),
            project_start_dir: Some(folder.to_owned()),
            ..Sources::default()
        }
    }

    #[test]
    fn one_key_changes_and_the_rest_of_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let sources = sources(folder.path());
        let set = |key: &str, value| edit(&sources, Whose::User, key, Some(value));
        let path = set("diff.context", "5").unwrap().path;
        assert_eq!(fs::read_to_string(&path).unwrap(), "[diff]\ncontext = 5\n");
        fs::write(&path, "# mine\n[ui] # look\ncolor = \"never\" # dull\n\n[diff]\ncontext = 5\n")
            .unwrap();
        set("ui.color", "always").unwrap();
        set("exec.max_memory", "2GiB").unwrap();
        edit(&sources, Whose::User, "diff.context", None).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "# mine\n[ui] # look\ncolor = \"always\" # dull\n\n[diff]\n\n[exec]\nmax_memory = \"2GiB\"\n"
        );
        assert!(!edit(&sources, Whose::User, "diff.context", None).unwrap().changed);
    }

    #[test]
    fn nothing_is_written_that_could_not_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let sources = sources(folder.path());
        for (whose, key, value) in [
            (Whose::User, "diff.contxt", "5"),
            (Whose::User, "diff.context", "many"),
            (Whose::Project, "ui.pager", "less"),
        ] {
            edit(&sources, whose, key, Some(value)).unwrap_err();
        }
        assert!(!folder.path().join("user").exists());
        assert!(!folder.path().join(PROJECT_FILE).exists());
        let path = folder.path().join(PROJECT_FILE);
        fs::write(&path, "[diff]\ncontext = \"x\"\n").unwrap();
        let error = edit(&sources, Whose::Project, "ui.hints", Some("false")).unwrap_err();
        assert!(error.to_string().contains("offshoot.toml:2:1"), "{error}");
    }
}
