//! What the user settled for single projects: a file beside their configuration, which no project can set.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_protocol::{ExitCode, Network};
use offshoot_workspace::check_hosts;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::settings::{self, Setting, SettingOrigin};

const FILE: &str = "projects.toml";
/// Its keys.
const NET: &str = "net";
const ALLOW: &str = "allow";
const HEADER: &str = "# What you allowed for single projects, by folder. `offshoot` writes it when you answer \"always\".\n";

/// What the user settled that the commands of a project can reach.
///
/// ```
/// use offshoot_engine::exec::Network;
/// use offshoot_engine::sandbox::RememberedNet;
///
/// let registries = RememberedNet { network: Network::Proxy, allow: "registries".to_owned() };
/// assert_ne!(registries, RememberedNet { network: Network::Host, allow: String::new() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedNet {
    /// How much of the network.
    pub network: Network,
    /// The hosts that they reach by the proxy, with commas between them.
    pub allow: String,
}

impl Offshoot {
    /// What commands of a project can reach, where the user settled that. A file that cannot be read settles nothing.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let settled = offshoot.remembered_net("/srv/me/project".as_ref());
    /// # Ok(())
    /// # }
    /// ```
    pub fn remembered_net(&self, project: &Path) -> Option<RememberedNet> {
        let file = self.file_for(project)?;
        let table: Table = fs::read_to_string(file).ok()?.parse().ok()?;
        let entry = table.get(project.to_str()?)?;
        let network = entry.get(NET)?.as_str()?.parse().ok()?;
        let allow = entry.get(ALLOW).map_or(Some(""), Value::as_str)?.to_owned();
        check_hosts(&allow).is_ok().then_some(RememberedNet { network, allow })
    }

    /// The settings key by key with what the user settled for a project, and who set each.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// for setting in offshoot.settings_in(Some("/srv/me/project".as_ref()))? {
    ///     println!("{}: {}", setting.key, setting.origin);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn settings_in(&self, project: Option<&Path>) -> Result<Vec<Setting>> {
        let mut settings = self.settings().settings()?;
        let found = project
            .and_then(|project| Some((self.remembered_net(project)?, self.file_for(project)?)));
        let Some((remembered, file)) = found else { return Ok(settings) };
        for setting in &mut settings {
            let settled = match setting.key {
                "exec.net" => remembered.network.to_string(),
                "exec.allow" if !remembered.allow.is_empty() => {
                    let set = setting.value.as_str().filter(|set| !set.is_empty());
                    let all: Vec<&str> =
                        set.into_iter().chain([remembered.allow.as_str()]).collect();
                    all.join(",")
                }
                _ => continue,
            };
            setting.value = settled.into();
            setting.origin = SettingOrigin::Remembered(file.clone());
        }
        Ok(settings)
    }

    /// Settles what commands of a project can reach. Returns the file that says so.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::Network;
    /// use offshoot_engine::sandbox::RememberedNet;
    ///
    /// let settled = RememberedNet { network: Network::Proxy, allow: "registries".to_owned() };
    /// offshoot.remember_net("/srv/me/project".as_ref(), &settled)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remember_net(&self, project: &Path, net: &RememberedNet) -> Result<PathBuf> {
        self.change_remembered(project, |entry| {
            entry.insert(NET.to_owned(), Value::String(net.network.to_string()));
            match net.allow.as_str() {
                "" => drop(entry.remove(ALLOW)),
                allow => drop(entry.insert(ALLOW.to_owned(), Value::String(allow.to_owned()))),
            }
        })
    }

    /// Takes back what was settled about what commands of a project can reach. Returns the file that said so; none where
    /// nothing did.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// offshoot.forget_net("/srv/me/project".as_ref())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget_net(&self, project: &Path) -> Result<Option<PathBuf>> {
        if self.remembered_net(project).is_none() {
            return Ok(None);
        }
        let forget = |entry: &mut Table| {
            entry.remove(NET);
            entry.remove(ALLOW);
        };
        self.change_remembered(project, forget).map(Some)
    }

    /// Changes what is settled for a project, and writes the file.
    fn change_remembered(
        &self,
        project: &Path,
        change: impl FnOnce(&mut Table),
    ) -> Result<PathBuf> {
        let (Some(file), Some(name)) = (self.file_for(project), project.to_str()) else {
            return Err(Error::new(
                ExitCode::Failure,
                "this cannot be remembered: the project has no place outside of itself for it",
            )
            .hint("answer y, or use --net"));
        };
        let cannot = |error: &dyn std::fmt::Display| {
            Error::new(ExitCode::Failure, format!("cannot write {}: {error}", file.display()))
                .hint("answer y, or use --net")
        };
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(|error| cannot(&error))?,
        };
        let mut table: Table = text.parse().map_err(|error| cannot(&error))?;
        let entry = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
        let Some(entry) = entry.as_table_mut() else {
            return Err(cannot(&"it is not a table of projects"));
        };
        change(entry);
        if entry.is_empty() {
            table.remove(name);
        }
        let text = format!("{HEADER}{table}");
        let staged = file.with_extension("toml.tmp");
        let parent = file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&staged, text))
            .and_then(|()| fs::rename(&staged, &file))
            .map_err(|error| cannot(&error))?;
        Ok(file)
    }

    /// The file for a project; none where it would lie in the project itself, and so could come from a workspace.
    fn file_for(&self, project: &Path) -> Option<PathBuf> {
        let directory = settings::user_directory(&self.options().environment)?;
        let found = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        (!found.starts_with(project) && !directory.starts_with(project))
            .then(|| directory.join(FILE))
    }
}
