//! Where the rules of this call come from.

use std::path::{Path, PathBuf};

use offshoot_policy::Layer;
use offshoot_protocol::ExitCode;
use offshoot_workspace::{PolicyFile, PolicyFileError, PolicyFiles};

use super::{Context, current_dir};
use crate::config;
use crate::error::CliError;

/// The variable that names another user's file.
const POLICY_VARIABLE: &str = "OFFSHOOT_POLICY";
/// The user's files, beside the configuration.
const USER_FILES: [&str; 2] = ["policy.toml", "policy.rego"];
/// The project's files, in its folder.
const PROJECT_FILES: [&str; 2] = ["offshoot-policy.toml", "offshoot-policy.rego"];

impl Context {
    /// The rules in force: the user's, the project's, and those that were given with the request.
    pub(crate) fn policy(&self, request: &[PathBuf]) -> PolicyFiles {
        let mut files = self.policy_files();
        files.extend(request.iter().map(|path| PolicyFile {
            layer: Layer::Request,
            path: path.clone(),
            required: true,
        }));
        self.policy_of(files)
    }

    /// The files of the user and of the project.
    pub(crate) fn policy_files(&self) -> Vec<PolicyFile> {
        let mut files = user_files();
        files.extend(project_files());
        files
    }

    /// The rules of these files.
    pub(crate) fn policy_of(&self, files: Vec<PolicyFile>) -> PolicyFiles {
        PolicyFiles::new(files, self.settings.config.policy.rego_timeout)
    }
}

/// The files of the user.
fn user_files() -> Vec<PolicyFile> {
    let file = |path: PathBuf, required| PolicyFile { layer: Layer::User, path, required };
    match std::env::var_os(POLICY_VARIABLE).filter(|path| !path.is_empty()) {
        Some(named) if named == "/dev/null" => Vec::new(),
        Some(named) => vec![file(PathBuf::from(named), true)],
        None => user_places().into_iter().map(|path| file(path, false)).collect(),
    }
}

/// The file that a rule of the user belongs in; none where such files are not looked at.
pub(crate) fn user_file() -> Option<PathBuf> {
    let files = user_files().into_iter().map(|file| file.path);
    files.into_iter().find(|path| path.extension().is_some_and(|end| end == "toml"))
}

/// Where the user's files are.
pub(crate) fn user_places() -> Vec<PathBuf> {
    let directory = config::user_directory();
    directory
        .map(|directory| USER_FILES.map(|name| directory.join(name)).to_vec())
        .unwrap_or_default()
}

/// The files of the project: in this folder or in the nearest above it that has one.
fn project_files() -> Vec<PolicyFile> {
    let Ok(here) = current_dir() else { return Vec::new() };
    let has = |folder: &&Path| PROJECT_FILES.iter().any(|name| folder.join(name).exists());
    let Some(folder) = here.ancestors().find(has) else { return Vec::new() };
    PROJECT_FILES
        .iter()
        .map(|name| PolicyFile { layer: Layer::Project, path: folder.join(name), required: false })
        .collect()
}

/// Where the project's file belongs that is not there yet.
pub(crate) fn project_place(folder: &Path) -> PathBuf {
    folder.join(PROJECT_FILES[0])
}

impl From<PolicyFileError> for CliError {
    fn from(error: PolicyFileError) -> Self {
        let hint = match &error {
            PolicyFileError::Read { .. } => "nothing runs by rules that cannot be read",
            PolicyFileError::TooLarge { .. } => "name another file",
            PolicyFileError::Rules(_) => {
                "nothing runs until it is mended; `offshoot policy test` checks it again"
            }
        };
        Self::new(ExitCode::Usage, error.to_string()).hint(hint)
    }
}
