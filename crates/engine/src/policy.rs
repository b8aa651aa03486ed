//! Whether a command may run: the rules, where they are, and what they say.

use std::path::{Path, PathBuf};

pub use offshoot_policy::{Context, FILE_HEADER, Policy, Verdict};
pub use offshoot_protocol::{EffectCategory, PolicyDecision, PolicyLayer};
use offshoot_workspace::{ExecutionWorkspace, seen_variables};
pub use offshoot_workspace::{
    PolicyFile, PolicyFileError, PolicyFiles, Replay, ReplayService, judge, suggestion,
};

use crate::exec::Command;
use crate::offshoot::Offshoot;
use crate::settings;

/// The variable that names another user's file.
const POLICY_VARIABLE: &str = "OFFSHOOT_POLICY";
/// The user's files, beside the configuration.
const USER_FILES: [&str; 2] = ["policy.toml", "policy.rego"];
/// The project's files, in its folder.
const PROJECT_FILES: [&str; 2] = ["offshoot-policy.toml", "offshoot-policy.rego"];

impl Offshoot {
    /// The rules in force for a vault of this folder: the user's, the project's, and those that were given with the request.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, folder) = (project.engine(), project.folder()?);
    /// let rules = engine.policy(folder.as_deref(), &["strict.toml".into()]).current()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(&self, folder: Option<&Path>, request: &[PathBuf]) -> PolicyFiles {
        let mut files = self.policy_files(folder);
        files.extend(request.iter().map(|path| PolicyFile {
            layer: PolicyLayer::Request,
            path: path.clone(),
            required: true,
        }));
        self.policy_of(files)
    }

    /// The variables of a command that policy looks at, for a question about it where nothing is run: the same as for its request.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) {
    /// use offshoot_engine::exec::Command;
    ///
    /// let make = Command::new(["make"]).variable("CC=clang");
    /// let seen = offshoot.seen_variables(make, "/srv/project".as_ref(), &[]);
    /// assert!(seen.contains(&("CC".to_owned(), "clang".to_owned())));
    /// # }
    /// ```
    pub fn seen_variables(
        &self,
        command: Command,
        workspace: &Path,
        folders: &[PathBuf],
    ) -> Vec<(String, String)> {
        let nowhere = ExecutionWorkspace::Fork { from: None, lifetime: None };
        seen_variables(&self.request(command, nowhere, None, None), workspace, folders)
    }

    /// The files of the user, of the project that the current folder is in, and of the one that a vault's folder is in.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for file in project.engine().policy_files(project.folder()?.as_deref()) {
    ///     println!("{}", file.path.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy_files(&self, folder: Option<&Path>) -> Vec<PolicyFile> {
        let mut files = self.user_files();
        files.extend(self.project_files(folder));
        files
    }

    /// The rules of these files.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rules = offshoot.policy_of(offshoot.policy_files(None)).current()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy_of(&self, files: Vec<PolicyFile>) -> PolicyFiles {
        PolicyFiles::new(files, self.config().policy.rego_timeout)
    }

    /// The files of the user.
    fn user_files(&self) -> Vec<PolicyFile> {
        let file = |layer, path: PathBuf, required| PolicyFile { layer, path, required };
        let own = self.user_rule_files().into_iter();
        let own = own.map(|path| file(PolicyLayer::User, path, false));
        let named = self.options().variable(POLICY_VARIABLE);
        let given = named.filter(|named| *named != "/dev/null").map(PathBuf::from);
        match self.actor().agent {
            // An agent does not choose the user's rules: what it names can only forbid more.
            Some(_) => {
                own.chain(given.map(|path| file(PolicyLayer::Request, path, true))).collect()
            }
            None if named.is_none() => own.collect(),
            None => given.map(|path| file(PolicyLayer::User, path, true)).into_iter().collect(),
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
        let files = self.user_files().into_iter().filter(|file| file.layer == PolicyLayer::User);
        let files = files.map(|file| file.path);
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

    /// The files of the project: in the current folder or in the nearest above it that has one, and the same for the folder of the
    /// vault. Whoever names a vault elsewhere gets by no rule of its project.
    fn project_files(&self, folder: Option<&Path>) -> Vec<PolicyFile> {
        let has = |folder: &&Path| {
            PROJECT_FILES.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
        };
        let starts = self.options().directory.as_deref().into_iter().chain(folder);
        let mut found: Vec<&Path> = Vec::new();
        for folder in starts.filter_map(|start| start.ancestors().find(has)) {
            if !found.iter().any(|known| is_same(known, folder)) {
                found.push(folder);
            }
        }
        let files = found.into_iter().flat_map(|folder| PROJECT_FILES.map(|it| folder.join(it)));
        let file = |path| PolicyFile { layer: PolicyLayer::Project, path, required: false };
        files.map(file).collect()
    }
}

/// Whether two paths lead to one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
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
