//! What the user settled for single projects: a file beside their configuration, which no project can set.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_protocol::{ExitCode, Network};
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::settings;

const FILE: &str = "projects.toml";
const HEADER: &str = "# What you allowed for single projects, by folder. `offshoot` writes it when you answer \"always\".\n";

impl Offshoot {
    /// What commands of a project can reach, where the user settled that. A file that cannot be read settles nothing.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let settled = offshoot.remembered_net("/srv/me/project".as_ref());
    /// # Ok(())
    /// # }
    /// ```
    pub fn remembered_net(&self, project: &Path) -> Option<Network> {
        let file = self.file_for(project)?;
        let table: Table = fs::read_to_string(file).ok()?.parse().ok()?;
        table.get(project.to_str()?)?.get("net")?.as_str()?.parse().ok()
    }

    /// Settles what commands of a project can reach. Returns the file that says so.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::Network;
    ///
    /// offshoot.remember_net("/srv/me/project".as_ref(), Network::Host)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remember_net(&self, project: &Path, net: Network) -> Result<PathBuf> {
        let (Some(file), Some(name)) = (self.file_for(project), project.to_str()) else {
            return Err(Error::new(
                ExitCode::Failure,
                "this cannot be remembered: the project has no place outside of itself for it",
            )
            .hint("answer y, or use --net host"));
        };
        let cannot = |error: &dyn std::fmt::Display| {
            Error::new(ExitCode::Failure, format!("cannot write {}: {error}", file.display()))
                .hint("answer y, or use --net host")
        };
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(|error| cannot(&error))?,
        };
        let mut table: Table = text.parse().map_err(|error| cannot(&error))?;
        let entry = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
        match entry.as_table_mut() {
            Some(entry) => drop(entry.insert("net".to_owned(), Value::String(net.to_string()))),
            None => return Err(cannot(&"it is not a table of projects")),
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
