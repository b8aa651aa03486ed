//! Whether a command may run: the rules, where they are, and what they say.

use std::path::{Path, PathBuf};

pub use offshoot_policy::{Context, Policy, Verdict};
pub use offshoot_protocol::{EffectCategory, PolicyDecision, PolicyLayer};
pub use offshoot_workspace::{
    PolicyFile, PolicyFileError, PolicyFiles, Replay, ReplayService, judge, suggestion,
};

use crate::offshoot::Offshoot;
use crate::settings;

/// The variable that names another user's file.
const POLICY_VARIABLE: &str = "OFFSHOOT_POLICY";
/// The user's files, beside the configuration.
const USER_FILES: [&str; 2] = ["policy.toml", "policy.rego"];
/// The project's files, in its folder.
const PROJECT_FILES: [&str; 2] = ["offshoot-policy.toml", "offshoot-policy.rego"];

impl Offshoot {
    /// The rules in force: the user's, the project's, and those that were given with the request.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rules = offshoot.policy(&["strict.toml".into()]).current()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(&self, request: &[PathBuf]) -> PolicyFiles {
        let mut files = self.policy_files();
        files.extend(request.iter().map(|path| PolicyFile {
            layer: PolicyLayer::Request,
            path: path.clone(),
            required: true,
        }));
        self.policy_of(files)
    }

    /// The files of the user and of the project.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// for file in offshoot.policy_files() {
    ///     println!("{}", file.path.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy_files(&self) -> Vec<PolicyFile> {
        let mut files = self.user_files();
        files.extend(self.project_files());
        files
    }

    /// The rules of these files.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rules = offshoot.policy_of(offshoot.policy_files()).current()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy_of(&self, files: Vec<PolicyFile>) -> PolicyFiles {
        PolicyFiles::new(files, self.config().policy.rego_timeout)
    }

    /// The files of the user.
    fn user_files(&self) -> Vec<PolicyFile> {
        let file =
            |path: PathBuf, required| PolicyFile { layer: PolicyLayer::User, path, required };
        match self.options().variable(POLICY_VARIABLE) {
            Some(named) if named == "/dev/null" => Vec::new(),
            Some(named) => vec![file(PathBuf::from(named), true)],
            None => self.user_rule_files().into_iter().map(|path| file(path, false)).collect(),
        }
    }

    /// The file that a rule of the user belongs in; none where such files are not looked at.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// if let Some(file) = offshoot.user_rule_file() {
    ///     println!("your rules belong in {}", file.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn user_rule_file(&self) -> Option<PathBuf> {
        let files = self.user_files().into_iter().map(|file| file.path);
        files.into_iter().find(|path| path.extension().is_some_and(|end| end == "toml"))
    }

    /// Where the user's files are.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let written = offshoot.user_rule_files().into_iter().filter(|file| file.exists());
    /// # Ok(())
    /// # }
    /// ```
    pub fn user_rule_files(&self) -> Vec<PathBuf> {
        let directory = settings::user_directory(&self.options().environment);
        directory
            .map(|directory| USER_FILES.map(|name| directory.join(name)).to_vec())
            .unwrap_or_default()
    }

    /// The files of the project: in this folder or in the nearest above it that has one.
    fn project_files(&self) -> Vec<PolicyFile> {
        let Some(here) = &self.options().directory else { return Vec::new() };
        let has = |folder: &&Path| PROJECT_FILES.iter().any(|name| folder.join(name).exists());
        let Some(folder) = here.ancestors().find(has) else { return Vec::new() };
        PROJECT_FILES
            .iter()
            .map(|name| PolicyFile {
                layer: PolicyLayer::Project,
                path: folder.join(name),
                required: false,
            })
            .collect()
    }
}

/// Where the project's file belongs that is not there yet.
///
/// ```
/// use offshoot_engine::policy::project_rule_file;
///
/// let file = project_rule_file("/srv/me/project".as_ref());
/// assert_eq!(file, std::path::Path::new("/srv/me/project/offshoot-policy.toml"));
/// ```
pub fn project_rule_file(folder: &Path) -> PathBuf {
    folder.join(PROJECT_FILES[0])
}
