//! What commands may read, reach and use: the profiles, where they are, and what they come to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_host::read_regular;
use offshoot_policy::Policy;
pub use offshoot_protocol::{Demand, FileAccess, Network, Visibility};
pub use offshoot_workspace::{
    CredentialRule, Explanation, Group, HostRule, HostTable, OmittedLines, Profile, ProfileRules,
    Profiles, ProjectNarrowing, Seen, Sight, Source, TlsRules, ValueSource, Viewer, check_hosts,
    groups, named_hosts, needs_network, tried_hosts,
};

use offshoot_workspace::{check_proxied, check_rules};

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
pub use crate::project::remembered::RememberedNet;
use crate::settings;

/// The user's file, beside the configuration.
const USER_FILE: &str = "sandbox.toml";
/// The project's file, in its folder.
const PROJECT_FILE: &str = "offshoot-sandbox.toml";
/// Profiles are written by people; anything larger is a mistake.
const LARGEST: u64 = 1 << 20;

/// What decides about a command: whether it may run, and what it may read, reach and use then.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// use offshoot_engine::sandbox::Rules;
///
/// let Rules { policy, profiles, .. } = offshoot.rules(None, &[])?;
/// println!("{}", profiles.profile(None)?.about);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whether it may run.
    pub policy: Arc<Policy>,
    /// What it may read, reach and use.
    pub profiles: Arc<ProfileRules>,
    /// The files of rules among them that hold for one command alone.
    pub request: Vec<PathBuf>,
}

impl Offshoot {
    /// What decides about commands in a vault of this folder, with rules that were given with a request.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let rules = project.engine().rules(project.folder()?.as_deref(), &[])?;
    /// println!("{}", rules.profiles.profile(None)?.name);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rules(&self, folder: Option<&Path>, request: &[PathBuf]) -> Result<Rules> {
        let policy = self.policy(folder, request).current()?;
        let request = request.to_vec();
        Ok(Rules { policy, profiles: Arc::new(self.profiles(folder)?), request })
    }

    /// The profiles of the user, with what they settled for a vault's folder, and what the projects take away that the current folder and that one are in.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// for profile in offshoot.profiles(None)?.profiles.iter() {
    ///     println!("{}: {}", profile.name, profile.about);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn profiles(&self, folder: Option<&Path>) -> Result<ProfileRules> {
        let user = match self.user_profile_file() {
            Some(path) => read(&path)?.map(|text| (path.display().to_string(), text)),
            None => None,
        };
        let named = user.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let profiles = Profiles::load(named).map_err(unusable)?;
        let file = named.map_or("", |(name, _)| name);
        for profile in profiles.iter().filter(|profile| !profile.allow.is_empty()) {
            check_rules(&profile.allow).map_err(|problem| {
                unusable(format!("{file}: profile {}: {problem}", profile.name))
            })?;
        }
        check_proxied(&profiles).map_err(|problem| unusable(format!("{file}: {problem}")))?;
        let mut narrowed = Vec::new();
        for path in self.project_profile_files(folder) {
            if let Some(text) = read(&path)? {
                let name = path.display().to_string();
                narrowed.push(profiles.project(&name, &text).map_err(unusable)?);
            }
        }
        let exec = &self.config().exec;
        let remembered = folder.and_then(|folder| self.remembered_net(folder));
        let network = remembered.as_ref().map_or(exec.net, |remembered| remembered.network);
        let own = remembered.map(|remembered| remembered.allow).unwrap_or_default();
        let allow = [exec.allow.clone(), own].into_iter().filter(|allow| !allow.is_empty());
        let allow = allow.map(HostRule::Text).collect();
        let presets = self.presets();
        Ok(ProfileRules { profiles, presets, narrowed, network, allow })
    }

    /// The user's own file of profiles; none where the user has no folder for settings.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) {
    /// if let Some(file) = offshoot.user_profile_file() {
    ///     println!("your profiles belong in {}", file.display());
    /// }
    /// # }
    /// ```
    pub fn user_profile_file(&self) -> Option<PathBuf> {
        let directory = settings::user_directory(&self.options().environment);
        directory.map(|directory| directory.join(USER_FILE))
    }

    /// The files of the project that the current folder is in, and of the one that a vault's folder is in.
    fn project_profile_files(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let starts = self.options().directory.as_deref().into_iter().chain(folder);
        let nearest = |start: &Path| {
            let mut files = start.ancestors().map(|above| above.join(PROJECT_FILE));
            files.find(|file| file.symlink_metadata().is_ok())
        };
        let mut found: Vec<PathBuf> = starts.filter_map(nearest).collect();
        found.dedup();
        found
    }

    /// Who looks, as far as that says what commands see.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::sandbox::Sight;
    ///
    /// let rules = offshoot.profiles(None)?;
    /// let sight = Sight::new(&rules.profile(None)?, &offshoot.viewer(), &[]);
    /// let seen = sight.explain("/etc/shadow".as_ref(), None, &[]);
    /// println!("{:?}", seen.visibility);
    /// # Ok(())
    /// # }
    /// ```
    pub fn viewer(&self) -> Viewer {
        let options = self.options();
        Viewer { home: options.user_home(), variables: options.environment.clone() }
    }
}

fn read(path: &Path) -> Result<Option<String>> {
    let shown = path.display();
    match read_regular(path, LARGEST) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(unusable(format!("{shown}: it is not UTF-8"))),
        },
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(unusable(format!("cannot read {shown}: {error}"))),
    }
}

/// Walls that cannot be read let nothing run.
fn unusable(error: impl std::fmt::Display) -> Error {
    Error::usage(error.to_string()).hint("nothing runs until it is mended")
}
