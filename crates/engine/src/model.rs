//! Language models: where the user says which there are. What that means is for who asks them.

use std::path::PathBuf;

use offshoot_host::read_regular;

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::settings;

/// The user's file, beside the configuration.
const USER_FILE: &str = "models.toml";
/// It is written by people; anything larger is a mistake.
const LARGEST: u64 = 1 << 20;

impl Offshoot {
    /// The user's file that names providers, models and keys; none where the user has no folder for settings.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) {
    /// if let Some(file) = offshoot.model_file() {
    ///     println!("your models belong in {}", file.display());
    /// }
    /// # }
    /// ```
    pub fn model_file(&self) -> Option<PathBuf> {
        let directory = settings::user_directory(&self.options().environment);
        directory.map(|directory| directory.join(USER_FILE))
    }

    /// What that file says; nothing where there is none. Files of projects are not looked at.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("{}", offshoot.model_file_text()?.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub fn model_file_text(&self) -> Result<Option<String>> {
        let Some(path) = self.model_file() else { return Ok(None) };
        let unusable =
            |problem: &str| Error::usage(format!("{}: {problem}", crate::text::host_path(&path)));
        match read_regular(&path, LARGEST) {
            Ok(bytes) => {
                String::from_utf8(bytes).map(Some).map_err(|_| unusable("it is not UTF-8"))
            }
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(unusable(&error.to_string())),
        }
    }
}
